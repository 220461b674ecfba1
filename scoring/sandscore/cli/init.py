"""``sandscore init``: a participant's starting point."""

from pathlib import Path

import click

from sandscore import api


@click.command("init")
@click.argument("task")
@click.argument("folder", type=click.Path(path_type=Path))
def command(task: str, folder: Path) -> None:
    """Make FOLDER with a working annotator for TASK: Dockerfile, annotator, its test and a README.

    \b
    Example:
      sandscore init date my-date-annotator
    """
    files = api.write_starting_point(task, folder)
    click.echo(f"{folder}: {', '.join(files)}")
    click.echo(f"Next: cd {folder} && python3 -m unittest", err=True)
