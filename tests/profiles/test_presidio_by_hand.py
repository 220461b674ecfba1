"""Presidio's spans and counts by hand, after docs/profiles/presidio.md: release 0.3.2, and 0.2.5 where that differs."""

import random
from typing import Any

import pytest
from struct_values import changeable

from sandscore.profiles.presidio.presidio_counting import (
    ErrorWriter,
    Overlap,
    SpanComparison,
    SpanTally,
    TypeCounts,
    _confused,
)
from sandscore.profiles.presidio.presidio_evaluation import (
    NEW,
    OLD,
    EvaluationOptions,
    SpanEvaluation,
    evaluate_tags,
    f_score,
    without_merging_slip,
)
from sandscore.profiles.presidio.presidio_spans import (
    ScoredSpan,
    TaggedDocument,
    TokenSpan,
    TokenWords,
    any_type,
    runs_of,
    spans_of,
    tag,
    words_of,
)
from sandscore.profiles.presidio.presidio_tokens import TextTokens, tokens_of

WORDS = TokenWords((), (), 0, (), (), (), ())


def place(start: int, end: int, kind: str = "A") -> TokenSpan:
    return TokenSpan(kind, start, end, start, end, 0, 0, (), WORDS)


def document(words: str, gold: str, predicted: str, name: str = "n") -> TaggedDocument:
    """Words with one space between; a tag a word."""
    tokens = words.split()
    starts = [sum(len(word) + 1 for word in tokens[:at]) for at in range(len(tokens))]
    return TaggedDocument(name, tokens, starts, gold.split(), predicted.split())


def evaluated(*documents: TaggedDocument, **options: Any) -> SpanEvaluation:
    return evaluate_tags(documents, EvaluationOptions(**{"skip_words": frozenset()} | options))


def counts(found: TypeCounts) -> tuple[int, int, int, int, int]:
    return found.tp, found.fp, found.fn, found.predicted, found.annotated


# gold            0---------10
# predicted       0--4 5----10
def test_overlap_in_characters() -> None:
    overlap = Overlap(by_characters=True, words_have_places=True)
    gold, first, second = place(0, 10), place(0, 4), place(5, 10)
    assert overlap.near(gold, [first, second, place(10, 12)]) == [(first, 0.4), (second, 0.5)]
    assert overlap.near(place(4, 8), [first, place(6, 12)]) == [(place(6, 12), 0.25)]
    # ends count as inside: 0..10 against 0..4 and, shifted, 4..9
    assert overlap.combined(gold, [first, second]) == 10 / 11
    assert overlap.true_combined(gold, [first, second]) == 9 / 10


def test_only_what_can_overlap_is_looked_at() -> None:
    overlap = Overlap(by_characters=True, words_have_places=True)
    spans = [place(0, 4), place(2, 3), place(5, 9), place(9, 12)]
    assert overlap.around(spans)(place(4, 9)) == spans[2:3]
    assert overlap.around(spans)(place(3, 10)) == spans[0:4]
    assert overlap.around(spans[::-1])(place(4, 9)) == spans[::-1]
    assert Overlap(by_characters=False, words_have_places=True).around(spans)(place(4, 9)) == spans


@pytest.mark.parametrize(("release", "found"), [(OLD, (1, 0, 0)), (NEW, (0, 1, 1))])
def test_words_had_no_places_in_the_old_release(release: str, found: tuple[int, int, int]) -> None:
    met = document("John met John", "A O O", "O O A")
    assert evaluated(met, by_characters=False, release=release).per_document == {"n": found}


def test_counts_of_one_document_each() -> None:
    one = document("a b c d", "A O A O", "A O O B", "one")
    two = document("a b c d", "O O O O", "A O A O", "two")
    found = evaluated(one, two)
    assert found.per_document == {"one": (1, 1, 1), "two": (0, 2, 0)}
    assert counts(found.pii.counts) == (1, 3, 1, 4, 2)
    assert counts(found.per_type["A"].counts) == (1, 2, 1, 3, 2)
    assert counts(found.per_type["B"].counts) == (0, 1, 0, 1, 0)
    assert (found.pii.precision, found.pii.recall) == (0.25, 0.5)
    assert (found.per_type["B"].precision, found.per_type["B"].recall, found.per_type["B"].f_beta) == (0, None, None)
    assert (found.predicted_spans, found.slips) == (4, 0)
    # the pass without types adds its isolated predictions to the matrix
    assert found.matrix() == (["A", "B", "O"], [[1, 0, 1], [0, 0, 0], [2, 1, 0]])


def test_a_type_that_is_wrong() -> None:
    found = evaluated(document("a", "A", "B"))
    assert counts(found.per_type["A"].counts) == (0, 0, 1, 0, 1)
    assert counts(found.per_type["B"].counts) == (0, 1, 0, 1, 0)
    assert found.matrix() == (["A", "B", "O"], [[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    assert [(error.kind, error.annotation, error.prediction) for error in found.errors] == [
        ("WrongEntity", "A", "B"), ("FN", "A", "O"), ("FP", "O", "B"),
    ]  # fmt: skip
    assert found.errors[0].explanation == "Wrong entity type: A detected as B, iou=1.00 compared to threshold=0.9"
    assert evaluated(document("a", "A", "B"), entities=frozenset({"A"})).per_type.keys() == {"A"}


def test_a_span_that_is_too_short() -> None:
    found = evaluated(document("aa bb", "A A", "A O"))
    assert counts(found.per_type["A"].counts) == (0, 1, 1, 1, 1)
    assert [error.explanation for error in found.errors] == [
        "Entity A not detected due to low iou=0.40 compared to threshold=0.9",
        "Entity A falsely detected, iou=0.40 compared to threshold=0.9",
    ]
    assert evaluated(document("aa bb", "A A", "A O"), threshold=0.4).per_document == {"n": (1, 0, 0)}


def judged(gold: TokenSpan, *predicted: TokenSpan, threshold: float = 0.5) -> SpanTally:
    tally = SpanTally()
    comparison = SpanComparison(Overlap(by_characters=True, words_have_places=True), threshold, typed=True)
    comparison.add([gold], predicted, "n", tally)
    return tally


# gold            0--------------10 A
# predicted       0------6 A  6--10 B
def test_several_types_over_one_gold_span() -> None:
    tally = judged(place(0, 10), place(0, 6), place(6, 10, "B"))
    assert counts(tally.counts["A"]) == (1, 0, 0, 1, 1)
    assert counts(tally.counts["B"]) == (0, 1, 0, 1, 0)
    assert tally.confusion == {("A", "A"): 1, ("A", "O"): 1, ("O", "B"): 1}
    turned = judged(place(0, 10), place(0, 4, "B"), place(4, 10))
    assert counts(turned.counts["A"]) == (1, 0, 1, 1, 1)
    assert [error.kind for error in turned.errors] == ["FN", "FP"]


def test_decisions_of_the_slip_are_counted() -> None:
    # 10 of 11 elements where the truth is 9 of 10
    assert judged(place(0, 10), place(0, 4), place(5, 10), threshold=0.905).slips == 1
    assert judged(place(0, 10), place(0, 4), place(5, 10), threshold=0.9).slips == 0
    assert judged(place(0, 10), place(0, 4), place(5, 10), threshold=0.95).slips == 0


def test_cells_of_the_confusion_matrix() -> None:
    assert _confused("A", "B", True, False) == [("A", "B")]
    assert _confused("A", "B", False, False) == _confused("A", "B", False, True) == [("A", "O"), ("O", "B")]
    assert _confused("A", "A", False, True) == [("O", "A")]
    assert _confused("A", "A", False, False) == [("A", "O"), ("O", "A")]


def test_entries_of_the_error_list() -> None:
    write = ErrorWriter("n", 0.9)
    assert write.missed(place(1, 2)).explanation == "Entity A not detected."
    assert write.missed(place(1, 2), place(1, 3, "B"), 0.5).explanation == (
        "Entity A not detected. iou with B=0.50 compared to threshold=0.9"
    )
    isolated = write.isolated(place(3, 4, "B"))
    assert (isolated.kind, isolated.start, isolated.end) == ("FP", 3, 4)
    assert isolated.explanation == "False prediction with no overlap: B"


def test_f_weighs_recall() -> None:
    # beta 2: 5 p r / (4 p + r)
    assert f_score(0.5, 1.0, 2) == pytest.approx(5 / 6)
    assert f_score(1.0, 0.5, 2) == pytest.approx(5 / 9)
    assert f_score(0.0, 0.5, 2) == 0
    assert f_score(0.0, 0.0, 2) is f_score(None, 1.0, 2) is f_score(1.0, None, 2) is None


def test_options_of_the_releases() -> None:
    assert EvaluationOptions().release == "0.3.2"
    assert (EvaluationOptions().threshold, EvaluationOptions().beta, EvaluationOptions().by_characters) == (
        0.9,
        2,
        True,
    )
    assert without_merging_slip(EvaluationOptions(release=OLD, beta=1)) == EvaluationOptions(beta=1)


def test_runs_of_tags() -> None:
    runs = runs_of(["A", "A", "O", "B", "A"])
    assert runs == [("A", 0, 2), ("B", 3, 4), ("A", 4, 5)]
    assert any_type(runs) == [("PII", 0, 2), ("PII", 3, 5)]
    assert runs_of([]) == runs_of(["O"]) == []


def built(words: str, tags: str, *skipped: str, first_row: int = 0) -> list[tuple[str, int, int, int, int]]:
    one = document(words, tags, tags)
    spans = spans_of(runs_of(one.gold), words_of(one, first_row, frozenset(skipped)), {})
    return [(span.value, span.start, span.end, span.inner_start, span.inner_end) for span in spans]


def test_spans_without_skip_words_at_their_edges() -> None:
    assert built("the John Doe .", "A A A A", "the", ".") == [("the John Doe .", 0, 14, 4, 12)]
    assert built("the .", "A A", "the", ".") == built("the", "A", "the") == []
    assert built("John met", "A O") == [("John", 0, 4, 0, 4)]


def test_spans_merge_over_skip_words() -> None:
    assert built("John the Doe", "A O A", "the") == [("John Doe", 0, 12, 0, 12)]
    assert built("John the Doe", "A O B", "the") == [("John", 0, 4, 0, 4), ("Doe", 9, 12, 9, 12)]
    assert len(built("John met Doe", "A O A", "the")) == 2
    # rows that count through the corpus look at the wrong tokens, of which there are none before row 7
    assert len(built("John met Doe", "A O A", "the", first_row=7)) == 1


def test_tags_of_overlapping_spans() -> None:
    tokens = TextTokens(["aa", "bb", "cc"], [0, 3, 6])

    def tags(*spans: ScoredSpan) -> str:
        return " ".join(tag(tokens, spans))

    assert tags(ScoredSpan(0, 2, "A"), ScoredSpan(6, 8, "B")) == "A O B"
    assert tags(ScoredSpan(4, 5, "A")) == "O A O"
    assert tags(ScoredSpan(4, 8, "A")) == "O O A"
    assert tags(ScoredSpan(0, 8, "A", 0.9), ScoredSpan(3, 5, "B", 0.4)) == "A A A"
    assert tags(ScoredSpan(0, 8, "A", 0.4), ScoredSpan(3, 5, "B", 0.9)) == "A B A"
    assert tags(ScoredSpan(0, 5, "A", 0.9), ScoredSpan(3, 8, "B", 0.4)) == "A A B"
    assert tags(ScoredSpan(0, 5, "A", 0.4), ScoredSpan(3, 8, "B", 0.4)) == "A B B"


def tagged_token_by_token(tokens: TextTokens, spans: list[ScoredSpan]) -> list[str]:
    """The rule as it is told: all spans are cut against all, then every token looks at every span."""
    cut = sorted((changed(s) for s in spans), key=lambda s: s.start)
    at = 0
    while at < len(cut) - 1:
        one = cut[at]
        for other in cut[at + 1 :]:
            if not one.start <= other.start <= one.end:
                continue
            if one.score <= other.score:
                if other.end < one.end:
                    cut.append(ScoredSpan(other.end + 1, one.end, one.type, one.score))
                one.end = other.start - 1
            elif one.start <= other.end <= one.end:
                other.score = 0.0
            else:
                other.start = one.end + 1
        at += 1
    cut.sort(key=lambda s: s.start)
    found = []
    for start, end in zip(tokens.starts, tokens.ends, strict=True):
        holding = (
            s.type for s in cut if s.start <= start < s.end or (start <= s.start <= end and start <= s.end <= end)
        )
        found.append(next(holding, "O"))
    return found


def changed(span: ScoredSpan) -> ScoredSpan:
    return ScoredSpan(span.start, span.end, span.type, span.score)


@pytest.mark.parametrize("odd", [(), (-3, 0), (float("nan"),)], ids=["plain", "backwards", "no number"])
def test_tags_are_those_of_looking_at_every_span(odd: tuple[Any, ...]) -> None:
    rng = random.Random(f"{odd} 20261119")
    for _ in range(400):
        tokens = tokens_of("".join(rng.choices(["ab", " ", ", ", "x.y ", "\n", "  "], k=rng.randrange(25))))
        spans = []
        for kind in "ABCDEFGH"[: rng.randrange(9)]:
            start, length = rng.randint(-2, 40), rng.choice((rng.randint(1, 12), *odd))
            spans.append(ScoredSpan(start, start + length, kind, rng.choice((0.0, 0.4, 0.5, 0.9))))
        assert tag(tokens, spans) == tagged_token_by_token(tokens, spans)


def test_what_is_made_stays_as_it_is() -> None:
    assert changeable("profiles") == {
            "LabelCounts", "MaskPrecision", "ScoredSpan", "SpanTally", "Tagged", "TypeCounts", "VerdictTable",
    }  # fmt: skip
