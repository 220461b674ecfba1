"""``sandscore queue upgrade``: a queue that an older version made goes on with this one."""

from typing import TYPE_CHECKING, Any

import click

from sandscore.base.errors import UsageFault
from sandscore.cli.options import format_option
from sandscore.cli.queue.order_results import who_option
from sandscore.cli.queue.queue_place import Place, home_options, place_of, queue_in

if TYPE_CHECKING:
    from sandscore.queue.home_protocol import QueueHome
    from sandscore.queue.queue_upgrade import QueueUpgrade


@click.command("upgrade")
@click.argument("words", metavar="[DIR]", nargs=-1)
@click.option("--plan", is_flag=True, help="Only say what would change, and who would move on which board.")
@click.option("--apply", "carry_out", is_flag=True, help="Do it: rules, cards and boards, all cards at once.")
@click.option("--cause", default="upgraded", show_default=True, metavar="TEXT", help="For the history.")
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
    """Bring a queue that an older version of sandscore made to this one. Stop its workers first.

    What was kept is scored again, beside what counts. Rules whose defaults have changed since are written into
    challenge.toml as they were, so that boards stay the same. Killed halfway, it goes on when it is asked for again.

    \b
    Example:
      sandscore queue upgrade demo/queue --plan
    """
    from sandscore.cli.queue.rescoring_text import UPGRADE_FORMATS
    from sandscore.queue.order_history import note_order
    from sandscore.queue.queue_upgrade import prepare

    if plan == carry_out:
        raise UsageFault("either --plan or --apply")
    place, _ = place_of(words, where, 0)
    root, rules = place.workspace.root, dict[str, str]()
    if carry_out:
        rules = prepare(root, place.row)
        place = queue_in(root, where)
        note_order(root, "upgrade", who, cause, ())
    done = place.asking(lambda home: _upgrade(place, home, cause if carry_out else None, rules))
    click.echo(UPGRADE_FORMATS[output_format](done))
    return 0


async def _upgrade(place: Place, home: "QueueHome", cause: str | None, rules: dict[str, str]) -> "QueueUpgrade":
    from sandscore.queue.queue_upgrade import upgrade
    from sandscore.queue.worker.executor import LocalHands

    root = place.workspace.root
    hands = LocalHands(root)
    try:
        return await upgrade(home, place.workspace, hands, cause, rules, boards=place.row.makes_boards(root))
    finally:
        await hands.close()
