"""Score cards as they come from outside: read strictly, refused with a sentence where they contradict themselves."""

import hashlib
import math
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from sandscore.base.errors import ParticipantFault
from sandscore.base.terminal_text import one_line
from sandscore.records.counts import Counts
from sandscore.records.record_reading import file_content, read_record
from sandscore.records.scorecard import MeasureScore, Scorecard
from sandscore.task_table.own_tasks import refuse_unlike_ours

LARGEST_COUNT = 1 << 40
"""Sums of a million notes of this size are still exact in a double."""


class RankedCard(Struct, frozen=True):
    """A card, where it was found (``listed``: how the board names that place), and what it is called there."""

    card: Scorecard
    path: str
    sha256: str
    submission: str
    listed: str

    @property
    def dataset(self) -> str:
        return self.card.dataset or ""

    def signed(self, prefix: str) -> str | None:
        """The part of the signature that begins with ``prefix``, such as ``gold:``."""
        for part in self.card.signature.split("|"):
            if part.startswith(prefix):
                return part.removeprefix(prefix)
        return None


def read_card(path: Path) -> RankedCard:
    """The card in a file."""
    return card_entry(file_content(path), str(path))


def read_cards(paths: Iterable[Path]) -> list[RankedCard]:
    return [read_card(path) for path in paths]


def card_entry(content: bytes, path: str) -> RankedCard:
    """The card in these bytes; ``path`` is only for sentences and for the board."""
    card = read_record(Scorecard, content, path, "a score card", ParticipantFault, strict=True)
    refuse_unlike_ours(card.task, card.definition, path)
    _refuse_contradictions(card, path)
    name = card.submission or card.team or Path(path).name.removesuffix(".json")
    return RankedCard(card, path, hashlib.sha256(content).hexdigest(), name, Path(path).as_posix())


def ranked_measures(card: Scorecard) -> tuple[str, ...]:
    """The measures of a card that have integer counts, note by note."""
    per_note = card.per_note.values()
    return tuple(
        name
        for name, score in card.measures.items()
        if score.counts is not None and any(name in note for note in per_note)
    )


def _refuse_contradictions(card: Scorecard, path: str) -> None:
    if card.units.keys() != card.per_note.keys():
        raise ParticipantFault(f"{path}: 'units' and 'per_note' do not name the same notes")
    if card.notes != len(card.per_note):
        raise ParticipantFault(f"{path}: 'notes' is {card.notes}, but 'per_note' has {len(card.per_note)}")
    if not card.per_note:
        raise ParticipantFault(f"{path}: a card without notes cannot be ranked")
    for name in ranked_measures(card):
        _refuse_wrong_sum(card, name, path)
        _refuse_wrong_ratio(card, name, path)


def _refuse_wrong_sum(card: Scorecard, name: str, path: str) -> None:
    rows = [note[name] for note in card.per_note.values() if name in note]
    if any(not 0 <= number <= LARGEST_COUNT for row in rows for number in row):
        raise ParticipantFault(f"{path}: per_note counts of {one_line(name)} must be whole numbers from 0")
    tp, fp, fn = (sum(column) for column in zip(*rows, strict=True))
    if Counts(tp, fp, fn) != card.measures[name].counts:
        raise ParticipantFault(
            f"{path}: the per_note counts of {one_line(name)} add up to tp {tp}, fp {fp}, fn {fn}; "
            f"'measures' says {_said(card.measures[name])}"
        )


def _refuse_wrong_ratio(card: Scorecard, name: str, path: str) -> None:
    """Only the challenge's own profile promises its ratios; others may round or weigh as their original does."""
    score, counts = card.measures[name], card.measures[name].counts
    if card.profile != "challenge" or counts is None or score.reason is not None:
        return
    for ratio in ("precision", "recall", "f1"):
        said, made = getattr(score, ratio), getattr(counts, ratio)
        if (said is None) != (made is None) or (said is not None and not math.isclose(said, made, abs_tol=1e-9)):
            raise ParticipantFault(f"{path}: {ratio} of {one_line(name)} is {said}; its counts make {made}")


def _said(score: MeasureScore) -> str:
    return f"tp {score.tp}, fp {score.fp}, fn {score.fn}"
