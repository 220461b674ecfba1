"""``sandscore queue check``: is the queue whole, and does everything that its challenge names exist?"""

import json
from typing import TYPE_CHECKING, Any

import click

from sandscore.base.errors import OrganiserFault
from sandscore.cli.options import format_option
from sandscore.cli.queue.order_results import order_options
from sandscore.cli.queue.queue_place import home_options, place_of

if TYPE_CHECKING:
    from sandscore.api import Finding


@click.command("check")
@click.argument("words", metavar="[DIR]", nargs=-1)
@click.option(
    "--accept-damage",
    is_flag=True,
    help="Go on without what is damaged beyond repair: it is set aside, and what is missing is listed.",
)
@order_options
@home_options
@format_option
def command(
    words: tuple[str, ...],
    accept_damage: bool,
    who: str | None,
    why: str | None,
    output_format: str,
    **where: Any,
) -> int:
    """Look at all that the queue is made of: measures, columns, phases, data, keys, log and journal.

    Every fault is told, with its line where it stands in challenge.toml. Exits 78 if there is one.

    \b
    Example:
      sandscore queue check demo/queue
    """
    from sandscore.queue.order_history import note_order
    from sandscore.queue.queue_check import check_queue

    place, _ = place_of(words, where, 0)
    if accept_damage:
        note_order(place.workspace.root, "accept-damage", who, why)
    accepted = place.row.accept_damage(place.workspace) if accept_damage else []
    findings = check_queue(place.workspace, place.row)
    click.echo(FORMATS[output_format](findings, accepted))
    return OrganiserFault.exit_code if any(one.level == "fault" for one in findings) else 0


def _as_text(findings: "list[Finding]", accepted: list[str]) -> str:
    from sandscore.base.terminal_text import hanging, printable, terminal_width

    limit = terminal_width()
    lines = [f"{'gone on':8} {printable(line)}" for line in accepted]
    return "\n".join(
        lines + [hanging(f"{one.level:8} {one.name:12} ", printable(one.found), limit) for one in findings]
    )


def _as_json(findings: "list[Finding]", accepted: list[str]) -> str:
    return json.dumps({"accepted": accepted, "findings": [one.to_dict() for one in findings]}, indent=2)


FORMATS = {"text": _as_text, "json": _as_json}
