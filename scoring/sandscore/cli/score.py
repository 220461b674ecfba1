"""``sandscore score``: predictions against gold, to a score card."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from sandscore.cli.options import format_option
from sandscore.cli.progress import bytes_read
from sandscore.cli.reports import complain
from sandscore.reading.files import Inputs, Loaded, load_files
from sandscore.records.errors import OrganiserFault, ParticipantFault, UsageFault
from sandscore.tasks import find_task


@click.command("score")
@click.argument("task")
@click.option("--gold", required=True, metavar="FILE", help="The reference annotations.")
@click.option("--predictions", required=True, metavar="FILE", help="What is scored; - reads standard input.")
@click.option("--notes", metavar="FILE", help="The notes; they define the data set and prove every text.")
@click.option("--complete", is_flag=True, help="A note without an entry is an error, not a warning.")
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
    from sandscore.measuring.cards import Identity, Question, dumped, published, score
    from sandscore.measuring.hipaa import load_hipaa_map
    from sandscore.measuring.measures import measures_for

    task = find_task(options.task)
    measures_for(task, options.measures)
    salt = _salt() if options.publish else None
    hipaa = load_hipaa_map(options.hipaa_map) if task.hipaa or options.hipaa_map else None
    inputs = Inputs(options.gold, options.predictions, options.notes)
    with bytes_read(inputs.given.values()) as progress:
        loaded = load_files(task, inputs, complete=options.complete, progress=progress)
    refuse_faulty(loaded)
    identity = Identity(options.team, options.submission, options.image, options.dataset, options.created)
    card = score(Question(task, options.measures, hipaa, identity), loaded)
    if salt is not None:
        card = published(card, salt)
    written = dumped(card)
    if options.output:
        write(options.output, written)
    click.echo(FORMATS[options.output_format](card, written))
    return 0


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
