"""``sandscore rank``: score cards to a board."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandscore.base.errors import OrganiserFault, UsageFault

if TYPE_CHECKING:
    from sandscore.ranking.card_reading import RankedCard
    from sandscore.records.board import BoardRules

FORMATS = ("text", "json", "csv", "markdown")
MANY_TESTS = 20_000_000_000


@click.command("rank")
@click.argument("cards", metavar="CARD...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--challenge", type=click.Path(path_type=Path), help="challenge.toml: how scores become ranks.")
@click.option("--phase", help="The phase of the challenge, where it has several.")
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
    from sandscore.api.output_files import write
    from sandscore.cli.progress import bar
    from sandscore.ranking.board_building import rank
    from sandscore.ranking.board_exports import EXPORTS, as_json
    from sandscore.ranking.card_reading import read_cards
    from sandscore.ranking.challenge_reading import read_challenge, rules_for
    from sandscore.ranking.comparable_cards import refuse_incomparable

    entries = read_cards(cards)
    refuse_incomparable(entries)
    configured = read_challenge(challenge) if challenge else None
    rules, phase = rules_for(configured, entries[0].card.task, phase)
    if measure:
        rules = rules.model_copy(update={"headline": measure, "aggregation": "headline"})
    with bar("testing pairs", _draws(entries, rules)) as advance:
        try:
            board = rank(_listed(entries, output), rules, phase, advance, everything=everything)
        except UsageFault as fault:
            raise OrganiserFault(f"{challenge}: {fault}") if challenge and not measure else fault from None
    if output:
        write(str(output), [as_json(board).encode()])
    if not output or output_format != "text":
        click.echo(EXPORTS[output_format](board), nl=False)
    elif output:
        click.echo(f"{output}: {len(board.rows)} rows, task {board.task}, ranked by {board.headline}")


def _draws(entries: "list[RankedCard]", rules: "BoardRules") -> int:
    """How long the tests are going to take, said beforehand where that is long."""
    from sandscore.ranking.pair_tests import draws_for

    systems = len({entry.submission for entry in entries})
    pairs = systems * (systems - 1) // 2
    draws = rules.randomisations or draws_for(pairs)
    if pairs * draws > MANY_TESTS:
        click.echo(
            f"{pairs:,} pairs with {draws:,} draws each take minutes or more; "
            "'randomisations' in challenge.toml sets fewer",
            err=True,
        )
    return draws


def _listed(entries: "list[RankedCard]", output: Path | None) -> "list[RankedCard]":
    """Cards named as seen from the board, so that both can move together."""
    from msgspec.structs import replace

    start = output.parent if output else Path()
    return [replace(e, listed=Path(os.path.relpath(e.path, start)).as_posix()) for e in entries]
