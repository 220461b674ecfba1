"""Ranking as a call: score cards to a board, and the board recomputed."""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from sandscore import api
from sandscore.api.output_files import write
from sandscore.api.results import RankedBoard, Result
from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.base.removable_rooms import REMOVABLE, MissingRoom
from sandscore.ranking.board_building import rank as ranked
from sandscore.ranking.board_exports import as_json
from sandscore.ranking.card_reading import RankedCard, card_entry, cards_of_phase, read_card, refuse_incomparable
from sandscore.ranking.pair_tests import draws_of
from sandscore.records.board import Board
from sandscore.records.ranking_rules import BoardRules
from sandscore.records.scorecard import Scorecard

if TYPE_CHECKING:
    from sandscore.records.challenge import Challenge

PairTests = Callable[[int, int], AbstractContextManager[Callable[[int], object]]]
"""Told how many pairs are tested with how many draws each; its value is called with each step's size."""
Steps = AbstractContextManager[Callable[[int], object]]


def _unfollowed(*_numbers: int) -> Steps:
    return nullcontext(lambda _: None)


class RankingPlan(Struct, frozen=True, kw_only=True):
    """Which cards stand on the board, and by which rules they are ranked."""

    cards: Sequence[Path]
    challenge: Path | None = None
    phase: str | None = None
    measure: str | None = None
    everything: bool = False


def rank(
    results: Iterable["Result | Scorecard | str | Path"],
    challenge: "Challenge | str | Path | None" = None,
    phase: str | None = None,
    *,
    measure: str | None = None,
) -> RankedBoard:
    """Score cards to a board, with intervals, rank sets and tie groups.

    ``results`` are results of ``score``, score cards, or files of cards; ``challenge`` is a challenge.toml or what
    was read of one, ``measure`` takes the place of its headline.

    >>> board = ss.rank(["leaderboard/cards/date-good.json", "leaderboard/cards/date-weak.json"]).board
    >>> [row.submission for row in board.rows]
    ['date-good', 'date-weak']
    """
    if isinstance(results, str | Path | Result | Scorecard):
        results = [results]
    entries = cards_of_phase([_entry(result, number) for number, result in enumerate(results, 1)], phase)
    refuse_incomparable(entries)
    configured = api.read_challenge(Path(challenge)) if isinstance(challenge, str | Path) else challenge
    return RankedBoard(_shown(_board(entries, configured, phase, measure), entries, configured))


def rank_to_file(request: RankingPlan, output: Path | None = None, testing: PairTests = _unfollowed) -> Board:
    """The board of these files of cards, named as seen from the output so that both can move together."""
    entries = cards_of_phase([read_card(path) for path in request.cards], request.phase)
    refuse_incomparable(entries)
    configured = api.read_challenge(request.challenge) if request.challenge else None
    start = output.parent if output else Path()
    listed = [replace(e, listed=Path(os.path.relpath(e.path, start)).as_posix()) for e in entries]
    try:
        board = _board(listed, configured, request.phase, request.measure, testing)
        board = _shown(board, listed, configured, everything=request.everything)
    except _UnfitRules as fault:
        sentence = str(fault)
        if request.challenge and not request.measure:
            raise OrganiserFault(f"{request.challenge}: {sentence}") from None
        raise UsageFault(sentence) from None
    if output:
        write(output, [as_json(board).encode()])
    return board


class _UnfitRules(UsageFault):
    """Rules that these cards cannot be ranked by."""


def _board(
    entries: Sequence[RankedCard],
    challenge: "Challenge | None",
    phase: str | None,
    measure: str | None,
    testing: PairTests = _unfollowed,
) -> Board:
    rules, phase = _rules(challenge, entries[0].card.task, phase or _phase_of(entries, challenge))
    if measure:
        rules = rules.model_copy(update={"headline": measure, "aggregation": "headline"})
    with testing(*_tests(entries, rules)) as advance:
        try:
            return ranked(entries, rules, phase, advance)
        except MissingRoom:
            raise
        except UsageFault as fault:
            raise _UnfitRules(str(fault)) from None


def _rules(challenge: "Challenge | None", task: str, phase: str | None) -> tuple[BoardRules, str | None]:
    if challenge is None:
        return BoardRules(), phase
    with REMOVABLE:
        from sandscore.challenges.challenge_reading import rules_for

    return rules_for(challenge, task, phase)


def _phase_of(entries: Sequence[RankedCard], challenge: "Challenge | None") -> str | None:
    """The one that the cards name, where the challenge has it."""
    named = next((entry.card.phase for entry in entries if entry.card.phase is not None), None)
    known = challenge is None or any(phase.name == named for phase in challenge.phases)
    return named if known else None


def _shown(
    board: Board, entries: Sequence[RankedCard], challenge: "Challenge | None", *, everything: bool = False
) -> Board:
    """What the challenge lets everybody see of the board; the organiser's own board carries the policy with it."""
    if challenge is None:
        return board
    with REMOVABLE:
        from sandscore.disclosure.board_release import board_as_told
    try:
        return board_as_told(board, entries, challenge, everything=everything)
    except UsageFault as fault:
        raise _UnfitRules(str(fault)) from None


def _tests(entries: Sequence[RankedCard], rules: BoardRules) -> tuple[int, int]:
    systems = len({entry.submission for entry in entries})
    pairs = systems * (systems - 1) // 2
    return pairs, draws_of(rules, pairs)


def _entry(result: "Result | Scorecard | str | Path", number: int) -> RankedCard:
    from sandscore.scoring.card_building import dumped
    from sandscore.site.site_folder import file_name

    if isinstance(result, str | Path):
        return read_card(Path(result))
    card = result.card if isinstance(result, Result) else result
    if not isinstance(card, Scorecard):
        raise UsageFault(f"result {number} is a {type(card).__name__}, not a result, a score card or the file of one")
    name = card.submission or card.team or f"result {number}"
    return replace(card_entry(dumped(card), name), submission=name, listed=f"{file_name(name)}.json")


def board_text(board: Board, output_format: str, columns: int | None = None) -> str:
    """The board as text for a terminal of so many columns, as JSON, CSV or Markdown."""
    if output_format == "json":
        return as_json(board)
    with REMOVABLE:
        from sandscore.board_tables.board_formats import EXPORTS, as_text

    return as_text(board, columns) if output_format == "text" else EXPORTS[output_format](board)
