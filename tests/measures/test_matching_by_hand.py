"""A note of five gold annotations counted by hand under every measure of the challenge, and the parts of counting.

Note a, by start; the number is the length, the letter the label, and · is no label::

    gold        0: 4A    10: 5A 5B 5·   20: 3A   30: 4·
    predicted   0: 4B    10: 5A 5A 9B   20: 5A   30: 4A   40: 4A

Note b has one annotation more, in gold alone; note c has nothing.
"""

import json
from typing import Any

import numpy as np
import pytest
from struct_values import changeable

from sandscore.annotations.columns import small_of
from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.base.byte_sources import NamedBytes
from sandscore.kernel.kernel_counts import kernel_counts
from sandscore.kernel.kernel_library import kernel
from sandscore.measures import challenge_counts, challenge_measures, error_kinds, relaxed_match
from sandscore.measures.aligned import Sides
from sandscore.measures.dataset_counts import Chunks, measured
from sandscore.measures.measure import DocumentMeasure
from sandscore.measures.measure_registry import measures_for
from sandscore.measures.measure_syntax import parse
from sandscore.measures.packed_keys import join, packed, paired, per_group, repeats
from sandscore.measures.token_measure import tokens_left
from sandscore.records.document import Annotation, Document
from sandscore.span_measures import greedy_pairing
from sandscore.span_measures.document_counts import count_general
from sandscore.span_measures.iou import IntersectionOverUnion
from sandscore.span_measures.mention_partners import Mention, credit_sums, mentions
from sandscore.span_measures.overlap_credit import OverlapCredit
from sandscore.task_table.task import find_task

PHI = find_task("phi")
TEXT = "".join(chr(97 + at % 26) for at in range(60))
GOLD = [(0, 4, "A"), (10, 5, "A"), (10, 5, "B"), (10, 5, ""), (20, 3, "A"), (30, 4, "")]
PREDICTED = [(0, 4, "B"), (10, 5, "A"), (10, 5, "A"), (10, 9, "B"), (20, 5, "A"), (30, 4, "A"), (40, 4, "A")]
Row = tuple[int, int, str]


def loaded(
    gold: dict[str, list[Row]],
    predicted: dict[str, list[Row]],
    *,
    notes: bool = True,
    text: str = TEXT,
    sure: tuple[float, ...] = (),
) -> Loaded:
    """``sure``: the confidences of what is predicted in each note."""

    def side(given: dict[str, list[Row]], sure: tuple[float, ...] = ()) -> NamedBytes:
        rows = [
            {
                "annotationSource": {"resourceSource": {"name": name}},
                PHI.array: [
                    {"start": s, "length": n, "text": text[s : s + n], "type": kind}
                    | ({"confidence": sure[at]} if sure else {})
                    for at, (s, n, kind) in enumerate(of)
                ],
            }
            for name, of in given.items()
        ]
        return NamedBytes("side", json.dumps(rows).encode())

    listed = NamedBytes("notes", json.dumps([{"identifier": name, "text": text} for name in "abc"]).encode())
    found = load_files(PHI, Inputs(side(gold), side(predicted, sure), listed if notes else None))
    assert not found.faulty("gold", "predictions")
    return found


def three(notes: bool = True) -> Loaded:
    return loaded({"a": GOLD, "b": [(0, 2, "C")], "c": []}, {"a": PREDICTED}, notes=notes)


def sides(of: Loaded | None = None) -> Sides:
    return Chunks(of or three())[0]


def counted(name: str, of: Loaded | None = None) -> tuple[list[list[int]], dict[str, list[int]] | None]:
    """tp, fp, fn of each note, and of each label."""
    given = of or three()
    (found,) = challenge_measures.count_all(
        PHI, sides(given), given.dataset.vocabulary.names, [parse_measure(name)], None
    )
    names = given.dataset.vocabulary.names
    per_label = None if found.per_label is None else dict(zip(names, found.per_label.tolist(), strict=True))
    return found.per_note.tolist(), per_label


def parse_measure(written: str) -> Any:
    return next(one for one in measures_for(PHI, (written,)) if str(one) == written)


@pytest.mark.parametrize("notes", [True, False])
@pytest.mark.parametrize(
    ("measure", "tp", "labels"),
    [
        # 0, two of 10, 30
        ("instance_strict", 4, {"A": [1, 4, 2], "B": [0, 2, 1], "C": [0, 0, 1]}),
        # and 20
        ("instance_relax", 5, {"A": [2, 3, 1], "B": [0, 2, 1], "C": [0, 0, 1]}),
        # and the third of 10
        ("instance_relax(relax=4)", 6, {"A": [2, 3, 1], "B": [1, 1, 0], "C": [0, 0, 1]}),
        ("instance_relax(relax=0)", 4, {"A": [1, 4, 2], "B": [0, 2, 1], "C": [0, 0, 1]}),
        ("instance_relax(boundary=both)", 5, {"A": [2, 3, 1], "B": [0, 2, 1], "C": [0, 0, 1]}),
        ("instance_relax(relax=10,boundary=both)", 6, {"A": [3, 2, 0], "B": [1, 1, 0], "C": [0, 0, 1]}),
        # one word an annotation
        ("token", 4, {"A": [1, 4, 2], "B": [0, 2, 1], "C": [0, 0, 1]}),
    ],
)
def test_spans(measure: str, tp: int, labels: dict[str, list[int]], notes: bool) -> None:
    per_note, per_label = counted(measure, three(notes))
    assert per_note[:2] == [[tp, 7 - tp, 6 - tp], [0, 0, 1]]
    if measure == "instance_relax(relax=10,boundary=both)":
        return  # which labels meet there is chosen among equals
    assert per_label == labels


def test_labels() -> None:
    """On 10 stand A, B and none against A and A: one is right, the other excused; so is the one on 30."""
    per_note, per_label = counted("type")
    assert per_note == [[1, 4, 3], [0, 0, 1], [0, 0, 0]]
    assert per_label == {"A": [1, 4, 2], "B": [0, 2, 1], "C": [0, 0, 1]}
    found = challenge_measures.count_all(PHI, sides(), three().dataset.vocabulary.names, [parse_measure("type")], None)
    # strict pairs that both carry a label: A against B on 0, A against A on 10, B against A on 10
    assert found[0].conditional == (1, 2)


def test_values_of_labels() -> None:
    given = sides()
    alike = np.array([1, 1, 0])  # A and B alike, C not
    assert challenge_counts.by_value(given, alike).per_note.tolist()[0] == [3, 3, 1]
    only_a = np.array([1, 0, 0])
    assert challenge_counts.among(given, 3, only_a).per_note.tolist() == [[1, 2, 2], [0, 0, 0], [0, 0, 0]]


def test_what_else_a_card_says() -> None:
    found = measured(PHI, three(), measures_for(PHI, ()), None)
    # six predictions of seven have a partner or overlap one: 20 is too long, the third of 10 meets the third of gold
    assert found.errors == {"missed": 1, "spurious": 1, "boundary": 2, "wrong_label": 2}
    assert found.note_leak == 1 / 2
    assert [one.reason for one in found.counted] == [None] * len(found.counted)
    bare = measured(PHI, loaded({"a": [(0, 4, "")]}, {"a": [(0, 3, "A")]}), measures_for(PHI, ()), None)
    assert [one.reason for one in bare.counted if str(one.measure) == "type"] == ["gold carries no type"]
    assert bare.note_leak == 1
    assert measured(PHI, loaded({"a": []}, {"a": [(0, 3, "A")]}), measures_for(PHI, ()), None).note_leak is None
    whole = measured(PHI, loaded({"a": [(0, 4, "A")]}, {"a": [(0, 2, "A"), (2, 3, "A")]}), measures_for(PHI, ()), None)
    assert (whole.note_leak, whole.errors["boundary"]) == (0, 1)
    assert measured(PHI, three(), measures_for(PHI, ()), None, jobs=2).errors == found.errors


def test_parts_of_a_data_set() -> None:
    parts = Chunks(three(), 1)
    assert [(parts[number].first, parts[number].notes) for number in range(len(parts))] == [(0, 1), (1, 2)]
    assert [len(parts[number].gold) for number in range(len(parts))] == [6, 1]
    assert len(Chunks(three())) == 1


def test_tokens_of_several_words() -> None:
    text = "ab cd ef gh ij"
    # gold ab cd | gh    predicted ab | cd ef | gh
    given = loaded({"a": [(0, 5, "A"), (9, 2, "B")]}, {"a": [(0, 2, "A"), (3, 5, "B"), (9, 2, "B")]}, text=text)
    per_note, per_label = counted("token", given)
    assert per_note[0] == [3, 1, 0]
    assert per_label == {"A": [1, 0, 1], "B": [1, 2, 0]}
    assert tokens_left(sides(given), np.array([False, True])).per_note(3).tolist() == [2, 0, 0]
    repeated = loaded({"a": [(0, 5, "A"), (0, 2, "B")]}, {"a": [(0, 5, "A"), (0, 2, "A"), (0, 8, "B")]}, text=text)
    assert counted("token", repeated)[0][0] == [3, 3, 0]


def test_texts_are_compared_where_there_are_no_notes() -> None:
    side = {"annotationSource": {"resourceSource": {"name": "a"}}}

    def file(*texts: str) -> NamedBytes:
        rows = [{"start": 0, "length": len(text), "text": text, "type": "A"} for text in texts]
        return NamedBytes("side", json.dumps([side | {PHI.array: rows}]).encode())

    given = load_files(PHI, Inputs(file("ab cd"), file("ab ce")))
    assert counted("instance_strict", given)[0] == [[0, 1, 1]]
    assert counted("token", given)[0] == [[1, 1, 1]]
    several = load_files(PHI, Inputs(file("ab cd", "ab cd"), file("ab cd", "ab ce")))
    assert counted("instance_strict", several)[0] == [[1, 1, 1]]


def test_partners_among_sorted_keys() -> None:
    def numbers(*values: int) -> Any:
        return np.array(values, np.int64)

    assert paired(numbers(1, 2, 2, 5), numbers(1, 1, 2, 2, 2, 6)).tolist() == [True, False, True, True, False, False]
    assert paired(numbers(), numbers(1)).tolist() == [False]
    assert paired(numbers(1), numbers()).tolist() == []
    assert repeats(numbers(1, 2, 2, 3)).tolist() == [False, True, True, False]
    joined = join(numbers(1, 2, 2, 5, 7), numbers(1, 2, 5, 5, 6))
    assert (joined.gold.tolist(), joined.predicted.tolist()) == ([0], [0])
    assert (joined.crowded_gold.tolist(), joined.crowded_predicted.tolist()) == ([1, 2, 3], [1, 2, 3])
    nothing = join(numbers(), numbers(1))
    assert (nothing.gold.tolist(), nothing.predicted.tolist(), nothing.crowded_gold.tolist()) == ([], [], [])
    assert join(numbers(1), numbers()).predicted.tolist() == []
    assert per_group(np.array([True, False, True, True]), numbers(1, 0, 3)).tolist() == [1, 0, 2]


def test_keys_of_several_fields() -> None:
    keys = packed([np.array([1, 0, 1]), np.array([5, 7, 5])], 2)
    more = keys.plus(np.array([2, 2, 3]), 4)
    assert more.keys[0] != more.keys[2]
    assert keys.keys[0] == keys.keys[2]
    assert (keys.split, more.size) == (2, keys.size * 4)
    assert keys.where(np.array([True, False, True])).split == 1
    assert keys.where(np.array([True, True, True])) is keys
    huge = packed([np.array([1, 0, 1]) << 40], 2).plus(np.array([3, 2, 3]), 1 << 40)
    assert (huge.keys[0] == huge.keys[2], huge.keys[0] > huge.keys[1]) == (True, True)


def test_relaxed_pairs_are_as_many_as_can_be() -> None:
    # lengths 4, 6 against 5, 3 within 1: 4 with 3, 6 with 5
    given = loaded({"a": [(0, 4, "A"), (0, 6, "A")]}, {"a": [(0, 5, "A"), (0, 3, "A")]})
    assert counted("instance_relax(relax=1)", given)[0][0] == [2, 0, 0]
    assert counted("instance_relax(relax=0)", given)[0][0] == [0, 2, 2]
    far = relaxed_match.near_boundaries(
        np.array([0, 0, 0, 1]), 2, np.array([0, 10, 1, 0]), np.array([5, 15, 4, 5]), 2, 1
    )
    assert far.tolist() == [1, 0]


def test_overlapping_pairs_one_to_one() -> None:
    assert error_kinds.overlapping_pairs([(0, 4), (3, 9)], [(2, 3), (8, 12), (8, 9)]) == 2
    assert error_kinds.overlapping_pairs([(0, 4)], [(4, 6)]) == 0
    assert error_kinds.overlapping_pairs([(0, 10)], [(1, 3), (4, 6)]) == 1


def test_notes_in_which_something_stays_uncovered() -> None:
    """In a 1 to 5 lies under 0 to 4 and 3 to 6 together; in b and c one character does not, the first or the last."""
    gold: dict[str, list[Row]] = {"a": [(1, 4, "A"), (8, 2, "A")], "b": [(0, 3, "A")], "c": [(5, 4, "A")]}
    predicted: dict[str, list[Row]] = {
        "a": [(0, 4, "A"), (3, 3, "A"), (8, 3, "A")],
        "b": [(1, 3, "A")],
        "c": [(4, 4, "A"), (9, 1, "A")],
    }
    assert error_kinds.leaking_notes(sides(loaded(gold, predicted))) == 2
    assert error_kinds.leaking_notes(sides(loaded({"a": gold["a"]}, {"a": predicted["a"][1:]}))) == 1
    assert error_kinds.leaking_notes(sides(loaded({"c": gold["c"]}, {"c": [(4, 2, "A"), (6, 3, "A")]}))) == 0
    assert error_kinds.leaking_notes(sides(loaded(gold, {}))) == 3


@pytest.mark.parametrize(("gold", "predicted"), [(True, False), (False, True), (True, True), (False, False)])
def test_the_kernel_is_told_whether_gold_has_entities(gold: bool, predicted: bool) -> None:
    rows: dict[str, list[Row]] = {"a": [(0, 4, "A")]}
    given, asked = loaded(rows, rows), list[tuple[int, int, bool]]()
    for role, there in (("gold", gold), ("predictions", predicted)):
        if there:
            given.columns[role] = given.columns[role].replace(entity=small_of([0]))

    def rooms(notes: int, golds: int, *, entities: bool) -> None:
        asked.append((notes, golds, entities))

    library = kernel()
    assert library is not None
    counts = kernel_counts(library, given, Chunks(given).files, [], 0, rooms)  # type: ignore[arg-type]
    assert counts is not None
    counts.count(0, 3)
    assert asked == [(3, 1, gold)]


@pytest.mark.parametrize("part", [1, 2])
def test_a_curve_of_two_levels(part: float) -> None:
    """Of two gold annotations one is found at 90, and nothing more at 45: precision 1 and then 1/2, recall 1/2."""
    given = loaded({"a": [(0, 4, "A"), (10, 2, "A")]}, {"a": [(0, 4, "A"), (20, 3, "A")]}, sure=(90 / part, 45 / part))
    found = measured(PHI, given, measures_for(PHI, ()), None).confidence
    assert found.curve is not None
    assert [tuple(row) for row in found.curve] == [(90 / part, 1.0, 0.5), (45 / part, 0.5, 0.5)]
    assert (found.average_precision, found.best_threshold) == (0.5, 90 / part)


# Measures of documents


def document(gold: list[tuple[int, int]], predicted: list[tuple[int, int]], text: str | None = TEXT) -> Document:
    def side(spans: list[tuple[int, int]]) -> tuple[Annotation, ...]:
        return tuple(Annotation(start, end - start, TEXT[start:end], None, None) for start, end in spans)

    return Document("n", text, side(gold), side(predicted), None)


def test_a_formula_of_components() -> None:
    class Half(DocumentMeasure):
        name = "half"
        formula = "ratio(right, right + wrong)"

    assert Half.fault() is None or "formula" in str(Half.fault())
    shown = DocumentMeasure.score({"tp": 1, "fp": 1}, {})
    assert (shown["tp"], shown["fp"], shown["fn"]) == (1, 1, 0)
    assert shown["score"] == pytest.approx(2 / 3)


def test_shares_that_are_covered() -> None:
    settings = OverlapCredit.settle(parse("overlap", lambda _: OverlapCredit, "measure"))
    # gold 0-10 12-13 against 0-5 5-13: of gold 10 of 10 and 1 of 1 are covered; of predictions 5 of 5 and 5 of 8
    found = OverlapCredit.count(document([(0, 10), (12, 13)], [(0, 5), (5, 13)]), settings)
    assert found == {"gold": 2, "predicted": 2, "rtp/10": 10, "rtp/1": 1, "ptp/5": 5, "ptp/8": 5}
    shown = OverlapCredit.score(found, settings)
    assert (shown["rtp"], shown["ptp"], shown["recall"], shown["precision"]) == (2, 1 + 5 / 8, 1, (1 + 5 / 8) / 2)
    assert OverlapCredit.score({"gold": 1}, settings)["f1"] == 0
    assert OverlapCredit.score({}, settings)["f1"] is None
    other = OverlapCredit.settle(parse("overlap(recall=max,precision=sum)", lambda _: OverlapCredit, "measure"))
    found = OverlapCredit.count(document([(0, 10), (12, 13)], [(0, 5), (5, 13)]), other)
    assert (found["rtp/10"], found["ptp/8"]) == (5, 6)
    tangled = document([(0, 10), (1, 3)], [(4, 6)])
    assert OverlapCredit.warn([tangled], settings)
    assert not OverlapCredit.warn([document([(0, 10)], [(4, 6)])], settings)


def test_intersection_over_union() -> None:
    def tp(written: str, *spans: Any) -> int:
        settings = IntersectionOverUnion.settle(parse(written, lambda _: IntersectionOverUnion, "measure"))
        return IntersectionOverUnion.count(document(*spans), settings)["tp"]

    assert tp("iou", [(0, 4)], [(2, 6)]) == 0  # 2 of 6
    assert tp("iou(threshold=0.33)", [(0, 4)], [(2, 6)]) == 1
    assert tp("iou", [(0, 4)], [(0, 8)]) == 1  # 4 of 8
    assert tp("iou", [(0, 4), (0, 4)], [(0, 4)]) == 1
    assert tp("iou(threshold=0)", [(0, 4)], [(4, 8)]) == 0


def test_mentions_as_neleval_names_them() -> None:
    assert Mention("d", 1, 2, None).printed == "Annotation('d', 1, 2, [])"
    assert Mention("d", 1, 2, "A").printed == "Annotation('d', 1, 2, [<'NIL'>])"
    rows = [
        {"start": 3, "length": 2, "text": ""},
        {"start": 0, "length": 1, "text": ""},
        {"start": 0, "length": 4, "text": ""},
    ]
    record = {"annotationSource": {"resourceSource": {"name": "x/n"}}, PHI.array: rows}
    assert [(one.docid, one.start, one.end) for one in mentions([record], PHI)] == [
        ("n", 0, 3),
        ("n", 0, 0),
        ("n", 3, 4),
    ]
    sums = credit_sums([Mention("d", 0, 4, "A")], [Mention("d", 0, 1, "B"), Mention("d", 3, 3, "A")], typed=False)
    assert sums == {("system", "max"): 2 / 5, ("system", "sum"): 3 / 5, ("gold", "max"): 2, ("gold", "sum"): 2}
    sums = credit_sums([Mention("d", 0, 4, "A")], [Mention("d", 0, 1, "B"), Mention("d", 3, 3, "A")], typed=True)
    assert sums == {("system", "max"): 1 / 5, ("system", "sum"): 1 / 5, ("gold", "max"): 1, ("gold", "sum"): 1}


@pytest.mark.parametrize("far", [0, 2**60, 2**70])
def test_who_can_meet_at_all(far: int) -> None:
    """Offsets of any size: notes are laid end to end, in Python's own integers where machine integers do not hold."""
    rows = [[(far, 4), (far + 3, 4), (far + 20, 2)], [(far + 2, 2), (far + 6, 9), (far + 22, 1)]]
    task_rows = [
        [
            {
                "annotationSource": {"resourceSource": {"name": note}},
                PHI.array: [{"start": s, "length": n} for s, n in side],
            }
            for note in "ab"
        ]
        for side in rows
    ]
    columns = greedy_pairing.of_records((), PHI, *task_rows)
    true, found = greedy_pairing.meeting(columns.gold, columns.predictions)
    pairs = list(zip(found.tolist(), true.tolist(), strict=True))
    assert pairs == [(0, 0), (0, 1), (1, 1), (3, 3), (3, 4), (4, 4)]
    assert (columns.notes, columns.labels) == (["a", "b"], ["NONE"])


def test_pairs_as_nervaluate_sees_them() -> None:
    """Gold 0-10 and 20-24 against 2-10, 0-5, 0-10, 23-30: who may take whom, how far apart, and what is decided."""
    columns = greedy_pairing.of_documents([document([(0, 10), (20, 24)], [(2, 10), (0, 5), (0, 10), (23, 30)])])
    pairs = greedy_pairing.find_pairs(columns, 1.0)
    assert (pairs.gold.tolist(), pairs.prediction.tolist()) == ([0, 0, 0, 1], [0, 1, 2, 3])
    assert pairs.same_bounds.tolist() == [False, False, True, False]
    assert pairs.distance.tolist() == [2, 5, 0, 9]
    # shares of gold: 8, 5 and 10 of 10, 1 of 4
    for least, enough in ((25.0, [True, True, True, True]), (26.0, [True, True, True]), (80.1, [True])):
        assert greedy_pairing.find_pairs(columns, least).enough.tolist() == enough
    outcomes = greedy_pairing.resolve_all(pairs, 2, 4)
    strict = outcomes["strict"]
    assert strict.state.tolist() == [greedy_pairing.OTHER, 0, 0, greedy_pairing.OTHER]
    assert strict.taken.tolist() == [True, True]
    kinds = outcomes["ent_type"]
    assert kinds.state.tolist() == [greedy_pairing.CORRECT, 0, 0, greedy_pairing.CORRECT]
    turned = greedy_pairing.of_documents([document([(0, 10)], [(0, 10), (2, 10)])])
    found = greedy_pairing.find_pairs(turned, 1.0)
    exact = greedy_pairing.resolve_all(found, 1, 2)["exact"]
    assert exact.state.tolist() == [greedy_pairing.CORRECT, 0]


def test_general_measures_on_a_card() -> None:
    (found,) = count_general([parse_measure("iou")], three())
    assert found.per_note is not None
    assert [row[0] for row in found.per_note] == [found.shown["tp"], 0, 0]
    assert found.in_counts


def test_what_is_made_stays_as_it_is() -> None:
    assert changeable("measures") == {"_Walk"}
