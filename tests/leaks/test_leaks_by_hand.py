"""Leaks counted by hand: one fixture of four notes, and what each rule makes of the smallest case that shows it.

Fixture, masks and gold as [start, end): n1 (patient A, 40 characters) NAME [0,9) e1, DATE [20,30) e2, masked [0,4)
[20,30) [35,38); n2 (A, 30) NAME [5,9) e1, ID [7,12) e3, masked [5,9); n3 (B, 20) DATE [0,5) e4, masked [0,8); n4
(C, 10) no gold, masked [2,9). NAME and ID are direct, DATE is quasi.
"""

from pathlib import Path

import pytest
from leak_corpora import CLASSES, MaskedNote, card_of, loaded, of_length, share, weights_file

from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.disclosure.keyed_names import published
from sandscore.leaks.leak_bounds import exact_upper
from sandscore.records.scorecard import MeasureScore, RatioScore
from sandscore.scoring.card_building import Question, score
from sandscore.task_table.task import find_task

FIXTURE = (
    MaskedNote("n1", "A", of_length(40), [(0, 9, "NAME", "e1"), (20, 30, "DATE", "e2")], [(0, 4), (20, 30), (35, 38)]),
    MaskedNote("n2", "A", of_length(30), [(5, 9, "NAME", "e1"), (7, 12, "ID", "e3")], [(5, 9)]),
    MaskedNote("n3", "B", of_length(20), [(0, 5, "DATE", "e4")], [(0, 8)]),
    MaskedNote("n4", "C", of_length(10), [], [(2, 9)]),
)
EVERY = {
    "char_leak": (8, 31),
    "char_leak(class=direct)": (8, 16),
    "char_leak(class=quasi)": (0, 15),
    "mention_leak": (2, 5),
    "mention_leak(part=full)": (0, 5),
    "entity_leak": (2, 4),
    "entity_leak(class=direct)": (2, 2),
    "entity_leak(class=quasi)": (0, 2),
    "note_leak": (2, 3),
    "patient_leak": (1, 2),
    "patient_leak(class=direct)": (1, 1),
    "patient_leak(quasi=1)": (0, 2),
    "patient_leak(quasi=2)": (0, 0),
    "char_precision": (23, 36),
    "over_mask": (13, 69),
    "clean_notes_touched": (1, 1),
}


def ratio_of(card: object, measure: str) -> RatioScore:
    found = card.measures[measure]  # type: ignore[attr-defined]
    assert isinstance(found, RatioScore)
    return found


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_fixture(jobs: int) -> None:
    card = card_of(FIXTURE, *EVERY, jobs=jobs)
    assert {measure: share(card, measure) for measure in EVERY} == EVERY
    assert card.note_leak == pytest.approx(2 / 3)
    assert ratio_of(card, "patient_leak(quasi=2)").value is None


def test_by_label_and_class() -> None:
    """DATE 0 of 15, NAME 5 of 13, ID 3 of 5: 33 and not 31, two characters being NAME and ID."""
    card = card_of(FIXTURE, "char_leak", "mention_leak", "entity_leak", "patient_leak")
    told = {label: row["char_leak"] for label, row in card.per_label.items() if "char_leak" in row}
    assert told == {"NAME": {"n": 5, "of": 13}, "ID": {"n": 3, "of": 5}, "DATE": {"n": 0, "of": 15}}
    assert card.per_label["NAME"]["mention_leak"] == {"n": 1, "of": 2}
    assert card.per_label["NAME"]["entity_leak"] == {"n": 1, "of": 1}
    by_class = ratio_of(card, "char_leak").by_class
    assert {name: (row.n, row.of) for name, row in by_class.items()} == {
        "direct": (8, 16),
        "quasi": (0, 15),
        "none": (0, 0),
    }
    # three labels at once: 1 - (.05 / 3) ** (1 / 2) of two patients, none of whom leaks a date
    dates = card.per_label["DATE"]["patient_leak"]
    assert dates["bound_level"] == pytest.approx(1 - 0.05 / 3)
    assert dates["bound"] == pytest.approx(1 - (0.05 / 3) ** 0.5)
    quasi = ratio_of(card, "patient_leak").by_class["quasi"]
    assert quasi.bound == pytest.approx(1 - 0.025**0.5)
    classes = ratio_of(card, "patient_leak").by_class.values()
    assert [row.bound_level for row in classes] == [pytest.approx(0.975) if row.of else None for row in classes]
    assert {row.bound_level for row in by_class.values()} == {None}


def test_means_over_notes_and_patients() -> None:
    means = ratio_of(card_of(FIXTURE, "char_leak"), "char_leak").means
    assert means is not None
    assert means.notes == pytest.approx(92 / 399)
    assert means.patients == pytest.approx(2 / 13)
    assert (means.notes_of, means.patients_of) == (3, 2)
    assert means.patients_bound == pytest.approx(0.974679, abs=1e-6)


def test_f_of_characters(tmp_path: Path) -> None:
    """tp 23, fp 13, fn 8."""
    file = weights_file(tmp_path, NAME=10, ID=10, DATE=1)
    asked = ("char_f", "char_f(beta=1)", "char_f(beta=1/2)", f"char_f(weights={file})", f"char_leak(weights={file})")
    card = card_of(FIXTURE, *asked)
    f2, f1, half, weighed = (one for name, one in card.measures.items() if name.startswith("char_f"))
    assert isinstance(f2, MeasureScore)
    assert (f2.tp, f2.fp, f2.fn, f2.value, f2.formula) == (23, 13, 8, 0.71875, "f_beta(2)")
    assert [f1.ranked, half.ranked] == pytest.approx([46 / 67, 115 / 175])
    assert isinstance(weighed, MeasureScore)
    assert weighed.value == pytest.approx(115 / 192)
    assert weighed.formula is None
    leak = next(name for name in card.measures if name.startswith("char_leak"))
    assert leak.startswith("char_leak(weights=")
    assert str(tmp_path) not in leak
    assert share(card, leak) == (80, 195)


@pytest.mark.parametrize(
    ("leaking", "patients", "bound"),
    [
        *((1, 2, 0.974679), (0, 4, 0.527129), (4, 4, 1.0), (0, 1, 0.95), (0, 18, 0.153318), (0, 118, 0.025068)),
        *((0, 59, 0.049508), (0, 299, 0.009969), (2, 118, 0.052391), (3, 118, 0.064396), (5, 118, 0.087025)),
        *((1, 20, 0.216106), (1, 118, 0.039570)),
    ],
)
def test_exact_bounds(leaking: int, patients: int, bound: float) -> None:
    """One-sided 95 %, by SciPy's beta.ppf(0.95, x + 1, n - x)."""
    notes = [
        MaskedNote(f"n{at}", f"p{at}", "ab", [(0, 2, "NAME", None)], [(0, 2)][at < leaking :]) for at in range(patients)
    ]
    found = ratio_of(card_of(notes, "patient_leak"), "patient_leak")
    assert (found.n, found.of, found.bound_level) == (leaking, patients, 0.95)
    assert found.bound == pytest.approx(bound, abs=1e-6)
    assert found.ci is None


def test_two_sided_bounds_are_one_sided_ones_at_a_higher_level() -> None:
    """Upper ends of the two-sided 95 %, by SciPy's beta.ppf(0.975, x + 1, n - x)."""
    found = [exact_upper(leaking, 118, 0.975) for leaking in (0, 3)]
    assert found == pytest.approx([0.030778, 0.072502], abs=1e-6)


def test_content_and_graphemes() -> None:
    doctor = MaskedNote("n", "p", "Dr. Ann-Lee", [(0, 11, "NAME", None)], [(0, 2), (4, 7), (8, 11)])
    asked = [
        f"{name}{unit}" for name in ("char_leak", "mention_leak", "patient_leak") for unit in ("", "(unit=content)")
    ]
    card = card_of([doctor], *asked)
    assert [share(card, name) for name in asked] == [(3, 11), (0, 8), (1, 1), (0, 1), (1, 1), (0, 1)]
    jose = MaskedNote("n", "p", "Jose\u0301", [(0, 5, "NAME", None)], [(0, 4)])
    asked = ["char_leak", "char_leak(unit=graphemes)", "char_leak(unit=content)"]
    card = card_of([jose], *asked)
    assert [share(card, name) for name in asked] == [(1, 5), (1, 4), (1, 5)]


def test_no_gold() -> None:
    asked = (
        "char_leak",
        "mention_leak",
        "patient_leak",
        "entity_leak(by=text)",
        "char_precision",
        "over_mask",
        "char_f",
    )
    touched = card_of([MaskedNote("n", "p", of_length(10), [], [(2, 5)])], *asked)
    assert [share(touched, name) for name in asked[:-1]] == [(0, 0)] * 4 + [(0, 3), (3, 10)]
    assert touched.measures["char_f"].ranked == 0
    clean = card_of([MaskedNote("n", "p", of_length(10), [], [])], *asked)
    assert [share(clean, name) for name in asked[:-1]] == [(0, 0)] * 5 + [(0, 10)]
    assert clean.measures["char_f"].ranked is None


def test_nothing_is_masked() -> None:
    asked = ("char_leak", "mention_leak", "mention_leak(part=full)", "char_precision", "over_mask", "char_f")
    card = card_of([MaskedNote("n", "p", of_length(20), [(0, 9, "NAME", None)], [])], *asked)
    assert [share(card, name) for name in asked[:-1]] == [(9, 9), (1, 1), (1, 1), (0, 0), (0, 11)]
    assert card.measures["char_f"].ranked == 0


def test_masks_are_a_set() -> None:
    asked = (
        "char_leak",
        "char_precision",
        "over_mask",
        "char_f",
        "mention_leak",
        "over_mask_words",
        "char_leak(unit=graphemes)",
    )
    texts = "abc defgh ijklmno pq"
    cards = [
        card_of([MaskedNote("n", "p", texts, [(0, 11, "NAME", None)], masks)], *asked)
        for masks in ([(0, 9)], [(4, 9), (0, 4)], [(0, 9)] * 3)
    ]
    assert [card.measures["char_leak"].ranked for card in cards] == [2 / 11] * 3
    assert cards[0].measures["over_mask_words"] == cards[1].measures["over_mask_words"]
    assert all({n: cards[0].measures[n] for n in asked} == {n: card.measures[n] for n in asked} for card in cards)


def test_a_mention_is_what_stands_once() -> None:
    twice = [(0, 4, "NAME", "e1"), (0, 4, "NAME", "e1")]
    card = card_of([MaskedNote("n", "p", of_length(9), twice, [])], "mention_leak", "entity_leak", "char_leak")
    assert [share(card, name) for name in ("mention_leak", "entity_leak", "char_leak")] == [(1, 1), (1, 1), (4, 4)]
    others = [(0, 4, "NAME", "e1"), (0, 4, "NAME", "e5")]
    card = card_of([MaskedNote("n", "p", of_length(9), others, [])], "mention_leak", "entity_leak", "char_leak")
    assert [share(card, name) for name in ("mention_leak", "entity_leak", "char_leak")] == [(2, 2), (2, 2), (4, 4)]


def test_a_letter_of_three_thousand() -> None:
    notes = [MaskedNote(f"n{at}", "p", "x" * 1000, [(0, 1000, "NAME", "e")], [(int(at == 0), 1000)]) for at in range(3)]
    card = card_of(notes, "char_leak", "patient_leak")
    assert share(card, "char_leak") == (1, 3000)
    assert share(card, "patient_leak") == (1, 1)


def test_words_and_clinical_words(tmp_path: Path) -> None:
    """Words: Anna (gold), has, aspirin-induced, ASTHMA. Masked: Anna, the last letter of has, two letters of ASTHMA."""
    text = "Anna has aspirin-induced ASTHMA."
    vocabulary = tmp_path / "words.txt"
    vocabulary.write_text("asthma\naspirin-induced\n", encoding="utf-8")
    note = MaskedNote("n", "p", text, [(0, 4, "NAME", None)], [(0, 4), (7, 8), (25, 27)])
    card = card_of([note], "over_mask_words", f"clinical_loss(words={vocabulary})")
    lost = next(name for name in card.measures if name.startswith("clinical_loss"))
    assert (share(card, "over_mask_words"), share(card, lost)) == ((2, 3), (1, 2))


def test_entities_by_text() -> None:
    """Anna Lee, twice in two notes, in other case and with other blanks; John Price is not Dr Price."""
    one = MaskedNote(
        "n1", "p", "Anna Lee and Dr Price", [(0, 8, "NAME", None), (13, 21, "NAME", None)], [(0, 8), (13, 21)]
    )
    two = MaskedNote("n2", "p", "ANNA  LEE, John Price", [(0, 9, "NAME", None), (11, 21, "NAME", None)], [(11, 21)])
    card = card_of([one, two], "entity_leak(by=text)", "patient_leak(class=direct)")
    assert share(card, "entity_leak(by=text)") == (1, 3)
    with pytest.raises(OrganiserFault, match=r"entity_leak\(by=text\)"):
        card_of([one, two], "entity_leak")


def test_quasi_identifiers_act_together() -> None:
    """p1 leaks two dates, p2 one of two, p3 has only one."""
    gold = [(0, 2, "DATE", "d1"), (3, 5, "DATE", "d2")]
    notes = [MaskedNote("n1", "p1", of_length(9), gold, []), MaskedNote("n2", "p2", of_length(9), gold, [(0, 2)])]
    notes.append(MaskedNote("n3", "p3", of_length(9), gold[:1], []))
    card = card_of(notes, "patient_leak(quasi=1)", "patient_leak(quasi=2)")
    assert (share(card, "patient_leak(quasi=1)"), share(card, "patient_leak(quasi=2)")) == ((3, 3), (1, 2))


def test_what_is_refused(tmp_path: Path) -> None:
    some = MaskedNote("n", "p", of_length(9), [(0, 2, "DATE", "d1"), (3, 5, "DATE", None)], [])
    with pytest.raises(OrganiserFault, match="all have one, or none has"):
        card_of([some])
    with pytest.raises(OrganiserFault, match=r"'ODD'.*--class-map"):
        card_of(
            [FIXTURE[2], MaskedNote("x", "D", "abc", [(0, 1, "ODD", "e")], [])], "char_leak(class=quasi)", classes=None
        )
    with pytest.raises(UsageFault, match="leave out class=direct"):
        card_of(FIXTURE, "patient_leak(class=direct,quasi=2)")
    with pytest.raises(UsageFault, match="neither a number nor a ratio"):
        card_of(FIXTURE, "char_f(beta=two)")
    with pytest.raises(UsageFault, match="words=FILE"):
        card_of(FIXTURE, "clinical_loss")
    with pytest.raises(OrganiserFault, match="no weight for the label 'DATE'"):
        card_of(FIXTURE, f"char_leak(weights={weights_file(tmp_path, NAME=1, ID=1)})")
    bare = loaded(FIXTURE, with_notes=False)
    for measure in ("over_mask", "char_leak(unit=content)"):
        with pytest.raises(UsageFault, match="--notes"):
            score(Question(find_task("phi"), (measure,), classes=CLASSES), bare)
    card = score(Question(find_task("phi"), ("char_leak", "entity_leak"), classes=CLASSES), bare)
    assert (share(card, "char_leak"), share(card, "entity_leak")) == ((8, 31), (2, 5))


def test_a_published_card_names_no_patient() -> None:
    """The rows of patients go by the hashes that notes have as their patients."""
    card = published(card_of(FIXTURE, "patient_leak"), b"salt")
    assert not card.per_unit.keys() & {"A", "B", "C"}
    assert set(card.units.values()) == set(card.per_unit)
