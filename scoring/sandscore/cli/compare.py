"""``sandscore compare``: an old and a new answer on the same notes, and whether the new one is worse."""

import json
from pathlib import Path
from typing import Any

import click

from sandscore import api
from sandscore.base.terminal_text import printable
from sandscore.cli.options import TaskName, challenge_option, foreign_options, format_option, task_file_option

NAMED = 10
WORSE = 1
"""The exit code of ``--fail-if-worse``, and of nothing else."""


@click.command("compare")
@click.argument("a", metavar="A", type=Path)
@click.argument("b", metavar="B", type=Path)
@click.option("--gold", metavar="FILE", help="The reference annotations, where A and B are predictions.")
@click.option("--notes", metavar="FILE", help="The notes; they define the data set and prove every text.")
@click.option("--task", type=TaskName(), metavar="TASK", help="The task, where gold does not say it.")
@click.option("--measure", metavar="M", help="By which measure; instance_strict where none is named.")
@foreign_options
@click.option("--fail-if-worse", is_flag=True, help="Exit 1 where B is worse than A, with p <= .05.")
@click.option("--any", "at_all", is_flag=True, help="With --fail-if-worse: where B is worse at all.")
@click.option("--html", metavar="REPORT", help="Write a page with both sides' annotations, note by note.")
@challenge_option("challenge.toml: its own tasks, and whether the page may show notes (publication.text).", kept=True)
@task_file_option
@format_option
def command(a: Path, b: Path, measure: str | None, fail_if_worse: bool, at_all: bool, **options: Any) -> int:
    """How much better or worse B, the new one, is than A: predictions or score cards on the same notes.

    Prints the difference with its 95 % interval and p over the same patients, and the labels and notes behind it.
    Exits 0, or with --fail-if-worse 1 where B is worse.

    \b
    Example:
      sandscore compare leaderboard/cards/date-weak.json leaderboard/cards/date-good.json --fail-if-worse
      sandscore compare submissions/date-weak/predictions.json submissions/date-good/predictions.json \\
          --gold gold/example/date.json --notes gold/example/notes.json
    """
    from sandscore.cli.problem_text import watch

    if at_all and not fail_if_worse:
        raise click.UsageError("--any goes with --fail-if-worse")
    output_format = options.pop("output_format")
    found = api.compare_files(a, b, measure, api.ComparisonInputs(**options), watch())
    FORMATS[output_format](found)
    if fail_if_worse and found.difference is None:
        click.echo("sandscore: nothing was decided: one of the two has nothing to divide by", err=True)
    return WORSE if fail_if_worse and found.b_is_worse(for_sure=not at_all) else 0


def _as_text(found: "api.Comparison") -> None:
    click.echo(repr(found))
    for word in ("worse", "better"):
        which = "a" if word == "worse" else "b"
        notes = [note.note for note in found.notes if note.better == which]
        if notes:
            more = f", … and {len(notes) - NAMED:,} more" if len(notes) > NAMED else ""
            click.echo(f"b is {word} on {', '.join(printable(note) for note in notes[:NAMED])}{more}")


def _as_json(found: "api.Comparison") -> None:
    click.echo(json.dumps(found.to_dict(), indent=2))


FORMATS = {"text": _as_text, "json": _as_json}
