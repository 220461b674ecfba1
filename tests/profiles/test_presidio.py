"""The profile on notes: parameters, tags from annotations, and a warning wherever the original misleads."""

from typing import Any

import pytest

from sandscore.base.errors import UsageFault
from sandscore.measures.measure_syntax import parse
from sandscore.profiles.presidio import presidio_profile
from sandscore.profiles.presidio.presidio_tokens import library_tokens, tokens_of
from sandscore.profiles.profile import ProfileInput, ProfileResult
from sandscore.profiles.profile_registry import PROFILES
from sandscore.task_table.task import TASKS

MET = "John met Paris today."


def scored(
    gold: list[list[Any]],
    predictions: list[list[Any]],
    written: str = "presidio",
    texts: tuple[str | None, ...] = (MET,),
) -> ProfileResult:
    """Each side is a list of notes, each a list of annotations."""
    notes = [{"identifier": str(i), "text": text} for i, text in enumerate(texts) if text is not None]
    sides = [[record(str(i), spans) for i, spans in enumerate(side)] for side in (gold, predictions)]
    settings = presidio_profile.PresidioScorer.settle(parse(written, PROFILES.find, "profile"))
    return presidio_profile.evaluate(ProfileInput(TASKS["phi"], notes or None, sides[0], sides[1]), settings)


def record(note: str, spans: list[Any]) -> dict[str, Any]:
    return {"annotationSource": {"resourceSource": {"name": f"a/Note/{note}"}}, "textAnnotations": spans}


def span(text: str, kind: str, within: str = MET, **more: Any) -> dict[str, Any]:
    return {"start": within.index(text), "length": len(text), "text": text, "type": kind, **more}


def test_a_span_inside_a_word_is_as_long_as_the_word() -> None:
    result = scored([[span("John", "PERSON")]], [[span("Jo", "PERSON")]])
    assert (result.measures["pii"]["tp"], result.measures["pii"]["fp"]) == (1, 0)


def test_the_global_pass_ignores_types() -> None:
    result = scored([[span("John", "PERSON")]], [[span("John", "LOCATION")]])
    assert result.measures["pii"]["recall"] == 1.0
    assert result.details["per_type"]["PERSON"]["recall"] == 0.0
    assert result.details["per_type"]["LOCATION"]["recall"] is None
    assert result.details["confusion"]["labels"] == ["LOCATION", "PERSON", "O"]


def test_counts_per_note_add_up() -> None:
    gold = [[span("John", "PERSON")], [span("Paris", "LOCATION")]]
    result = scored(gold, [[span("John", "PERSON")], []], texts=(MET, MET))
    assert result.per_note == {"0": {"pii": (1, 0, 0)}, "1": {"pii": (0, 0, 1)}}
    assert [result.measures["pii"][name] for name in ("tp", "fp", "fn")] == [1, 0, 1]


def test_of_overlapping_spans_the_surer_one_gives_the_tag() -> None:
    both = [span("John met", "A", confidence=40), span("met Paris", "B", confidence=90)]
    gold = [[span("John", "A"), span("met Paris", "B")]]
    assert scored(gold, [both], "presidio(skip_words=none)").details["errors"] == {}


def test_a_card_carries_no_text() -> None:
    result = scored([[span("John", "PERSON")]], [[span("Paris", "LOCATION")]])
    assert result.details["errors"] == {"FN": 1, "FP": 2}
    assert "John" not in str(result.details)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        pytest.param("presidio(entities=LOCATION)", {"LOCATION"}, id="one"),
        pytest.param("presidio(entities=LOCATION|PERSON)", {"LOCATION", "PERSON"}, id="two"),
        pytest.param("presidio", {"LOCATION", "PERSON"}, id="all"),
    ],
)
def test_types_can_be_picked(written: str, found: set[str]) -> None:
    gold = [[span("John", "PERSON"), span("Paris", "LOCATION")]]
    assert set(scored(gold, gold, written).details["per_type"]) == found


@pytest.mark.parametrize(
    ("words", "annotated"), [("default", 1), ("none", 2), ("met", 1), ("of|met", 1), ("of|the", 2)]
)
def test_spans_merge_over_skip_words(words: str, annotated: int) -> None:
    text = "John and Mary" if words == "default" else MET
    second = "Mary" if words == "default" else "Paris"
    gold = [[span("John", "PERSON", text), span(second, "PERSON", text)]]
    result = scored(gold, gold, f"presidio(skip_words={words})", (text,))
    assert result.measures["pii"]["annotated"] == annotated


def test_the_old_release_merges_in_every_note_but_the_first_and_says_so() -> None:
    two = [span("John", "PERSON"), span("Paris", "PERSON")]
    result = scored([two, two], [two, two], "presidio(release=0.2.5,skip_words=none)", (MET, MET))
    assert result.measures["pii"]["annotated"] == 3
    assert "counts 3 gold spans where release 0.3.2 counts 4" in result.warnings[0]
    assert result.table.splitlines()[-2].endswith("–")


def test_the_old_release_cuts_types_with_a_hyphen_and_says_so() -> None:
    gold = [[span("John", "ID-NUM")]]
    result = scored(gold, gold, "presidio(release=0.2.5)")
    assert set(result.details["per_type"]) == {"-NUM"}
    assert "ID-NUM" in result.warnings[0]


# gold        |John met Paris|P
# predicted   |John|P      |Paris|P
def test_the_slip_of_one_character_is_named() -> None:
    gold, predicted = [[span("John met Paris", "P")]], [[span("John", "P"), span("Paris", "P")]]
    result = scored(gold, predicted, "presidio(threshold=0.66,skip_words=none)")
    # 5 + 6 of 15 elements, one of them shifted onto the gap: 11/15; the true share is 9/14
    assert result.measures["pii"]["tp"] == 1
    assert any("the original's slip of one character" in warning for warning in result.warnings)


def test_one_prediction_that_counts_twice_is_named() -> None:
    gold = [[span("John", "PERSON"), span("Paris", "PERSON")]]
    result = scored(gold, [[span("John met Paris", "PERSON")]], "presidio(skip_words=none)")
    assert result.measures["pii"]["predicted"] == 2
    assert "1 predicted spans are counted as 2" in result.warnings[0]


def test_a_clean_input_has_no_warnings() -> None:
    gold = [[span("John", "PERSON")]]
    assert scored(gold, gold).warnings == ()


def test_without_the_text_it_says_what_to_give() -> None:
    with pytest.raises(UsageFault, match="--notes"):
        scored([[span("John", "PERSON")]], [[]], texts=(None,))


def test_the_librarys_tokens_need_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "spacy.lang.en", None)
    with pytest.raises(UsageFault, match="spacy"):
        library_tokens("any")


# What the English tokeniser of spaCy 3.8 gives for each.
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Mr. Smith's wife, (age 45).", ["Mr.", "Smith", "'s", "wife", ",", "(", "age", "45", ")", "."]),
        ("They don't, can't, won't.", ["They", "do", "n't", ",", "ca", "n't", ",", "wo", "n't", "."]),
        ("5mg b.i.d. at 8am", ["5", "mg", "b.i.d", ".", "at", "8", "am"]),
        ("555-0148 (325)", ["555", "-", "0148", "(", "325", ")"]),
        ("mary-jane@x.com or a/b", ["mary-jane@x.com", "or", "a", "/", "b"]),
        ("a  b\n\nc \n d", ["a", " ", "b", "\n\n", "c", "\n ", "d"]),
        ("10/26/2020.", ["10/26/2020", "."]),
        ("", []),
    ],
)
def test_tokens(text: str, words: list[str]) -> None:
    found = tokens_of(text)
    assert found.words == words
    assert [text[first:last] for first, last in zip(found.starts, found.ends, strict=True)] == words
