"""``sandscore attack``: the hostile set against the organiser's own configuration."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandscore import api
from sandscore.base.errors import OrganiserFault
from sandscore.base.terminal_text import hanging, terminal_width
from sandscore.cli.options import format_option
from sandscore.cli.running_options import engine_option, memory_option

if TYPE_CHECKING:
    from sandscore.records.run_record import Hardening


@click.command("attack")
@click.option(
    "--challenge", type=click.Path(path_type=Path), metavar="TOML", help="The limits of this challenge's configuration."
)
@click.option("--hardening", type=click.Choice(["strict", "compat"]), help="strict where nothing else is said.")
@memory_option
@engine_option
@click.option("--only", multiple=True, metavar="CASE", help="Only this case; repeatable.")
@format_option
def command(
    challenge: Path | None,
    hardening: "Hardening | None",
    memory: int | None,
    engine: str | None,
    only: tuple[str, ...],
    output_format: str,
) -> int:
    """Fire hostile submissions at an engine of this machine, under the limits that runs have here.

    Each is built from a static busybox, run as any submission is, and passes if it was contained, if its outcome
    was called by its name, and if nothing of it stayed behind. Attacks that only wait are waited for
    less. Some things only root sees, on the engine's own host. Takes about a minute.

    \b
    Example:
      sandscore attack --challenge gold/example/challenge.toml --only fork-bomb --only gold-hunt
    """
    report = _row if output_format == "text" else _silent
    verdicts = api.attack(challenge, hardening, memory, only, report, engine)
    failed = [verdict for verdict in verdicts if not verdict.passed]
    if output_format == "json":
        click.echo(json.dumps([_as_dict(verdict) for verdict in verdicts], indent=2))
    else:
        click.echo(f"{len(verdicts) - len(failed)} of {len(verdicts)} contained")
    return OrganiserFault.exit_code if failed else 0


def _row(verdict: "api.AttackVerdict") -> None:
    mark = "pass" if verdict.passed else "FAIL"
    limit = terminal_width()
    click.echo(hanging(f"{mark}  {verdict.case.name:18} {verdict.outcome:15} ", verdict.case.tries, limit))
    for complaint in verdict.complaints:
        click.echo(hanging(" " * 6, complaint, limit))


def _silent(_verdict: "api.AttackVerdict") -> None:
    """JSON comes in one piece."""


def _as_dict(verdict: "api.AttackVerdict") -> dict[str, object]:
    return {
        "case": verdict.case.name,
        "tries": verdict.case.tries,
        "expected": [str(outcome) for outcome in verdict.case.expected],
        "outcome": str(verdict.outcome),
        "passed": verdict.passed,
        "reason": verdict.reason,
        "complaints": list(verdict.complaints),
        "seconds": round(verdict.seconds, 2),
    }
