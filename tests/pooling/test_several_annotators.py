"""Gold of several annotators: counts are sums over them, and how well they agree is said beside them.

Two notes of one patient each, by hand; annotator A sees both, B only the first.

    n1  Ann Berg saw Tom Lee      A: [Ann Berg] [Tom Lee]   B: [Berg] [Tom Lee]   masked: [Berg] [Tom]
    n2  Eva was here              A: [Eva]                  B: no entry           masked: nothing
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.running import sandscore
from corpora import corpora
from example_numbers import up_to
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scoring_helpers import card_of
from statsmodels.stats.inter_rater import cohens_kappa as their_kappa

import sandscore as ss
from sandscore.ranking.board_building import rank
from sandscore.ranking.card_reading import card_entry
from sandscore.records.annotator_agreement import AnnotatorPair, agreement_of, cohens_kappa
from sandscore.records.ranking_rules import BoardRules
from sandscore.records.scorecard import RatioScore, Scorecard
from sandscore.scoring.card_building import dumped
from sandscore.task_table.task import TASKS, find_task

PHI = find_task("phi")
NOTES = [
    {"identifier": "n1", "patientId": "p1", "text": "Ann Berg saw Tom Lee"},
    {"identifier": "n2", "patientId": "p2", "text": "Eva was here"},
]
A = {"n1": [(0, 8), (13, 20)], "n2": [(0, 3)]}
B = {"n1": [(4, 8), (13, 20)]}
MASKS = {"n1": [(4, 8), (13, 16)], "n2": []}
SLOWLY = settings(max_examples=up_to(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
ASKED = (
    *("char_leak", "mention_leak", "note_leak", "patient_leak", "entity_leak(by=text)", "char_precision", "over_mask"),
    *("over_mask_words", "clean_notes_touched", "char_f", "iou", "char_leak(unit=content)"),
)


def records(spans: dict[str, list[tuple[int, int]]], entity: str | None = None) -> list[dict[str, Any]]:
    texts = {note["identifier"]: note["text"] for note in NOTES}
    return [
        {
            "annotationSource": {"resourceSource": {"name": note}},
            PHI.array: [
                {"start": s, "length": e - s, "text": texts[note][s:e], "type": "PATIENT"}
                | ({"entityId": entity} if entity else {})
                for s, e in found
            ],
        }
        for note, found in spans.items()
    ]


def scored(gold: Any, *measures: str) -> Scorecard:
    return ss.score("phi", gold=gold, predictions=records(MASKS), notes=NOTES, measures=measures).card


def share(card: Scorecard, measure: str) -> tuple[int, int]:
    found = card.measures[measure]
    assert isinstance(found, RatioScore)
    return found.n, found.of


def test_counts_are_sums_over_annotators() -> None:
    """A: of 3 names none is found exactly, 2 masks are wrong. B: of 2 one is, of 2 masks one is wrong."""
    card = scored([records(A), records(B)], *ASKED)
    strict = card.measures["instance_strict"]
    assert (strict.tp, strict.fp, strict.fn) == (0 + 1, 2 + 1, 3 + 1)
    assert {note: rows["instance_strict"] for note, rows in card.per_note.items()} == {"n1": (1, 3, 3), "n2": (0, 0, 1)}
    # A's names have 8 + 7 + 3 characters, of which "Ann ", " Lee" and "Eva" are open; B's 4 + 7, of which " Lee" is
    assert share(card, "char_leak") == (4 + 4 + 3 + 4, 18 + 11)
    assert share(card, "mention_leak") == (3 + 1, 3 + 2)
    assert share(card, "note_leak") == (2 + 1, 2 + 1)
    assert share(card, "patient_leak") == (2 + 1, 2 + 1)
    assert card.per_unit["p1"]["patient_leak"] == (2, 2)
    assert card.per_unit["p2"]["patient_leak"] == (1, 1)
    # the texts have 20 + 12 characters for A and 20 for B: nothing is masked that is not gold
    assert share(card, "over_mask") == (0, 5 + 9 + 9)
    assert (card.notes, card.gold_annotations, list(card.units)) == (2, 5, ["n1", "n2"])


def test_the_bound_counts_each_patient_once() -> None:
    """Two of two patients leak to somebody; asked twice, two patients remain two: as sure as with one annotator."""
    one, twice = scored(records(A), "patient_leak"), scored([records(A), records(A)], "patient_leak")
    assert share(twice, "patient_leak") == (4, 4)
    bounds = [card.per_label["PATIENT"]["patient_leak"]["bound"] for card in (one, twice)]
    assert bounds[0] == bounds[1]
    first, second = (card.measures["patient_leak"] for card in (one, twice))
    assert isinstance(first, RatioScore)
    assert isinstance(second, RatioScore)
    assert (first.bound, first.by_class["direct"].bound) == (second.bound, second.by_class["direct"].bound)


def test_entities_of_two_annotators_are_two() -> None:
    """One entity each, whatever it is called: A's leaks, and so does B's."""
    card = scored([records(A, "e1"), records(B, "e1")], "entity_leak")
    # A's e1 has mentions of two patients, hence two entities
    assert share(card, "entity_leak") == (3, 3)


def test_how_well_they_agree() -> None:
    """On n1: B finds one of A's two names and another. Words Ann, Berg, saw, Tom, Lee: both have the last two and
    Berg, A alone Ann, nobody saw: kappa = (5 * 4 - (4 * 3 + 1 * 2)) / (25 - 14) = 6 / 11."""
    agreement = scored([records(A), records(B)]).agreement
    assert agreement is not None
    assert (agreement.annotators, agreement.strict_f1, agreement.token_kappa) == (2, 0.5, 6 / 11)
    (pair,) = agreement.pairs
    assert pair.model_dump(exclude={"first", "second", "f1", "kappa"}) == {
        **dict.fromkeys(("notes", "tp", "fp", "fn"), 1),
        "tokens": (3, 1, 0, 1),
    }
    assert (pair.first, pair.second, pair.f1, pair.kappa) == (1, 2, 0.5, 6 / 11)
    assert scored([records(A)]).agreement is None


@given(st.tuples(*[st.integers(0, 40)] * 4))
def test_kappa_is_that_of_statsmodels(table: tuple[int, int, int, int]) -> None:
    ours = cohens_kappa(table)
    if ours is None:
        assert max(table) == sum(table)
        return
    theirs = their_kappa(np.array(table).reshape(2, 2), return_results=False)
    assert ours == pytest.approx(theirs, abs=1e-12)


def test_of_three_annotators_the_mean_of_every_two() -> None:
    spans, words = [(1, 0, 0), (1, 1, 1), (0, 2, 1)], [(3, 0, 0, 3), (2, 1, 1, 2), (4, 0, 0, 0)]
    pairs = [
        AnnotatorPair(first=1, second=2, notes=1, tp=tp, fp=fp, fn=fn, f1=None, tokens=one, kappa=cohens_kappa(one))
        for (tp, fp, fn), one in zip(spans, words, strict=True)
    ]
    found = agreement_of(3, pairs)
    assert found.strict_f1 == 4 / (4 + 3 + 2)
    assert found.token_kappa == pytest.approx((1 + 1 / 3) / 2)  # the third pair has nothing to disagree on


@pytest.mark.parametrize("task", TASKS.values(), ids=str)
@given(data=st.data())
@SLOWLY
def test_every_measure_is_the_sum_of_the_annotators(task: Any, data: st.DataObject) -> None:
    """Counts note by note and patient by patient, of everything that has any; and nothing changes with one's share."""
    notes = data.draw(corpora(task))
    second = [note | {"gold": [a for a in note["gold"] if data.draw(st.booleans())]} for note in notes]
    alone = [card_of(task, one, ASKED) for one in (notes, second)]
    both = card_of(task, notes, ASKED, others=[second])
    for field in ("per_note", "per_unit"):
        tables = [getattr(card, field) for card in (*alone, both)]
        for one, rows in tables[2].items():
            for name, row in rows.items():
                assert row == tuple(np.add(*(table[one][name] for table in tables[:2]))), (one, name)
    assert both.agreement is not None
    assert both.agreement.pairs[0].tokens == words_by_hand(notes, second)


def words_by_hand(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> tuple[int, ...]:
    """Words that both have annotated, one alone, the other alone, neither."""
    table = [0, 0, 0, 0]
    for first, second in zip(one, other, strict=True):
        at = 0
        for word in first["text"].split():
            begin = first["text"].index(word, at)
            at = begin + len(word)
            said = [
                any(a["start"] < at and begin < a["start"] + a["length"] for a in note["gold"])
                for note in (first, second)
            ]
            table[3 - 2 * said[0] - said[1]] += 1
    return tuple(table)


def test_gold_that_is_shared_out_counts_as_that_of_one() -> None:
    """Each note has one reader; a note without any is the first one's, as it is with one annotator."""
    whole = scored(records(A), "char_leak", "over_mask", "iou")
    first, second = records({"n1": A["n1"]}), records({"n2": A["n2"]})
    apart = scored([first, second], "char_leak", "over_mask", "iou")
    assert dict(apart.per_note) == dict(whole.per_note)
    assert {name: score.ranked for name, score in apart.measures.items()} == {
        name: score.ranked for name, score in whole.measures.items()
    }
    assert apart.agreement is not None
    assert (apart.agreement.strict_f1, apart.agreement.pairs[0].notes) == (None, 0)
    unread = scored([first, records({"n1": []})], "over_mask")
    assert dict(unread.per_note)["n2"]["over_mask"] == (0, 12)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    content = {"notes": NOTES, "a": records(A), "b": records(B), "masks": records(MASKS), "bad": [{"x": 1}]}
    for name, value in content.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return {name: str(tmp_path / f"{name}.json") for name in content}


def run(files: dict[str, str], *more: str, golds: str = "ab", notes: bool = True) -> tuple[int, str]:
    given = [word for name in golds.split() or golds for word in ("--gold", files[name])]
    noted = ("--notes", files["notes"]) if notes else ()
    ran = sandscore("score", "phi", *given, "--predictions", files["masks"], *noted, *more)
    return ran.code, ran.out + ran.err


def test_on_the_command_line(files: dict[str, str], tmp_path: Path) -> None:
    card = tmp_path / "card.json"
    code, told = run(files, "-o", str(card), golds="a b")
    assert code == 0
    assert "gold of 2 annotators, added up; they agree with each other: strict F1 0.500, kappa of words 0.545" in told
    by_call = ss.score("phi", gold=[files["a"], files["b"]], predictions=files["masks"], notes=files["notes"]).card
    assert card.read_bytes() == dumped(by_call)


@pytest.mark.parametrize(
    ("golds", "notes", "more", "code", "said"),
    [
        ("a b", False, (), 2, "needs --notes"),
        ("a b", True, ("--profile", "semeval"), 2, "goes with one task and our own profile"),
        ("a b", True, ("--errors", "errors"), 2, "score against one of them"),
        ("a bad", True, (), 78, "bad.json or the notes are not valid"),
    ],
)
def test_what_is_refused(
    golds: str, notes: bool, more: tuple[str, ...], code: int, said: str, files: dict[str, str]
) -> None:
    found = run(files, *more, golds=golds, notes=notes)
    assert found[0] == code
    assert said in found[1]


def test_standard_input_is_one_annotators_at_most(files: dict[str, str]) -> None:
    code, said = run(files | {"stdin": "-"}, golds="stdin stdin")
    assert (code, "standard input (-) can be read only once" in said) == (2, True)


def test_the_board_says_it_and_a_forged_one_is_refused() -> None:
    card = scored([records(A), records(B)]).model_copy(update={"submission": "s1", "dataset": "d"})
    board = rank([card_entry(dumped(card), "s1.json")], BoardRules(headline="instance_strict", resamples=100))
    assert board.agreement["d"].model_dump() == {"annotators": 2, "strict_f1": 0.5, "token_kappa": 6 / 11}
    forged = json.loads(dumped(card))
    forged["agreement"]["token_kappa"] = 0.99
    with pytest.raises(Exception, match="does not follow from its own counts"):
        card_entry(json.dumps(forged).encode(), "s1.json")
