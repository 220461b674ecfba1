"""``sandscore score``: predictions against gold, to a score card."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandscore.base.errors import UsageFault
from sandscore.cli.options import challenge_option, format_option, task_argument, task_file_option
from sandscore.cli.problem_text import printable

if TYPE_CHECKING:
    from sandscore.annotations.input_files import Loaded
    from sandscore.records.scorecard import Scorecard
    from sandscore.scoring.card_building import Identity
    from sandscore.task_table.task import Task


@click.command("score")
@task_argument
@click.option("--gold", required=True, metavar="FILE", help="The reference annotations.")
@click.option("--predictions", required=True, metavar="FILE", help="What is scored; - reads standard input.")
@click.option("--notes", metavar="FILE", help="The notes; they define the data set and prove every text.")
@click.option("--complete", is_flag=True, help="A note without an entry is an error, not a warning.")
@click.option(
    "--jobs",
    default=1,
    show_default=True,
    metavar="N",
    type=click.IntRange(1, 64),
    help="Processes to use; the card stays the same.",
)
@click.option("--profile", default="challenge", show_default=True, metavar="X", help="Whose rules; see docs/profiles.")
@click.option("--measure", "measures", multiple=True, metavar="M", help="A measure beside the task's own; repeatable.")
@click.option("--hipaa-map", metavar="FILE", help="Which labels HIPAA protects, in place of the bundled map.")
@click.option("--team", metavar="NAME", help="Copied to the card.")
@click.option("--submission", metavar="ID", help="Copied to the card.")
@click.option("--image", metavar="DIGEST", help="Copied to the card.")
@click.option("--dataset", metavar="NAME", help="Copied to the card.")
@click.option("--run", "run_record", metavar="RUN", help="A run's folder or run.json, copied to the card.")
@click.option("--created", metavar="TIME", help="Copied to the card; no clock is ever read.")
@click.option("--publish", is_flag=True, help="Hide note and patient ids; the salt is read from SANDSCORE_SALT.")
@click.option(
    "--errors", metavar="DIR", help="Write false positives, misses and a confusion matrix here; they quote gold."
)
@click.option("--entity-map", metavar="FILE", help="JSON, foreign type to label of the task, for the error files.")
@click.option("--html", "report", metavar="REPORT", help="Write a page that shows where the points were lost.")
@challenge_option(
    "challenge.toml: its own tasks, and whether its licence lets the report show notes (publication.text).", kept=True
)
@task_file_option
@click.option("-o", "--output", metavar="CARD", help="Write the score card here.")
@format_option
def command(**options: Any) -> int:
    """Validate PREDICTIONS, compare them with GOLD and print a score card.

    Exits 65 if the predictions are not valid, 78 if gold or notes are not.

    \b
    Example:
      sandscore score address --notes gold/example/notes.json \\
          --gold gold/example/address.json --predictions submissions/address-good/predictions.json
    """
    return run(ScoreOptions(**options))


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """The command line, parsed."""

    task: "Task"
    gold: str
    predictions: str
    notes: str | None
    complete: bool
    jobs: int
    profile: str
    measures: tuple[str, ...]
    hipaa_map: str | None
    team: str | None
    submission: str | None
    image: str | None
    dataset: str | None
    run_record: str | None
    created: str | None
    publish: bool
    errors: str | None
    entity_map: str | None
    report: str | None
    challenge: str | None
    output: str | None
    output_format: str


def run(options: ScoreOptions) -> int:
    """Load, refuse what is not valid, score, write and print."""
    from sandscore.annotations.input_files import Inputs
    from sandscore.cli.card_text import FORMATS
    from sandscore.cli.error_files_option import error_files
    from sandscore.cli.scoring_flow import scored_by
    from sandscore.measures.hipaa_map import load_hipaa_map
    from sandscore.measures.measure_registry import measures_for
    from sandscore.profiles.profile_registry import find_profile
    from sandscore.scoring.card_building import Question, pieces, published

    task, profile = options.task, find_profile(options.profile)
    measures_for(task, options.measures)
    if profile is not None and options.measures:
        raise UsageFault("--measure goes with our own profile; another scorer has its own measures")
    if options.publish and options.errors:
        raise UsageFault("--errors writes what gold holds, --publish hides it; score twice")
    salt = _salt() if options.publish else None
    hipaa = load_hipaa_map(options.hipaa_map) if task.hipaa or options.hipaa_map else None
    wanted = error_files(options.errors, options.entity_map, task, profile, options.created)
    question = Question(task, options.measures, hipaa, _identity(options))
    inputs = Inputs(options.gold, options.predictions, options.notes)
    scored = scored_by(question, profile, inputs, wanted, complete=options.complete, jobs=options.jobs)
    card = scored.card
    for warning in card.warnings:
        click.echo(f"warning: {printable(warning)}", err=True)
    if salt is not None:
        card = published(card, salt)
    if options.output:
        write(options.output, pieces(card))
    if options.report:
        _report(options, card, scored.loaded)
    as_original = profile is not None and options.output_format == "text"
    for piece in [f"{scored.table}\n"] if as_original else FORMATS[options.output_format](card):
        click.echo(piece, nl=False)
    return 0


def _report(options: ScoreOptions, card: "Scorecard", loaded: "Loaded") -> None:
    """Notes are shown only where the challenge's licence says so, and never beside hidden ids."""
    from sandscore.measures.note_documents import documents_of
    from sandscore.ranking.challenge_reading import read_challenge
    from sandscore.site.submission_report import write_report

    allowed = bool(options.challenge) and read_challenge(Path(str(options.challenge))).publication.text
    own = options.profile == "challenge" and not options.publish
    write_report(card, documents_of(loaded) if own else None, Path(str(options.report)), allow_text=allowed)


def _identity(options: ScoreOptions) -> "Identity":
    from sandscore.scoring.card_building import Identity

    run = _run(options.run_record) if options.run_record is not None else None
    return Identity(options.team, options.submission, options.image, options.dataset, options.created, run)


def _run(path: str) -> dict[str, Any]:
    from sandscore.cli.run_record import read_run

    return read_run(path)


def write(path: str, pieces: Iterable[bytes]) -> None:
    """Write a whole file or none."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.writelines(pieces)
        part.replace(target)
    except OSError as fault:
        part.unlink(missing_ok=True)
        raise UsageFault(f"cannot write {path}: {fault.strerror}") from None


def _salt() -> bytes:
    salt = os.environ.get("SANDSCORE_SALT", "")
    if not salt:
        raise UsageFault("--publish needs the challenge's secret salt in the environment variable SANDSCORE_SALT")
    return salt.encode()
