"""The ledger added up: what each team was told, in bits, and how far its best score may lie above the truth by that.

Whoever knows b bits of a score can choose among 2^b submissions; the best of them lies at most about SE √(2 ln 2 b)
above its true value, where SE is the standard error of the score.
"""

import math
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.json import encode
from msgspec.json import format as format_json

from sandscore.challenges.challenge_reading import rules_for
from sandscore.challenges.ladder import leave_one_out, standard_error
from sandscore.queue.attempt_files import card_name
from sandscore.queue.home_protocol import QueueHome
from sandscore.queue.workspace import Workspace
from sandscore.ranking.card_reading import read_card
from sandscore.ranking.score_table import tabulate
from sandscore.records.released_view import LedgerLine
from sandscore.records.submission import Status, Submission


class TeamTotal(Struct, frozen=True):
    """What a team was told about one task and phase; ``bits`` counts what everybody was told too."""

    team: str
    task: str
    phase: str | None
    releases: int
    bits: float
    best: str | None
    """The submission with the best score; None where nothing is scored."""
    error: float | None
    """Its standard error: the headline's jackknife over patients."""
    above: float | None
    """How far it may lie above its true value, approximately."""


class LedgerSummary(Struct, frozen=True):
    """The ledger of a queue, or of one team of it."""

    lines: tuple[LedgerLine, ...]
    bits: float
    teams: tuple[TeamTotal, ...]


def summary_json(summary: LedgerSummary) -> str:
    """For programs."""
    return format_json(encode(summary)).decode()


async def summarise(home: QueueHome, workspace: Workspace, team: str | None = None) -> LedgerSummary:
    """All of it, or what one team was told."""
    lines = [line for line in await home.disclosed() if team is None or line.team in (None, team)]
    submissions = [one for one in await home.submissions() if team is None or one.team == team]
    keys = dict.fromkeys((one.team, one.task, one.phase) for one in submissions)
    totals = []
    for key in sorted(keys, key=lambda key: (key[0], key[1], key[2] or "")):
        mine = [one for one in submissions if (one.team, one.task, one.phase) == key]
        totals.append(await _total(home, workspace, mine, lines))
    return LedgerSummary(tuple(lines), math.fsum(line.bits for line in lines), tuple(totals))


async def _total(
    home: QueueHome, workspace: Workspace, mine: Sequence[Submission], lines: Sequence[LedgerLine]
) -> TeamTotal:
    first, ids = mine[0], {one.id for one in mine}
    own = [line for line in lines if line.submission in ids]
    bits = math.fsum(line.bits for line in lines if line.submission in ids or line.team is None)
    rules, _ = rules_for(workspace.challenge, first.task, first.phase)
    scored = [one for one in mine if one.status is Status.SCORED and one.scores.get(rules.headline) is not None]
    best = max(scored, key=lambda one: one.scores[rules.headline] or 0.0, default=None)
    folder = None if best is None else await home.kept(best)
    error = None
    if best is not None and folder is not None and (card := folder / card_name(best.version)).exists():
        error = headline_error(card, rules.headline)
    return TeamTotal(
        team=first.team,
        task=first.task,
        phase=first.phase,
        releases=len(own),
        bits=bits,
        best=None if best is None else best.id,
        error=error,
        above=None if error is None else most_above(error, bits),
    )


def headline_error(card: Path, headline: str) -> float:
    """The jackknife's standard error over patients of the score on a card."""
    table = tabulate([read_card(card)])
    return standard_error(leave_one_out(table.counts[0, :, table.measures.index(headline)]))


def most_above(error: float, bits: float) -> float:
    """How far the best of what so many bits can choose may lie above its true value; no score is above 1."""
    return min(1.0, error * math.sqrt(2 * math.log(2) * bits))
