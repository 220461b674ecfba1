"""``sandscore doctor``: is this machine fit to run submissions?"""

import json
from pathlib import Path

import click

from sandscore import api
from sandscore.base.errors import InfrastructureFault
from sandscore.base.terminal_text import hanging, terminal_width
from sandscore.cli.options import format_option


@click.command("doctor")
@click.option("--synapse", "evaluation", metavar="EVALUATION_ID", help="Also check access to this queue on Synapse.")
@click.option("--synapse-config", type=click.Path(path_type=Path), metavar="FILE", help="In place of ~/.synapseConfig.")
@format_option
def command(evaluation: str | None, synapse_config: Path | None, output_format: str) -> int:
    """Check engine, limits really in force, isolation, disk and packages, and say how to get what is missing.

    Exits 75 if nothing can be scored here.

    \b
    Example:
      sandscore doctor
    """
    findings = api.examine_host(evaluation, synapse_config)
    click.echo(FORMATS[output_format](findings))
    return InfrastructureFault.exit_code if any(finding.level == "fault" for finding in findings) else 0


def _as_text(findings: "list[api.Finding]") -> str:
    lines, limit = [], terminal_width()
    for finding in findings:
        lines.append(hanging(f"{finding.level:6} {finding.name:16} ", finding.found, limit))
        if finding.advice:
            lines.append(hanging(" " * 24, finding.advice, limit))
    return "\n".join(lines)


def _as_json(findings: "list[api.Finding]") -> str:
    from msgspec.structs import asdict

    return json.dumps([asdict(finding) for finding in findings], indent=2)


FORMATS = {"text": _as_text, "json": _as_json}
