"""Spans of a dict each, and small drawings of intervals: what is read, what is said about it, what is drawn where."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from ranking_cards import card_content
from struct_values import changeable

from sandscore.api.ranking_calls import RankingPlan, rank, rank_to_file
from sandscore.api.scoring_calls import ScoreFiles, ScoringPlan, score_to_files
from sandscore.api.span_reading import SpanReader
from sandscore.api.value_views import IntervalBar, ValueView, as_html, as_text, interval_text, ratio_text
from sandscore.base.bundled_content import example_gold
from sandscore.base.byte_sources import NamedBytes
from sandscore.base.errors import OrganiserFault, ParticipantFault, UsageFault
from sandscore.records.challenge import Challenge
from sandscore.records.scorecard import Scorecard
from sandscore.task_table.task import find_task

TEXT = "Seen 3/14 by John Smith."
DATE = {"start": 5, "length": 4}
NOTES = NamedBytes("notes", b'[{"identifier": "n1", "text": "Seen 3/14 by John Smith.", "patientId": "p1"}]')
GOLD = NamedBytes(
    "gold",
    b'[{"annotationSource": {"resourceSource": {"name": "x/Note/n1"}}, "textDateAnnotations": '
    b'[{"start": 5, "length": 4, "text": "3/14", "dateFormat": "M/D", "confidence": 90}]}]',
)


def read(*spans: Mapping[str, Any], task: str = "date") -> tuple[list[dict[str, Any]], list[str]]:
    reader = SpanReader.of(find_task(task), "predictions")
    return reader.annotations(spans, "n1", TEXT, texts=True), reader.remarks()


@pytest.mark.parametrize(
    "place", [DATE, {"start": 5, "length": 4, "end": 9}, {"start_char": 5, "end_char": 9, "start": 1}]
)
def test_a_place_in_any_of_three_ways(place: dict[str, int]) -> None:
    assert read(place) == ([{"start": 5, "length": 4, "text": "3/14"}], [])


def test_an_end_alone_is_exclusive_and_that_is_said() -> None:
    made, [said] = read({"start": 5, "end": 9})
    assert made == [{"start": 5, "length": 4, "text": "3/14"}]
    assert said == "predictions: 'length' is missing, so 'end' was taken as exclusive (1 spans)"


@pytest.mark.parametrize(
    ("place", "found"),
    [({"start": 5}, "neither 'length' nor 'end'"), ({"start": 5, "length": 4, "end": 8}, "and another end")],
)
def test_a_place_that_is_none(place: dict[str, int], found: str) -> None:
    with pytest.raises(ParticipantFault, match=found):
        read(place)


def test_fields_that_nothing_reads_are_named_and_no_others() -> None:
    told = {"word": "3/14", "index": 3, "dateFormat": "M/D", "score": 0.5, "colour": "red"}
    made, [said] = read(DATE | told)
    assert made[0]["confidence"] == 50
    assert said.startswith("predictions: fields that nothing reads: ")
    assert "colour" in said
    assert not any(
        f"{name!r}" in said or f" {name}" in said.partition("reads:")[2] for name in told.keys() - {"colour"}
    )


def test_types_that_a_task_does_not_know_are_left_out() -> None:
    made, [said] = read(DATE | {"entity_type": "DATE_TIME"}, DATE | {"entity_type": "PERSON"})
    assert len(made) == 1
    assert "1 spans of types that date does not know" in said
    with pytest.raises(ParticipantFault, match="no span has a type that date knows"):
        read(DATE | {"entity_type": "PERSON"})


def test_a_label_of_ones_own_is_kept_as_it_is() -> None:
    """``label`` is the last to be asked, and a task that has labels takes any; judging them comes later."""
    made, said = read(DATE | {"label": "M/D"}, DATE | {"label": "DATE"}, DATE | {"label": 7}, DATE | {"idType": "x"})
    assert [one.get("dateFormat") for one in made] == ["M/D", None, 7, None]
    assert said == ["predictions: fields that nothing reads: idType (1)"]
    made, [said_too] = read(DATE | {"label": "NAME"}, DATE | {"label": "M/D"}, task="person-name")
    assert len(made) == 1
    assert "M/D (1)" in said_too


@pytest.mark.parametrize(
    ("score", "told"),
    [(True, "True"), ("x", "a value of type str"), (1.1, "1.1"), (-0.5, "-0.5"), (2, "2")],
)
def test_a_score_that_is_none(score: Any, told: str) -> None:
    with pytest.raises(ParticipantFault, match=f"found {told} as 'score'; expected a number from 0 to 1"):
        read(DATE | {"score": score})


def test_scores_and_confidences() -> None:
    made, _ = read(
        *(DATE | {"score": score} for score in (0, 1, 1.0000005, 0.25)), DATE | {"score": 0.5, "confidence": 7}
    )
    assert [one["confidence"] for one in made] == [0, 100, 100, 25, 7]


def test_the_five_most_frequent_are_named() -> None:
    def fields(number: int) -> str:
        _, [said] = read(DATE | dict.fromkeys("fedcba"[-number:], 1))
        return said.partition("reads: ")[2]

    assert fields(5) == "a (1), b (1), c (1), d (1), e (1)"
    assert fields(6).endswith("(1), …")
    assert fields(6).count("(1)") == 5


def test_tokens_become_words() -> None:
    def token(kind: str, start: int, end: int, score: float, **more: Any) -> dict[str, Any]:
        return {"entity": kind, "start": start, "end": end, "score": score, "word": TEXT[start:end], **more}

    made, said = read(
        token("B-PERSON", 13, 17, 0.5, index=3), token("I-PERSON", 18, 23, 1.0, index=4),
        token("B-PERSON", 0, 4, 1.0, index=6), token("I-PERSON", 5, 9, 1.0, index=8), task="person-name",
    )  # fmt: skip
    assert [(one["start"], one["length"], one["confidence"]) for one in made] == [
        (13, 10, 75),
        (0, 4, 100),
        (5, 4, 100),
    ]
    assert "predictions: tokens marked I- or E- were joined to the token before (1 tokens)" in said
    near, _ = read(token("B-PERSON", 13, 17, 1.0), token("E-PERSON", 18, 23, 1.0), task="person-name")
    assert [one["length"] for one in near] == [10]
    far, _ = read(token("B-PERSON", 0, 4, 1.0), token("E-PERSON", 6, 9, 1.0), task="person-name")
    assert [one["length"] for one in far] == [4, 3]


def test_a_type_may_be_no_word() -> None:
    made, _ = read(DATE, DATE | {"entity_type": 7})
    assert len(made) == 1


def test_a_bar_stands_where_its_numbers_are() -> None:
    assert [IntervalBar(None, None).place(number) for number in (0, 0.25, 1)] == [0, 30, 120]
    assert [IntervalBar(None, None, -1).place(number) for number in (-1, 0, 1)] == [0, 60, 120]


def test_a_table_as_text_and_as_a_page() -> None:
    view = ValueView("<title>", ("name", "F1"), [("a", ratio_text(0.5))], [IntervalBar(0.5, (0.25, 0.75))], ["said"])
    assert as_text(view).splitlines()[0] == "<title>"
    page = as_html(view)
    assert "&lt;title&gt;" in page
    assert 'x1="30.0"' in page
    assert 'x2="90.0"' in page
    assert "0.250 to 0.750" in page
    assert interval_text(None) == ratio_text(None) != "0"
    assert interval_text((-0.5, 0.5), "+") == "-0.500 to +0.500"


def test_a_line_for_nothing_where_less_than_nothing_can_be() -> None:
    def lines(bar: IntervalBar) -> list[str]:
        page = as_html(ValueView("t", ("a",), [("x",)], [bar]))
        return [f"{one.split(chr(34))[1]} {one.split(chr(34))[5]}" for one in page.split("<line")[1:]]

    assert lines(IntervalBar(None, None)) == ["0 120"]
    assert lines(IntervalBar(None, None, -1)) == ["0 120", "60.0 60.0"]
    assert lines(IntervalBar(0.5, (0.25, 0.75))) == ["0 120", "30.0 90.0", "60.0 60.0"]


def test_a_column_of_bars_where_there_are_some() -> None:
    plain = as_html(ValueView("t", ("a", "b"), [("x", "y")]))
    drawn = as_html(ValueView("t", ("a", "b"), [("x", "y")], [IntervalBar(None, None)]))
    assert (plain.count("<th "), drawn.count("<th "), plain.count("<td"), drawn.count("<td")) == (2, 3, 2, 3)
    assert plain.count("text-align:right") == 2
    assert "<thead>" not in as_html(ValueView("t", ("a",), []))


@pytest.mark.parametrize(("rows", "more"), [(20, False), (21, True)])
def test_a_long_board_is_cut(rows: int, more: bool) -> None:
    cards = [Scorecard.model_validate(card_content(f"s{number:02}", [(1, 0, 0)])) for number in range(rows)]
    text = str(rank(cards, Challenge.model_validate({"challenge": "c", "resamples": 100})))
    assert ("… and 1 more" in text) is more
    assert text.count("team s") == 20


def test_whose_fault_rules_are_that_do_not_fit(tmp_path: Any) -> None:
    path, challenge = tmp_path / "card.json", tmp_path / "challenge.toml"
    path.write_text(json.dumps(card_content("a", [(1, 0, 0)])), encoding="utf-8")
    challenge.write_text('challenge = "c"\n[tasks.date]\nheadline = "token"\n', encoding="utf-8")
    with pytest.raises(OrganiserFault):
        rank_to_file(RankingPlan(cards=[path], challenge=challenge))
    with pytest.raises(UsageFault):
        rank_to_file(RankingPlan(cards=[path], challenge=challenge, measure="date_format"))
    with pytest.raises(UsageFault):
        rank_to_file(RankingPlan(cards=[path], measure="date_format"))
    assert rank_to_file(RankingPlan(cards=[path], measure="instance_strict")).headline == "instance_strict"


def test_a_salt_hides_ids_and_nothing_else_does() -> None:
    plan = ScoringPlan(task="date", gold=GOLD, predictions=GOLD, notes=NOTES)
    assert list(score_to_files(plan, ScoreFiles()).card.per_note) == ["n1"]
    published = ScoreFiles(publish=True, salt=b"salt", challenge=str(example_gold() / "challenge.toml"))
    [hidden] = score_to_files(plan, published).card.per_note
    assert (len(hidden), hidden.isalnum()) == (16, True)


@pytest.mark.parametrize(("licence", "shown"), [("true", True), ("false", False)])
def test_a_report_shows_notes_only_where_the_licence_lets_it(licence: str, shown: bool, tmp_path: Any) -> None:
    (tmp_path / "challenge.toml").write_text(f'challenge = "c"\n[publication]\ntext = {licence}\n', encoding="utf-8")
    plan = ScoringPlan(
        task="date", gold=GOLD, predictions=NamedBytes("p", GOLD.data.replace(b"M/D", b"M/Y")), notes=NOTES
    )
    files = ScoreFiles(report=str(tmp_path / "report.html"), challenge=str(tmp_path / "challenge.toml"))
    score_to_files(plan, files)
    assert ("John Smith" in (tmp_path / "report.html").read_text("utf-8")) is shown


def test_what_is_made_stays_as_it_is() -> None:
    assert changeable("api") == {"SpanReader", "_AnnotationInput", "_Fields"}
