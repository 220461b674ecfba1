"""``sandscore evaluate``: run, validate and score in one."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandscore import api
from sandscore.cli.options import format_option, task_argument
from sandscore.cli.running_options import following, run_options

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
@format_option
def command(task: "Task", image: str, gold: str, output: Path, output_format: str, **options: Any) -> int:
    """Run an image over notes, validate what it found, score it: predictions, run.json, log.txt and card.json.

    \b
    Example:
      sandscore evaluate date --image sandscore-example/date-good --notes gold/example/notes.json \\
          --gold gold/example/date.json -o result
    """
    from sandscore.cli.card_text import print_scored
    from sandscore.cli.problem_text import watch
    from sandscore.cli.running_options import report

    done = api.run_to_folder(api.RunPlan(task=task, kind="image", reference=image, **options), output, following)
    report(done.record)
    if done.exit_code:
        return done.exit_code
    request = api.ScoringPlan(
        task=task,
        gold=gold,
        predictions=str(done.predictions),
        notes=options["notes"],
        image=done.image or image,
        run=str(done.record_file),
    )
    print_scored(api.score_to_files(request, api.ScoreFiles(card=str(output / "card.json")), watch()), output_format)
    return 0
