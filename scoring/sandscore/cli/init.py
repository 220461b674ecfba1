"""``sandscore init``: a participant's starting point."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandscore.base.errors import InfrastructureFault, UsageFault
from sandscore.cli.options import own_task_options, task_argument

if TYPE_CHECKING:
    from sandscore.task_table.task import Task


@click.command("init")
@task_argument
@click.argument("folder", type=click.Path(path_type=Path))
@own_task_options
def command(task: "Task", folder: Path) -> None:
    """Make FOLDER with a working annotator for TASK: Dockerfile, annotator, its test and a README.

    \b
    Example:
      sandscore init date my-date-annotator
    """
    from sandscore.containers.participant_template import starting_point

    files = starting_point(task)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if there := [name for name in files if (folder / name).exists()]:
            raise UsageFault(f"{folder}: {there[0]} is there already; nothing was written")
        for name, content in files.items():
            (folder / name).write_text(content, encoding="utf-8")
    except OSError as fault:
        raise InfrastructureFault(f"{folder}: cannot be written ({fault.strerror})") from None
    click.echo(f"{folder}: {', '.join(sorted(files))}")
    click.echo(f"Next: cd {folder} && python3 -m unittest", err=True)
