"""``sandscore init``: a participant's starting point."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandscore import api
from sandscore.cli.options import NearChoice, own_task_options, task_argument

if TYPE_CHECKING:
    from sandscore.task_table.task import Task


@click.command("init")
@task_argument
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--template",
    type=NearChoice(["plain", "spacy", "huggingface", "presidio", "node"]),
    default="plain",
    show_default=True,
    help="What it is made with; models and packages are brought into the image.",
)
@own_task_options
def command(task: "Task", folder: Path, template: str) -> None:
    """Make FOLDER with a working annotator for TASK: Dockerfile, annotator, its test and a README.

    \b
    Example:
      sandscore init date my-date-annotator
    """
    files = api.write_starting_point(task, folder, template)
    click.echo(f"{folder}: {', '.join(files)}")
    following = "python3 -m unittest" if template == "plain" else "less README.md"
    click.echo(f"Next: cd {folder} && {following}", err=True)
