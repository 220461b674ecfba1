"""``sandscore score``: predictions against gold, to a score card."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandscore.cli.options import format_option
from sandscore.cli.progress import bytes_read
from sandscore.cli.reports import complain, printable
from sandscore.reading.files import Inputs, Loaded, load_files
from sandscore.records.errors import OrganiserFault, ParticipantFault, UsageFault
from sandscore.tasks import find_task

if TYPE_CHECKING:
    from sandscore.measuring.cards import Identity, Question
    from sandscore.measuring.profiles.table import Profile
    from sandscore.records.scorecard import Scorecard


@click.command("score")
@click.argument("task")
@click.option("--gold", required=True, metavar="FILE", help="The reference annotations.")
@click.option("--predictions", required=True, metavar="FILE", help="What is scored; - reads standard input.")
@click.option("--notes", metavar="FILE", help="The notes; they define the data set and prove every text.")
@click.option("--complete", is_flag=True, help="A note without an entry is an error, not a warning.")
@click.option("--profile", default="challenge", show_default=True, metavar="X", help="Whose rules; see docs/profiles.")
@click.option("--measure", "measures", multiple=True, metavar="M", help="A measure beside the task's own; repeatable.")
@click.option("--hipaa-map", metavar="FILE", help="Which labels HIPAA protects, in place of the bundled map.")
@click.option("--team", metavar="NAME", help="Copied to the card.")
@click.option("--submission", metavar="ID", help="Copied to the card.")
@click.option("--image", metavar="DIGEST", help="Copied to the card.")
@click.option("--dataset", metavar="NAME", help="Copied to the card.")
@click.option("--created", metavar="TIME", help="Copied to the card; no clock is ever read.")
@click.option("--publish", is_flag=True, help="Hide note and patient ids; the salt is read from SANDSCORE_SALT.")
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
    return run(Options(**options))


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, parsed."""

    task: str
    gold: str
    predictions: str
    notes: str | None
    complete: bool
    profile: str
    measures: tuple[str, ...]
    hipaa_map: str | None
    team: str | None
    submission: str | None
    image: str | None
    dataset: str | None
    created: str | None
    publish: bool
    output: str | None
    output_format: str


def run(options: Options) -> int:
    """Load, refuse what is not valid, score, write and print."""
    from sandscore.cli.cardtext import FORMATS
    from sandscore.measuring.cards import Question, dumped, published
    from sandscore.measuring.hipaa import load_hipaa_map
    from sandscore.measuring.measures import measures_for
    from sandscore.measuring.profiles.table import find_profile

    task, profile = find_task(options.task), find_profile(options.profile)
    measures_for(task, options.measures)
    if profile is not None and options.measures:
        raise UsageFault("--measure goes with our own profile; another scorer has its own measures")
    salt = _salt() if options.publish else None
    hipaa = load_hipaa_map(options.hipaa_map) if task.hipaa or options.hipaa_map else None
    inputs = Inputs(options.gold, options.predictions, options.notes)
    with bytes_read(inputs.given.values()) as progress:
        loaded = load_files(task, inputs, complete=options.complete, progress=progress)
    question = Question(task, options.measures, hipaa, _identity(options))
    table = ""
    if profile is None:
        card = _challenge(question, loaded)
    else:
        card, table = _as_the_original(profile, question, inputs, loaded)
    for warning in card.warnings:
        click.echo(f"warning: {printable(warning)}", err=True)
    if salt is not None:
        card = published(card, salt)
    written = dumped(card)
    if options.output:
        write(options.output, written)
    as_original = profile is not None and options.output_format == "text"
    click.echo(table if as_original else FORMATS[options.output_format](card, written))
    return 0


def _challenge(question: "Question", loaded: Loaded) -> "Scorecard":
    from sandscore.measuring.cards import score

    refuse_faulty(loaded)
    return score(question, loaded)


def _as_the_original(
    profile: "Profile", question: "Question", inputs: Inputs, loaded: Loaded
) -> "tuple[Scorecard, str]":
    """The original goes on where we would stop, so what we found is only said; what it prints is printed."""
    from sandscore.measuring.profiles.cards import score_as

    complain(loaded.findings.values())
    if loaded.faulty("notes"):
        raise OrganiserFault("the notes are not valid; nothing was scored")
    card, result = score_as(profile, question, inputs, loaded)
    return card, result.table.rstrip("\n")


def _identity(options: Options) -> "Identity":
    from sandscore.measuring.cards import Identity

    return Identity(options.team, options.submission, options.image, options.dataset, options.created)


def refuse_faulty(loaded: Loaded) -> None:
    """Faults of the organiser come before those of the participant."""
    complain(loaded.findings.values())
    if loaded.faulty("gold", "notes"):
        raise OrganiserFault("gold or notes are not valid; nothing was scored")
    if loaded.faulty("predictions"):
        raise ParticipantFault("the predictions are not valid; nothing was scored")


def write(path: str, data: bytes) -> None:
    """Write a whole file or none."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(target)
    except OSError as fault:
        part.unlink(missing_ok=True)
        raise UsageFault(f"cannot write {path}: {fault.strerror}") from None


def _salt() -> bytes:
    salt = os.environ.get("SANDSCORE_SALT", "")
    if not salt:
        raise UsageFault("--publish needs the challenge's secret salt in the environment variable SANDSCORE_SALT")
    return salt.encode()
