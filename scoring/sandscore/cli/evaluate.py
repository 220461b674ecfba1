"""``sandscore evaluate``: run, validate and score in one."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandscore import api
from sandscore.cli.options import format_option, task_argument
from sandscore.cli.running_options import annotator_options, following, named_annotator, run_options

if TYPE_CHECKING:
    from sandscore.task_table.task import Task


@click.command("evaluate")
@task_argument
@annotator_options
@click.option("--gold", required=True, metavar="FILE", help="The reference annotations; no annotator ever sees them.")
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path, file_okay=False), help="The folder of results."
)
@click.option("--profile", default="challenge", show_default=True, metavar="X", help="Whose rules; see docs/profiles.")
@click.option("--measure", "measures", multiple=True, metavar="M", help="A measure beside the task's own; repeatable.")
@click.option(
    "--slices",
    multiple=True,
    metavar="SLICES",
    help="Every measure by group: label, mention-length, script, note-type, note-length, site, or a JSON file.",
)
@click.option(
    "--perturb",
    "copies",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="A copy of the notes that perturb wrote; run and scored too, beside the score. Repeatable.",
)
@click.option("--html", "report", metavar="REPORT", help="Write a page that shows where the points were lost.")
@run_options
@format_option
def command(
    task: "Task",
    gold: str,
    output: Path,
    profile: str,
    measures: tuple[str, ...],
    report: str | None,
    output_format: str,
    **options: Any,
) -> int:
    """Run an annotator over notes, validate what it found, score it: predictions, run.json, log.txt and card.json.

    With --challenge it has the same limits as with the organisers. The run is isolated where it is an --image.

    \b
    Example:
      sandscore evaluate date --command "python3 submissions/template/server.py" --notes gold/example/notes.json \\
          --gold gold/example/date.json -o result
    """
    from sandscore.cli.card_text import print_scored
    from sandscore.cli.problem_text import watch
    from sandscore.cli.running_options import passed
    from sandscore.cli.running_options import report as report_run

    slices, copies = options.pop("slices"), options.pop("copies")
    kind, reference = named_annotator(options)
    plan = api.RunPlan(task=task, kind=kind, reference=reference, **options)
    copied = api.notes_copies(plan, gold, copies, options["challenge"])
    done = api.run_to_folder(plan, output, following)
    report_run(done)
    if output_format == "text":
        click.echo("".join(f"{line}\n" for line in passed(done.record)), nl=False)
    if done.exit_code:
        return done.exit_code
    request = api.ScoringPlan(
        task=task,
        gold=gold,
        predictions=str(done.predictions),
        notes=options["notes"],
        image=done.image or (reference if kind == "image" else None),
        run=str(done.record_file),
        profile=profile,
        measures=measures,
        slices=slices,
    )
    files = api.ScoreFiles(card=str(output / "card.json"), report=report, challenge=options["challenge"])
    scored = api.evaluate_to_files(plan, done, request, files, watch(), copied, following)
    if output_format == "text":
        click.echo(f"scored       {output / 'card.json'}\n")
    shown = api.shown_intervals(scored, wanted=None) if output_format == "text" else None
    print_scored(scored, output_format, shown)
    return 0
