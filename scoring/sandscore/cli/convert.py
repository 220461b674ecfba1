"""``sandscore convert``: other people's file formats to ours, ours to theirs, theirs to each other's."""

import itertools
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from sandscore import api
from sandscore.base.terminal_text import hanging, terminal_width
from sandscore.cli.options import FORMAT_NAME, annotator_option, format_option, own_task_options, own_tasks
from sandscore.cli.progress import bar_over


def _list_formats(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    if not asked:
        return
    limit = terminal_width()
    for row in api.FORMATS:
        click.echo(hanging(f"{row.name:18} ", row.description, limit))
        if row.cannot_hold:
            click.echo(hanging(" " * 19, f"cannot hold {', '.join(row.cannot_hold)}", limit))
    context.exit()


@click.command("convert")
@click.argument("words", metavar="[TASK]... [PATH]...", nargs=-1)
@click.option("--from", "source", type=FORMAT_NAME, required=True, help="What the paths hold.")
@click.option("--to", "target", type=FORMAT_NAME, required=True, help="What to make of them.")
@click.option("--annotations", type=Path, multiple=True, help="An annotation file of ours; the same as a PATH.")
@click.option("--notes", type=Path, help="The notes, where the source lacks them; else checked against it.")
@click.option("-o", "--output", type=Path, help="File or directory to make; '-' is standard output.")
@click.option("--type", "types", multiple=True, help="How the task is called in the foreign format; repeatable.")
@click.option("--map", "labels", type=Path, help="JSON object, foreign type to label of ours (null: no label).")
@click.option(
    "--confidence",
    type=click.FloatRange(0, 100),
    default=100,
    show_default=True,
    help="For annotations without one where the task requires it.",
)
@click.option("--drop-mismatches", is_flag=True, help="Drop annotations that do not fit the text, and say so.")
@annotator_option
@click.option("--lossless", is_flag=True, help="Write nothing if anything would be lost.")
@click.option("--force", is_flag=True, help="Replace what is there already.")
@click.option("--formats", is_flag=True, is_eager=True, expose_value=False, callback=_list_formats, help="List them.")
@own_task_options
@format_option
def command(
    words: tuple[str, ...], annotations: tuple[Path, ...], output: Path | None, output_format: str, **options: Any
) -> None:
    """Convert annotated notes between file formats, and name what is lost.

    TASK is one or more tasks. Without it everything goes over: every task that the source has or,
    where its annotations have types instead, every type as task phi. The formats are described in
    docs/formats.md.

    \b
    Example:
      sandscore convert date --from ours --notes gold/example/notes.json --annotations gold/example/date.json --to conll
    """
    from sandscore.task_table.task import TASKS

    own = own_tasks()
    tasks = tuple(itertools.takewhile(lambda word: word in TASKS or word in own, words))
    paths = [*(Path(word) for word in words[len(tasks) :]), *annotations]
    kept = None if output is None or str(output) == "-" else output
    try:
        made = api.convert(paths, tasks=tasks, output=kept or "-", own_tasks=own, following=bar_over, **options)
    except api.LossyConversion as fault:
        _tell(fault.losses)
        raise
    if kept is None and isinstance(made.content, bytes):
        sys.stdout.buffer.write(made.content)
        sys.stdout.flush()
    REPORTS[output_format](made, kept)


def _tell(losses: "Iterable[api.Loss]") -> None:
    for loss in losses:
        click.echo(f"sandscore: {loss.sentence}", err=True)


def _as_text(made: "api.Converted", output: Path | None) -> None:
    _tell(made.losses)
    said = f"{made.notes} notes, {made.annotations} annotations: {made.source} to {made.target}"
    click.echo(f"{said}, {output}" if output else said, err=output is None)


def _as_json(made: "api.Converted", output: Path | None) -> None:
    report = made.to_dict()
    losses = report.pop("losses")
    report |= {"output": str(output) if output else None, "losses": losses}
    click.echo(json.dumps(report, indent=2), err=output is None)


REPORTS = {"text": _as_text, "json": _as_json}
