"""``sandscore status``: how a team's submissions stand on a server."""

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from sandscore.base.errors import ParticipantFault
from sandscore.cli.options import format_option

if TYPE_CHECKING:
    from sandscore.intake.submission_client import IntakeClient

_FINAL = ("SCORED", "INVALID", "REJECTED", "CLOSED")
_WATCH_SECONDS = 5.0


@click.command("status")
@click.argument("url")
@click.argument("submission", metavar="[ID]", required=False)
@click.option("--watch", is_flag=True, help="Wait until all have ended, and say every change.")
@format_option
def command(url: str, submission: str | None, watch: bool, output_format: str) -> int:
    """Say how the team's submissions stand on the server at URL, or all that it may see of one.

    With an ID it exits 65 where that one ended INVALID or REJECTED.

    \b
    Example:
      sandscore status https://challenge.example.org
    """
    from sandscore.intake.submission_client import IntakeClient

    client = IntakeClient(url)
    found = _found(client, submission)
    seen = _say_changes({}, found) if watch and output_format == "text" else {}
    while watch and not all(one["status"] in _FINAL for one in found):
        time.sleep(_WATCH_SECONDS)
        found = _found(client, submission)
        if output_format == "text":
            seen = _say_changes(seen, found)
    if output_format == "json":
        click.echo(json.dumps(found[0] if submission else found, indent=1, ensure_ascii=False))
    elif submission:
        _say_whole(found[0])
    elif not watch:
        _say_changes({}, reversed(found))
    lost = submission is not None and found[0]["status"] in ("INVALID", "REJECTED")
    return ParticipantFault.exit_code if lost else 0


def _found(client: "IntakeClient", submission: str | None) -> list[Mapping[str, Any]]:
    return [client.submission(submission)] if submission else client.submissions()


def _say_changes(seen: Mapping[str, str], found: Any) -> Mapping[str, str]:
    from sandscore.base.terminal_text import printable

    now = dict(seen)
    for one in found:
        if now.get(one["id"]) != one["status"]:
            now[one["id"]] = one["status"]
            parts = [one["id"], one["created"], one["task"], one["phase"], one["status"], one["reason"]]
            click.echo("  ".join(printable(str(part)) for part in parts if part is not None))
    return now


def _say_whole(one: Mapping[str, Any]) -> None:
    from sandscore.base.terminal_text import printable

    for name, value in one.items():
        if isinstance(value, str) and "\n" in value:
            click.echo("\n".join([f"{name}:", *(f"  {printable(line)}" for line in value.splitlines())]))
        else:
            told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            click.echo(f"{name:18}{printable(told)}")
