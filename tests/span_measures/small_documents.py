"""Small documents for exhaustive comparison, and one way to write them."""

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

from hypothesis import strategies as st

from sandscore.documents.note_spans import add_up
from sandscore.measures.measure import DocumentMeasure
from sandscore.records.document import Annotation, Document

Written = tuple[int, int] | tuple[int, int, str]

TEXT = "Anna Lee of New York met Bo in May"


def document(gold: Sequence[Written], predictions: Sequence[Written], name: str = "d") -> Document:
    """A note with annotations written as (start, end) or (start, end, label), ends exclusive."""
    return Document(name, TEXT, _annotations(gold), _annotations(predictions))


def _annotations(written: Sequence[Written]) -> tuple[Annotation, ...]:
    return tuple(Annotation(w[0], w[1] - w[0], TEXT[w[0] : w[1]], w[2] if len(w) > 2 else None) for w in written)


def scored(measure: type[DocumentMeasure], *documents: Document, **settings: Any) -> dict[str, Any]:
    """The measure of some notes, defaults filled in."""
    settled = {p.name: p.default for p in measure.parameters} | settings
    return measure.score(add_up(measure.count(d, settled) for d in documents), settled)


def warned(measure: type[DocumentMeasure], *documents: Document, **settings: Any) -> tuple[str, ...]:
    """What the measure says about the original on these notes."""
    settled = {p.name: p.default for p in measure.parameters} | settings
    return measure.warn(documents, settled)


def matchings(gold: int, predictions: int) -> Iterator[list[tuple[int, int]]]:
    """Every way to pair all of the smaller side; pairs that are none may be left out of each."""
    if gold > predictions:
        for pairs in matchings(predictions, gold):
            yield [(j, i) for i, j in pairs]
        return
    for chosen in permutations(range(predictions), gold):
        yield list(enumerate(chosen))


_spans = st.tuples(st.integers(0, 8), st.integers(1, 6), st.sampled_from("XY")).map(
    lambda drawn: (drawn[0], drawn[0] + drawn[1], drawn[2])
)
sides = st.lists(_spans, max_size=5)
