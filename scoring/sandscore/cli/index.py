"""``sandscore index``: gold and notes as they are once read, in one file that scoring opens in a moment."""

import json
from pathlib import Path
from typing import Any

import click

from sandscore import api
from sandscore.base.terminal_text import printable
from sandscore.cli.options import TaskName, format_option, own_task_options


@click.command("index")
@click.argument("gold", metavar="GOLD", type=Path)
@click.argument("notes", metavar="NOTES", type=Path)
@click.option("-o", "--output", required=True, metavar="FILE", help="Write the index here, for its owner alone.")
@click.option("--task", type=TaskName(), metavar="TASK", help="The task, where gold does not say it.")
@click.option("--whole-names", is_flag=True, help="Compare whole names of notes, not what follows the last '/'.")
@own_task_options
@format_option
def command(gold: Path, notes: Path, output: str, output_format: str, **options: Any) -> int:
    """Read GOLD and NOTES once, for all the prediction files that are to be scored with them.

    score and validate take the index in place of both (--index FILE) and give the same card. They refuse one that is
    damaged, of other files or made by another release. It holds gold and texts: keep it where they are.
    Exits 78 if gold or notes are not valid.

    \b
    Example:
      sandscore index gold/example/date.json gold/example/notes.json -o date.index
      sandscore score date --index date.index --predictions submissions/date-good/predictions.json
    """
    made = api.make_index(gold, notes, output, **options)
    if output_format == "json":
        click.echo(json.dumps(made.to_dict(), indent=2))
    else:
        held = f"{made.notes:,} notes and {made.annotations:,} annotations of {made.task}"
        click.echo(f"{printable(made.path)}: {held}, {made.bytes:,} bytes; it holds gold and texts")
    return 0
