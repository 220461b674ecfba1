"""Tagged documents to the original's whole result: counts, ratios, confusion matrix, error list."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import resources
from json import loads

from msgspec import Struct, field
from msgspec.structs import replace

from sandscore.profiles.presidio.presidio_counting import Overlap, SpanComparison, SpanError, SpanTally, TypeCounts
from sandscore.profiles.presidio.presidio_spans import (
    ANY_TYPE,
    OUTSIDE,
    Known,
    TaggedDocument,
    TokenSpan,
    any_type,
    runs_of,
    spans_of,
    words_of,
)
from sandscore.records.counts import ratio

OLD, NEW = "0.2.5", "0.3.2"


@cache
def default_skip_words() -> frozenset[str]:
    """The original's list: punctuation, white space, English stop words, words of addresses and titles."""
    return frozenset(loads(resources.files(__package__).joinpath("skip_words.json").read_text("utf-8")))


class EvaluationOptions(Struct, frozen=True):
    """The original's knobs; ``entities`` None keeps every type."""

    threshold: float = 0.9
    beta: float = 2
    by_characters: bool = True
    skip_words: frozenset[str] = field(default_factory=default_skip_words)
    release: str = NEW
    entities: frozenset[str] | None = None

    @property
    def old(self) -> bool:
        return self.release == OLD


class Score(Struct, frozen=True):
    """Counts with the original's ratios; None where it computes NaN."""

    counts: TypeCounts
    precision: float | None
    recall: float | None
    f_beta: float | None


class DocumentSpans(Struct, frozen=True):
    """The merged spans of one document, typed and untyped."""

    gold: list[TokenSpan]
    predicted: list[TokenSpan]
    untyped_gold: list[TokenSpan]
    untyped_predicted: list[TokenSpan]


class SpanEvaluation(Struct, frozen=True):
    """``per_type`` from the pass that looks at types, ``pii`` and ``per_document`` from the one that does not.

    ``predicted_spans`` are those of the first pass, each once.
    """

    per_type: dict[str, Score]
    pii: Score
    confusion: Counter[tuple[str, str]]
    errors: list[SpanError]
    per_document: dict[str, tuple[int, int, int]]
    slips: int
    predicted_spans: int

    def matrix(self) -> tuple[list[str], list[list[int]]]:
        """Labels (``O`` last) and the counts, rows gold, columns predicted."""
        labels = [*sorted(name for name in self.per_type if name != OUTSIDE), OUTSIDE]
        return labels, [[self.confusion[gold, predicted] for predicted in labels] for gold in labels]


def evaluate_tags(documents: Iterable[TaggedDocument], options: EvaluationOptions) -> SpanEvaluation:
    """The original's result, documents in the order given."""
    overlap = Overlap(options.by_characters, words_have_places=not options.old)
    typed = SpanComparison(overlap, options.threshold, typed=True)
    untyped = SpanComparison(overlap, options.threshold, typed=False)
    entities, whole = SpanTally(), SpanTally()
    everything = whole.counts[ANY_TYPE]
    per_document = {}
    predicted_spans = 0
    for document, spans in document_spans(documents, options):
        predicted_spans += len(spans.predicted)
        typed.add(spans.gold, spans.predicted, document.id, entities)
        before = (everything.tp, everything.fp, everything.fn)
        untyped.add(spans.untyped_gold, spans.untyped_predicted, document.id, whole)
        after = (everything.tp, everything.fp, everything.fn)
        per_document[document.id] = (after[0] - before[0], after[1] - before[1], after[2] - before[2])
    return SpanEvaluation(
        per_type={name: _score(counts, options.beta) for name, counts in entities.counts.items()},
        pii=_score(everything, options.beta),
        confusion=entities.confusion + whole.confusion,
        errors=entities.errors + whole.errors,
        per_document=per_document,
        slips=entities.slips + whole.slips,
        predicted_spans=predicted_spans,
    )


def document_spans(
    documents: Iterable[TaggedDocument], options: EvaluationOptions
) -> Iterator[tuple[TaggedDocument, DocumentSpans]]:
    """Every document with its spans."""
    rows_before = 0
    for document in documents:
        yield document, _spans(document, rows_before if options.old else 0, options)
        rows_before += len(document.tokens)


def _spans(document: TaggedDocument, first_row: int, options: EvaluationOptions) -> DocumentSpans:
    words = words_of(document, first_row, options.skip_words)
    sides = [_kept(tags, options.entities) for tags in (document.gold, document.predicted)]
    runs = [runs_of(tags) for tags in sides]
    typed = [runs_of(_shortened(tags)) for tags in sides] if options.old else runs
    known: Known = {}
    return DocumentSpans(*(spans_of(one, words, known) for one in (*typed, *map(any_type, runs))))


def _kept(tags: Sequence[str], entities: frozenset[str] | None) -> Sequence[str]:
    return tags if entities is None else [tag if tag in entities else OUTSIDE for tag in tags]


def _shortened(tags: Sequence[str]) -> Sequence[str]:
    """Release 0.2.5 takes two characters off every tag with a hyphen, wherever the hyphen stands."""
    return [tag[2:] if "-" in tag else tag for tag in tags]


def _score(counts: TypeCounts, beta: float) -> Score:
    precision, recall = ratio(counts.tp, counts.predicted), ratio(counts.tp, counts.annotated)
    return Score(counts, precision, recall, f_score(precision, recall, beta))


def f_score(precision: float | None, recall: float | None, beta: float) -> float | None:
    """The original's F: undefined, not 0, where precision and recall are both 0."""
    if precision is None or recall is None or precision == recall == 0:
        return None
    return ((1 + beta**2) * precision * recall) / (((beta**2) * precision) + recall)


def without_merging_slip(options: EvaluationOptions) -> EvaluationOptions:
    """The same options under the rule that looks at the right tokens."""
    return replace(options, release=NEW)
