"""``sandscore rank``: score cards to a board."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from sandscore import api
from sandscore.base.terminal_text import terminal_width
from sandscore.cli.progress import bar

FORMATS = ("text", "json", "csv", "markdown")
MANY_TESTS = 20_000_000_000


@click.command("rank")
@click.argument("cards", metavar="CARD...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--challenge", type=click.Path(path_type=Path), help="challenge.toml: how scores become ranks.")
@click.option("--phase", help="The phase of the challenge: cards of others are left out.")
@click.option("--measure", help="Rank by this measure instead of the configured headline.")
@click.option("--everything", is_flag=True, help="Show what the phase's feedback hides; not for participants.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the board (JSON) here.")
@click.option("--format", "output_format", type=click.Choice(FORMATS), default="text", show_default=True)
def command(
    cards: tuple[Path, ...],
    challenge: Path | None,
    phase: str | None,
    measure: str | None,
    everything: bool,
    output: Path | None,
    output_format: str,
) -> None:
    """Rank score cards, with intervals, rank sets and tie groups.

    A board stands for one task and phase. Cards that cannot be compared are refused, and said which.

    \b
    Example:
      sandscore rank leaderboard/cards/date-*.json -o board.json
    """
    request = api.RankingPlan(cards=cards, challenge=challenge, phase=phase, measure=measure, everything=everything)
    board = api.rank_to_file(request, output, _testing)
    if not output or output_format != "text":
        click.echo(api.board_text(board, output_format, terminal_width()), nl=False)
    elif output:
        click.echo(f"{output}: {len(board.rows)} rows, task {board.task}, ranked by {board.headline}")


@contextmanager
def _testing(pairs: int, draws: int) -> Iterator[Callable[[int], object]]:
    """How long the tests are going to take, said beforehand where that is long."""
    if pairs * draws > MANY_TESTS:
        click.echo(
            f"{pairs:,} pairs with {draws:,} draws each take minutes or more; "
            "'randomisations' in challenge.toml sets fewer",
            err=True,
        )
    with bar("testing pairs", draws) as advance:
        yield advance
