"""``sandscore convert``: other people's file formats to ours, ours to theirs, theirs to each other's."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.cli.options import format_option
from sandscore.formats import FORMATS
from sandscore.task_table.task import TASKS, Task

if TYPE_CHECKING:
    from sandscore.formats.conversion import Conversion
    from sandscore.formats.corpus import Corpus, Loss


class FormatName(click.Choice[str]):
    """The name of a format of ours, or of an installed package's."""

    def __init__(self) -> None:
        super().__init__(FORMATS.names)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in FORMATS.names:
            return value
        try:
            return FORMATS.find(value).name
        except UsageFault as fault:
            self.fail(str(fault), param, ctx)


_FORMAT = FormatName()


def _list_formats(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    if not asked:
        return
    for row in FORMATS:
        click.echo(f"{row.name:18} {row.description}")
        if row.cannot_hold:
            click.echo(f"{'':18} cannot hold {', '.join(row.cannot_hold)}")
    context.exit()


@click.command("convert")
@click.argument("words", metavar="[TASK]... [PATH]...", nargs=-1)
@click.option("--from", "source", type=_FORMAT, required=True, help="What the paths hold.")
@click.option("--to", "target", type=_FORMAT, required=True, help="What to make of them.")
@click.option("--annotations", type=Path, multiple=True, help="An annotation file of ours; the same as a PATH.")
@click.option("--notes", type=Path, help="The notes, where the source lacks them; else checked against it.")
@click.option("-o", "--output", type=Path, help="File or directory to make; '-' is standard output.")
@click.option("--type", "types", multiple=True, help="How the task is called in the foreign format; repeatable.")
@click.option("--map", "map_file", type=Path, help="JSON object, foreign type to label of ours (null: no label).")
@click.option(
    "--confidence",
    type=click.FloatRange(0, 100),
    default=100,
    show_default=True,
    help="For annotations without one where the task requires it.",
)
@click.option("--drop-mismatches", is_flag=True, help="Drop annotations that do not fit the text, and say so.")
@click.option("--lossless", is_flag=True, help="Write nothing if anything would be lost.")
@click.option("--force", is_flag=True, help="Replace what is there already.")
@click.option("--formats", is_flag=True, is_eager=True, expose_value=False, callback=_list_formats, help="List them.")
@format_option
def command(words: tuple[str, ...], output: Path | None, output_format: str, **options: Any) -> None:
    """Convert annotated notes between file formats, and name what is lost.

    TASK is one or more of our tasks. Without it everything goes over: every task that the source has or,
    where its annotations have types instead, every type as task phi. The formats are described in
    docs/formats.md.

    \b
    Example:
      sandscore convert date --from ours --notes gold/example/notes.json --annotations gold/example/date.json --to conll
    """
    from sandscore.formats.conversion import convert
    from sandscore.formats.corpus import LossJournal
    from sandscore.formats.format_files import save

    journal = LossJournal(watch=_bar, lenient=options["drop_mismatches"])
    wanted = _wanted(words, options)
    if wanted.target.directory and _is_stdout(output):
        raise UsageFault(f"{wanted.target.name} is a directory: name it with -o")
    corpus, made = convert(wanted, journal)
    if options["lossless"] and journal.losses:
        _tell(journal.losses)
        raise ParticipantFault("nothing was written, as the above would be lost")
    kept = None if output is None or _is_stdout(output) else output
    if kept:
        save(made, kept, force=options["force"])
    elif isinstance(made, bytes):
        sys.stdout.buffer.write(made)
        sys.stdout.flush()
    REPORTS[output_format](wanted, corpus, journal.losses, kept)


def _is_stdout(output: Path | None) -> bool:
    return output is None or str(output) == "-"


def _wanted(words: tuple[str, ...], options: dict[str, Any]) -> "Conversion":
    from sandscore.formats.conversion import Conversion
    from sandscore.formats.sandscore_json import read_notes

    tasks: list[Task] = []
    for word in words:
        if word not in TASKS:
            break
        tasks.append(TASKS[word])
    paths = [*(Path(word) for word in words[len(tasks) :]), *options["annotations"]]
    if not paths:
        raise UsageFault(f"nothing to read: name the {options['source']} files")
    if len(set(tasks)) < len(tasks):
        raise UsageFault("a task is named twice")
    return Conversion(
        FORMATS.find(options["source"]),
        FORMATS.find(options["target"]),
        tuple(paths),
        tuple(tasks),
        read_notes(options["notes"]) if options["notes"] else None,
        options["types"],
        _map(options["map_file"]),
        options["confidence"],
    )


def _map(path: Path | None) -> dict[str, str | None] | None:
    if path is None:
        return None
    from sandscore.formats.format_files import read_json

    held = read_json(path)
    if not isinstance(held, dict) or not all(isinstance(label, str | None) for label in held.values()):
        raise ParticipantFault(f"{path}: expected an object of foreign types, each with a label or null")
    return held


def _bar(items: Iterable[Any], total: int, what: str) -> Iterable[Any]:
    from tqdm import tqdm

    bar: Iterable[Any] = tqdm(items, total=total, desc=what, delay=2, disable=None, leave=False, file=sys.stderr)
    return bar


def _tell(losses: "Iterable[Loss]") -> None:
    from sandscore.formats.corpus import shown

    for loss in losses:
        first = "" if loss.example is None else f", first in note {shown(loss.example)}"
        click.echo(f"sandscore: not carried over ({loss.format}): {loss.what}: {loss.count}{first}", err=True)


def _as_text(wanted: "Conversion", corpus: "Corpus", losses: "tuple[Loss, ...]", output: Path | None) -> None:
    _tell(losses)
    said = f"{len(corpus.entries)} notes, {corpus.marks} annotations: {wanted.source.name} to {wanted.target.name}"
    click.echo(f"{said}, {output}" if output else said, err=output is None)


def _as_json(wanted: "Conversion", corpus: "Corpus", losses: "tuple[Loss, ...]", output: Path | None) -> None:
    from msgspec.structs import asdict

    report = {
        "from": wanted.source.name,
        "to": wanted.target.name,
        "tasks": list(corpus.tasks),
        "notes": len(corpus.entries),
        "annotations": corpus.marks,
        "output": str(output) if output else None,
        "losses": [asdict(loss) for loss in losses],
    }
    click.echo(json.dumps(report, indent=2), err=output is None)


REPORTS = {"text": _as_text, "json": _as_json}
