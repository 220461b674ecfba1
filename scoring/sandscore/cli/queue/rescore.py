"""``sandscore queue rescore``: after gold or measures have changed."""

from typing import TYPE_CHECKING, Any

import click

from sandscore.base.errors import UsageFault
from sandscore.cli.options import format_option
from sandscore.cli.queue.order_results import who_option
from sandscore.cli.queue.queue_place import Place, home_options, place_of

if TYPE_CHECKING:
    from sandscore.queue.home_protocol import QueueHome
    from sandscore.queue.rescoring import RescoredGroup


@click.command("rescore")
@click.argument("words", metavar="[DIR] [ID...]", nargs=-1)
@click.option("--plan", is_flag=True, help="Only say who would move, by how much, and because of which annotations.")
@click.option("--apply", "carry_out", is_flag=True, help="Write new versions beside the old and renew boards and site.")
@click.option("--cause", default="rescored", show_default=True, metavar="TEXT", help="For the history.")
@who_option
@home_options
@format_option
def command(
    words: tuple[str, ...],
    plan: bool,
    carry_out: bool,
    cause: str,
    who: str | None,
    output_format: str,
    **where: Any,
) -> int:
    """Score what was kept again, all scored submissions or those named. No container is run.

    The plan names notes and annotations of the gold, so it is for organisers alone.

    \b
    Example:
      sandscore queue rescore demo/queue --plan
    """
    from sandscore.cli.queue.rescoring_text import FORMATS

    if plan == carry_out:
        raise UsageFault("either --plan or --apply")
    place, ids = place_of(words, where, -1)
    if carry_out:
        from sandscore.queue.order_history import note_order

        note_order(place.workspace.root, "rescore", who, cause, ids)
    groups, written = place.asking(lambda home: _rescore(place, home, ids, cause if carry_out else None))
    click.echo(FORMATS[output_format](groups, written))
    return 0


async def _rescore(
    place: Place, home: "QueueHome", ids: tuple[str, ...], cause: str | None
) -> tuple[list["RescoredGroup"], list[str] | None]:
    from sandscore.queue.rescoring import Rescoring
    from sandscore.queue.worker.executor import LocalHands

    hands = LocalHands(place.workspace.root)
    rescoring = Rescoring(home, place.workspace, hands)
    try:
        plan = await rescoring.plan(ids)
        if cause is None:
            return plan.groups, None
        written = await rescoring.apply(plan, cause)
        if place.row.makes_boards(place.workspace.root):
            from sandscore.queue.worker.board_refresh import Follower

            await Follower(home, place.workspace).refresh()
        return plan.groups, written
    finally:
        rescoring.close()
        await hands.close()
