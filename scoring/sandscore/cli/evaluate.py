"""``sandscore evaluate``: run, validate and score in one."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandscore.cli.options import format_option, own_task_options, task_argument
from sandscore.cli.running_options import RunOptions, execute, run_options

if TYPE_CHECKING:
    from sandscore.task_table.task import Task


@click.command("evaluate")
@task_argument
@click.option("--image", required=True, help="A Docker image, isolated and limited.")
@click.option("--gold", required=True, metavar="FILE", help="The reference annotations; the container never sees them.")
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path, file_okay=False), help="The folder of results."
)
@run_options
@own_task_options
@format_option
def command(task: "Task", image: str, gold: str, output: Path, output_format: str, **options: Any) -> int:
    """Run an image over notes, validate what it found, score it: predictions, run.json, log.txt and card.json.

    \b
    Example:
      sandscore evaluate date --image sandscore-example/date-good --notes gold/example/notes.json \\
          --gold gold/example/date.json -o result
    """
    from sandscore.cli.run import exit_code, report
    from sandscore.cli.score import command as score
    from sandscore.containers.run_folder import PREDICTIONS, RECORD

    chosen = RunOptions(**options)
    record = execute(task, "image", image, chosen, output)
    report(record)
    if failed := exit_code(record):
        return failed
    pinned = record.image.digest or record.image.id if record.image else image
    files = ["--gold", gold, "--predictions", str(output / PREDICTIONS), "--notes", chosen.notes]
    told = ["--image", pinned, "--run", str(output / RECORD), "-o", str(output / "card.json")]
    scored: int = score.main(
        [task.id, *files, *told, "--format", output_format],
        standalone_mode=False,
        parent=click.get_current_context(),
    )
    return scored
