"""A score card as others may have it: with a row for each note, its totals, or not at all."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from sandscore.disclosure.released import Audience, Item, Released, passed
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.scorecard import ComponentScore, Scorecard
from sandscore.records.totals_card import TotalsCard, totals_of

ReleasedCard = Scorecard | TotalsCard


class CardItem(Item[ReleasedCard | None], frozen=True, kw_only=True):
    """The organiser's exact card, the secret that names its notes for others, and fields that nobody else sees."""

    card: Scorecard
    salt: bytes | None = None
    hidden: frozenset[str] = frozenset()


def card_view(item: CardItem, _audience: Audience, policy: DisclosurePolicy) -> Released[ReleasedCard | None]:
    """Nothing while exact scores are hidden. Without the secret, notes whose names are no public ones are not named."""
    if policy.cards == "none" or not policy.exact:
        return passed(item, None, "card")
    hashed = item.salt is not None or hides_notes(item.card)
    if policy.cards == "totals" or not (hashed or policy.notes_public):
        totals = totals_of(item.card)
        return passed(item, totals, "card", _bits_of_totals(totals))
    from sandscore.disclosure.keyed_names import published

    shown = item.card if item.salt is None else published(item.card, item.salt)
    said = {name for name in item.hidden if getattr(shown, name) is not None}
    shown = shown.model_copy(update=dict.fromkeys(said)) if said else shown
    return passed(item, shown, "card", _bits_of_notes(item.card), card_content(shown))


def card_content(card: ReleasedCard) -> bytes:
    """The bytes that are published."""
    from sandscore.scoring.card_building import dumped

    return dumped(card) if isinstance(card, Scorecard) else card.content()


def hides_notes(card: Scorecard) -> bool:
    """Whether the notes go by keyed hashes already."""
    return all(len(note) == 16 and set(note) <= set("0123456789abcdef") for note in card.units)


def bits_of(numbers: Iterable[int]) -> float:
    """At most what so many natural numbers tell: the length of Elias' gamma code, which needs to know no bound."""
    return math.fsum(often * (2 * math.log2(number + 1) + 1) for number, often in Counter(numbers).items())


def _bits_of_totals(card: TotalsCard) -> float:
    """Ratios follow from counts; where a profile has ratios alone, a double each."""
    bits = 0.0
    for score in card.measures.values():
        if isinstance(score, ComponentScore):
            bits += bits_of(score.numbers.values())
        elif score.counts is not None:
            bits += bits_of((score.counts.tp, score.counts.fp, score.counts.fn))
        else:
            bits += _DOUBLE * sum(ratio is not None for ratio in (score.precision, score.recall, score.f1))
    for row in card.per_label.values():
        bits += sum(bits_of((counts.tp, counts.fp, counts.fn)) for counts in row.values())
    return bits + bits_of([card.notes])


_DOUBLE = 64.0


_Counts = Mapping[str, Mapping[str, tuple[int, ...]]]


def _by_patient(card: Scorecard) -> Iterator[_Counts]:
    yield card.per_unit
    for table in card.slices.values():
        yield from (one.per_unit for one in table.slices.values())
    yield from (one.per_unit for one in card.robustness.values())


def _numbers(table: _Counts) -> Iterator[int]:
    rows = chain.from_iterable(of_one.values() for of_one in table.values())
    return chain.from_iterable(rows)


def _bits_of_notes(card: Scorecard) -> float:
    """Nothing else on the card is more than all of this, curve and errors aside: of these every number counts."""
    bits = sum(bits_of(_numbers(table)) for table in (card.per_note, *_by_patient(card)))
    curve = card.confidence.curve if card.confidence and card.confidence.curve else []
    errors = card.errors.model_dump().values() if card.errors else ()
    return bits + 3 * _DOUBLE * len(curve) + bits_of(errors) + _bits_of_totals(totals_of(card))
