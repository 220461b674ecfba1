"""``sandscore perturb``: a paired copy of notes and gold under other names, spellings and layouts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from sandscore import api
from sandscore.base.terminal_text import one_line
from sandscore.cli.options import NearChoice, format_option, own_task_options, own_tasks

PERTURBATIONS = (
    ("swap", "names:NAMESET", "People's names become those of a set, role for role; a person keeps one."),
    ("shift-days", "", "Dates move by 1 to 52 whole weeks, as many for all notes of a patient."),
    ("dates", "us|iso|long", "Dates are written 03/14/2021, 2021-03-14, or March 14, 2021."),
    ("headings", "", "Headings of sections become others that mean the same."),
    ("typos", "RATE", "This share of the letters is mistyped, as 0.02."),
    ("ocr", "", "2 % of what scanners confuse is confused."),
    ("homoglyphs", "", "10 % of the letters that look alike in Cyrillic are Cyrillic."),
    ("whitespace", "", "10 % of blanks and line ends become others."),
    ("case", "upper|lower", "Everything in capitals, or in small letters."),
)
"""Names, what they take and help: the rows of the table, so that help imports none of them."""
_Command = TypeVar("_Command", bound=Callable[..., Any])


def _perturbation_options(command: _Command) -> _Command:
    """One for each; what takes no value is a switch."""
    for name, metavar, told in reversed(PERTURBATIONS):
        place = name.replace("-", "_")
        if metavar:
            choices = NearChoice(metavar.split("|")) if "|" in metavar else None
            command = click.option(f"--{name}", place, metavar=metavar, type=choices, help=told)(command)
        else:
            command = click.option(f"--{name}", place, is_flag=True, help=told)(command)
    return command


@click.command("perturb")
@click.argument("notes", metavar="NOTES", type=Path)
@click.argument("gold", metavar="GOLD", type=Path)
@_perturbation_options
@click.option("--other", metavar="NAME[=VALUE]", multiple=True, help="A perturbation of an installed package.")
@click.option("-o", "--output", required=True, type=Path, metavar="DIR", help="The folder to make; new or empty.")
@click.option("--seed", default=0, show_default=True, type=int, metavar="N", help="What chance follows from.")
@own_task_options
@format_option
def command(
    notes: Path,
    gold: Path,
    other: tuple[str, ...],
    output: Path,
    seed: int,
    output_format: str,
    **asked: str | bool | None,
) -> None:
    """Write a copy of NOTES and of the folder GOLD in which every gold text still stands where it is said.

    What is proven before anything is written: every annotation fits the new text, ids and order stay, and what a
    perturbation leaves alone is as it was. changes.json says what changed. Names of sets: docs/perturbation.md.

    \b
    Example:
      sandscore perturb gold/example/notes.json gold/example --swap names:nigeria --headings --seed 1 -o copy
    """
    given = {name.replace("_", "-"): value for name, value in asked.items() if value not in (None, False)}
    chosen = {name: "" if value is True else str(value) for name, value in given.items()}
    chosen |= {name: value for name, _, value in (one.partition("=") for one in other)}
    made = api.perturb(str(notes), gold, chosen, output=output, seed=seed, own_tasks=own_tasks())
    if output_format == "json":
        counts = {name: getattr(made, name) for name in ("notes", "annotations", "changed", "left_out")}
        click.echo(json.dumps({"output": str(output), **counts}, indent=2))
    else:
        click.echo(f"{made.sentence}: {one_line(output)}")
