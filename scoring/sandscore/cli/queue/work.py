"""``sandscore queue work``: run, validate, score and publish, unattended."""

import asyncio
import gc
import signal
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from sandscore import api
from sandscore.cli.options import format_option
from sandscore.cli.queue.queue_place import Place, home_options, place_of, queue_in
from sandscore.cli.running_options import engine_option

if TYPE_CHECKING:
    from sandscore.queue.home_protocol import QueueHome
    from sandscore.queue.worker.queue_worker import WorkPlan
    from sandscore.queue.workspace import Workspace
    from sandscore.records.submission import Submission

_PATIENCE_SECONDS = 10.0


@click.command("work")
@click.argument("words", metavar="[DIR]", nargs=-1)
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Submissions at a time.")
@click.option("--once", is_flag=True, help="End when nothing is waiting, backing off or in progress.")
@click.option(
    "--board-every",
    type=click.FloatRange(min=0.1),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How often boards and site follow; with --once also at the end.",
)
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="After SIGTERM: what is under way may take this long, then it is handed back.",
)
@engine_option
@click.option("--dask", metavar="ADDRESS", help="Do the work on a Dask cluster: tcp://scheduler:8786.")
@click.option("--metrics", metavar="HOST:PORT", help="Serve the queue's numbers to Prometheus: 127.0.0.1:9464.")
@home_options
@format_option
def command(
    words: tuple[str, ...],
    jobs: int,
    once: bool,
    board_every: float,
    grace: float,
    dask: str | None,
    metrics: str | None,
    output_format: str,
    **where: Any,
) -> int:
    """Work on submissions until stopped. Start as many as you like; any of them may be killed at any moment.

    SIGTERM or Ctrl-C finishes what ends within the grace and hands back the rest; a second one hands back at once.
    With --format json every ending is a line on standard output.

    \b
    Example:
      sandscore queue work demo/queue --once
    """
    from sandscore.queue.cell.cell_need import require_cells
    from sandscore.queue.edited_challenge import following
    from sandscore.queue.layout_move import update_layout
    from sandscore.queue.queue_layout import owner_only
    from sandscore.queue.queue_setup import say_once
    from sandscore.queue.worker.metrics_server import address_of
    from sandscore.queue.worker.queue_worker import WorkPlan

    engine: str | None = where.pop("engine")
    place, _ = place_of(words, where, 0)
    update_layout(place.workspace.root, place.row)
    place = queue_in(place.workspace.root, where)
    if engine is not None:
        place.workspace = place.workspace.run_with(api.named_engine(engine, here=dask is None))
    place.workspace = following(place.workspace)
    say_once(place.workspace)
    if dask is None:
        require_cells(place.workspace.challenge)
    with owner_only():
        plan = WorkPlan(
            jobs, once, board_every, grace, place.row.makes_boards(place.workspace.root), place.row.is_service
        )
        asyncio.run(_work(place, plan, dask, output_format, None if metrics is None else address_of(metrics)))
    return 0


async def _work(
    place: Place, plan: "WorkPlan", dask: str | None, output_format: str, metrics: tuple[str, int] | None
) -> None:
    from sandscore.cli.queue.worker_display import display
    from sandscore.queue.worker.queue_worker import Worker, insisting

    home = place.home()
    hands, end = await _hands(place.workspace, dask)
    try:
        await insisting(plan, home.open)
        with display(output_format) as shown, _metrics(place, home, metrics):
            worker = Worker(home, place.workspace, plan, hands, shown.saw)
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, worker.stop)
            gc.freeze()  # what was imported stays: nobody need look through it while the queue is worked on
            await worker.run()
        shown.close(await home.submissions())
    finally:
        await home.close()
        await end()


def _metrics(place: Place, home: "QueueHome", address: tuple[str, int] | None) -> AbstractContextManager[object]:
    """The numbers for whoever scrapes them, as they are then."""
    from sandscore.queue.queue_status import prometheus, status_of
    from sandscore.queue.worker.metrics_server import metrics_served

    loop = asyncio.get_running_loop()

    async def submissions() -> "Sequence[Submission]":
        return await home.submissions()

    def text() -> str:
        found = asyncio.run_coroutine_threadsafe(submissions(), loop).result(_PATIENCE_SECONDS)
        return prometheus(status_of(place.workspace, place.row, found))

    return nullcontext() if address is None else metrics_served(address, text)


async def _hands(workspace: "Workspace", dask: str | None) -> Any:
    """Who does the work, and how to part from them."""
    from sandscore.queue.worker.executor import LocalHands
    from sandscore.queue.workspace import said_challenge

    root = workspace.root

    async def nothing() -> None:
        """Local processes end with their jobs."""

    if dask is None:
        return lambda: LocalHands(root, lambda: said_challenge(workspace.challenge)), nothing
    from sandscore.queue.dask.dask_executor import connected

    return await connected(dask, root)
