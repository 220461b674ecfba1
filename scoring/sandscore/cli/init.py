"""``sandscore init``: a participant's starting point."""

from pathlib import Path

import click

from sandscore.base.errors import UsageFault
from sandscore.base.whole_files import told, write_files
from sandscore.task_table.task import find_task


@click.command("init")
@click.argument("task")
@click.argument("folder", type=click.Path(path_type=Path))
def command(task: str, folder: Path) -> None:
    """Make FOLDER with a working annotator for TASK: Dockerfile, annotator, its test and a README.

    \b
    Example:
      sandscore init date my-date-annotator
    """
    from sandscore.containers.participant_template import starting_point

    files = starting_point(find_task(task))
    with told(folder, "{where}: cannot be written ({why})"):
        folder.mkdir(parents=True, exist_ok=True)
        if there := [name for name in files if (folder / name).exists()]:
            raise UsageFault(f"{folder}: {there[0]} is there already; nothing was written")
        write_files(folder, {name: content.encode() for name, content in files.items()})
    click.echo(f"{folder}: {', '.join(sorted(files))}")
    click.echo(f"Next: cd {folder} && python3 -m unittest", err=True)
