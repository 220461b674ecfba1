"""The sets of the i2b2 2014 script; expected counts come from containers the script's rules under Python 2.7."""

import random

import pytest

from sandscore.profiles.i2b2.i2b2_columns import counts_of
from sandscore.profiles.i2b2.i2b2_sets import EVALUATIONS, compare, contents
from sandscore.profiles.i2b2.i2b2_tags import I2b2Tag, is_hipaa
from sandscore.records.counts import Counts

TEXT = "Seen in José at 98110 *** on 2/18."
BY_LABEL = {evaluation.label: evaluation for evaluation in EVALUATIONS}


def counts(label: str, gold: list[I2b2Tag], system: list[I2b2Tag]) -> Counts:
    return compare(BY_LABEL[label], contents(gold, TEXT), contents(system, TEXT))


def ending(*ends: int) -> list[I2b2Tag]:
    return [I2b2Tag("DATE", "DATE", 5, end) for end in ends]


@pytest.mark.parametrize(
    ("gold", "system", "expected"),
    [
        pytest.param(ending(10), ending(12), Counts(1), id="two characters off"),
        pytest.param(ending(10), ending(13), Counts(0, 1, 1), id="three characters off"),
        pytest.param(ending(10, 12, 14), ending(14), Counts(1, 0, 1), id="the middle tag vanishes"),
        pytest.param(ending(12, 10, 14), ending(14), Counts(1, 0, 0), id="both others vanish"),
        pytest.param(ending(12), ending(10, 13, 14), Counts(1, 0, 0), id="many to one is free"),
        pytest.param(ending(10, 14), ending(12), Counts(1, 0, 0), id="one tag has two partners"),
    ],
)
def test_relaxed_sets_depend_on_file_order(gold: list[I2b2Tag], system: list[I2b2Tag], expected: Counts) -> None:
    assert counts("Relaxed", gold, system) == expected


def test_strict_ignores_the_case_of_the_type_and_tokens_do_not() -> None:
    gold, system = [I2b2Tag("LOCATION", "CITY", 16, 21)], [I2b2Tag("LOCATION", "city", 16, 21)]
    assert counts("Strict", gold, system) == Counts(1)
    assert counts("Token", gold, system) == Counts(0, 1, 1)
    assert counts("HIPAA Strict", gold, system) == Counts(0, 0, 1)


def test_letters_beyond_ascii_separate_tokens() -> None:
    assert counts("Token", [I2b2Tag("LOCATION", "CITY", 8, 12)], [I2b2Tag("LOCATION", "CITY", 8, 11)]) == Counts(1)


def test_a_span_without_words_is_one_empty_token_at_its_end() -> None:
    stars, fewer = [I2b2Tag("ID", "SSN", 22, 25)], [I2b2Tag("ID", "SSN", 23, 25)]
    assert counts("Token", stars, fewer) == Counts(1)
    assert counts("Strict", stars, fewer) == Counts(0, 1, 1)


def test_binary_forgets_category_and_type() -> None:
    gold, system = [I2b2Tag("LOCATION", "CITY", 16, 21)], [I2b2Tag("LOCATION", "ZIP", 16, 21)]
    assert counts("Binary Strict", gold, system) == Counts(1)
    assert counts("Binary HIPAA Strict", gold, system) == Counts(1)
    assert counts("LOCATION Binary HIPAA Strict", gold, system) == Counts(0, 1, 1)


def test_binary_does_not_reach_the_category_phi() -> None:
    gold, system = [I2b2Tag("PHI", "CITY", 16, 21)], [I2b2Tag("PHI", "ZIP", 16, 21)]
    assert counts("Binary Strict", gold, system) == Counts(0, 1, 1)
    assert counts("Binary Token", gold, system) == Counts(1)


@pytest.mark.parametrize(
    ("category", "kind", "expected"),
    [
        ("LOCATION", "CITY", True),
        ("LOCATION", "CITYHALL", True),
        ("LOCATION", "city", False),
        ("LOCATION", "HOSPITAL", False),
        ("ID", "IDNUM", False),
        ("ID", "SSN", True),
        ("DATE", "", True),
        ("NAME", "DOCTOR", False),
        ("CONTACT", "URL", False),
        ("PROFESSION", "PROFESSION", False),
    ],
)
def test_hipaa_is_a_case_sensitive_prefix(category: str, kind: str, expected: bool) -> None:
    assert is_hipaa(I2b2Tag(category, kind, 0, 1)) is expected


def test_forty_two_evaluations_each_under_its_own_name() -> None:
    assert len(EVALUATIONS) == 42
    assert len({evaluation.label for evaluation in EVALUATIONS}) == 42
    assert len({evaluation.measure for evaluation in EVALUATIONS}) == 42


CATEGORIES = ("PHI", "NAME", "LOCATION", "ID", "DATE", "OTHER", "UNKNOWN")
KINDS = ("CITY", "city", "PATIENT", "SSN", "", "DATE", "straße", "Ssn", "PHONE")


def drawn_tags(rng: random.Random) -> list[I2b2Tag]:
    categories, kinds = CATEGORIES[: rng.choice((1, 7))], KINDS[: rng.choice((1, 2, 9))]
    starts = [rng.randint(0, 5) for _ in range(rng.choice((0, 2, 6, 6)))]
    return [I2b2Tag(rng.choice(categories), rng.choice(kinds), at, at + rng.randint(0, 6)) for at in starts]


def test_all_documents_at_once_count_what_each_counts() -> None:
    rng, common = random.Random(20261119), 0
    for _ in range(300):
        documents = [
            (drawn_tags(rng), drawn_tags(rng), "".join(rng.choices("ab 1é-.\n", k=rng.randint(0, 12))))
            for _ in range(rng.choice((0, 1, 3, 6)))
        ]
        found = counts_of(documents)
        assert found is not None
        sides = [(contents(gold, text), contents(system, text)) for gold, system, text in documents]
        for evaluation, rows in found.items():
            each = [compare(evaluation, *both) for both in sides]
            assert rows.tolist() == [[one.tp, one.fp, one.fn] for one in each]
        common += sum(int(found[BY_LABEL["Relaxed"]][number, 0]) for number in range(len(documents)))
    assert common > 100


@pytest.mark.parametrize("odd", [I2b2Tag("ID", "", -1, 2), I2b2Tag("ID", "", 3, 2), I2b2Tag("ID", "", 0, 2**70)])
def test_offsets_out_of_the_ordinary_go_one_by_one(odd: I2b2Tag) -> None:
    assert counts_of([([odd], [], TEXT)]) is None
    assert counts_of([([], [odd], TEXT)]) is None
