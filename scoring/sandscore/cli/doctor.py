"""``sandscore doctor``: is this machine fit to run submissions?"""

from typing import Any

import click

from sandscore import api
from sandscore.base.errors import InfrastructureFault, OrganiserFault
from sandscore.cli.options import click_options, format_option
from sandscore.cli.running_options import engine_option
from sandscore.queue.homes.home_registry import our_homes

_CODES = {"host": InfrastructureFault.exit_code, "organiser": OrganiserFault.exit_code}
"""The machine comes first: nothing can be scored on it."""


@click.command("doctor")
@click_options(option for row in our_homes() for option in row.check_options)
@engine_option
@format_option
def command(engine: str | None, output_format: str, **chosen: Any) -> int:
    """Check engines, limits really in force, isolation, disk and packages, and say how to get what is missing.

    Of each engine it says which limits are in force; a fault of one that runs would not take is a note. Exits 75 if
    nothing can be scored here, 78 if what the organiser has set up elsewhere is at fault.

    \b
    Example:
      sandscore doctor
    """
    findings = api.examine_host(chosen, engine)
    click.echo(FORMATS[output_format](findings))
    codes = {_CODES[finding.by] for finding in findings if finding.level == "fault"}
    return min(codes, default=0)


def _as_text(findings: "list[api.Finding]") -> str:
    from sandscore.base.terminal_text import hanging, terminal_width

    lines, limit = [], terminal_width()
    for before, finding in zip([None, *findings], findings, strict=False):
        if finding.engine != (before and before.engine):
            lines.append(f"engine {finding.engine}" if finding.engine else "")
        lines.append(hanging(f"{finding.level:6} {finding.name:16} ", finding.found, limit))
        if finding.advice:
            lines.append(hanging(" " * 24, finding.advice, limit))
    return "\n".join(lines)


def _as_json(findings: "list[api.Finding]") -> str:
    import json

    return json.dumps([finding.to_dict() for finding in findings], indent=2)


FORMATS = {"text": _as_text, "json": _as_json}
