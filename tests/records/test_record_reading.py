"""Records that people hand us are refused in one kind of sentence."""

import pytest
from pydantic import ValidationError

from sandscore.base import strict_json
from sandscore.base.errors import InfrastructureFault, ParticipantFault
from sandscore.records.counts import Counts
from sandscore.records.problem import Problem
from sandscore.records.ranking_rules import RankingRules
from sandscore.records.record_reading import complaints, read_json, read_record
from sandscore.records.run_record import Outcome, RunLimits
from sandscore.records.task_definition import TaskDefinition, TaskFacts


def refused(content: bytes) -> str:
    with pytest.raises(ParticipantFault) as raised:
        read_record(RankingRules, content, "rules.json", "rules", ParticipantFault)
    return str(raised.value)


def test_a_sentence_names_file_place_and_fault() -> None:
    assert refused(b'{"tie_rules": 1}') == "rules.json is not rules: /tie_rules: unknown key"
    assert refused(b'{"measures": {"a": 0}}').startswith("rules.json is not rules: /measures/a: ")


def test_what_is_wrong_with_the_whole_has_no_place() -> None:
    said = refused(b'{"aggregation": "borda"}')
    assert said == "rules.json is not rules: aggregation = 'borda' needs the table 'measures' (name = weight)"


def test_what_was_found_is_quoted_where_asked() -> None:
    with pytest.raises(ValidationError) as raised:
        RankingRules.model_validate({"resamples": 7})
    assert complaints(raised.value)[0][1].startswith("/resamples: ")
    assert "7" not in complaints(raised.value)[0][1]
    assert complaints(raised.value, quoting=True)[0] == (("resamples",), complaints(raised.value)[0][1] + " (found 7)")


@pytest.mark.parametrize("content", [b'{"a": 1, "a": 2}', b"NaN", b"[" * 100_000, b"\xff"])
def test_no_json_reader_may_wave_this_through(content: bytes) -> None:
    with pytest.raises(ParticipantFault, match="it is not JSON"):
        read_json(content, "a.json", "anything", ParticipantFault)


def test_a_record_may_take_320_mebibytes(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms: list[int] = []
    monkeypatch.setattr(strict_json, "refuse_crowded", lambda content, room: rooms.append(room))
    assert read_json(b"{}", "a.json", "anything", ParticipantFault) == {}
    assert rooms == [335_544_320]


def test_a_table_that_defines_no_task_may_say_nothing_of_one() -> None:
    assert TaskFacts().array is None
    with pytest.raises(ValidationError, match="a task of its own needs 'array'"):
        TaskFacts(label="kind")
    assert TaskFacts(array="textDrugAnnotations", label="kind", labels=("a",)).label == "kind"


def test_labels_differ_in_more_than_case() -> None:
    with pytest.raises(ValidationError, match="'a' stands twice"):
        TaskDefinition(array="textDrugAnnotations", label="kind", labels=("a", "A"))


@pytest.mark.parametrize("record", [Problem("json", "error", "", None, "no JSON"), Counts(1, 2, 3), RunLimits()])
def test_a_record_does_not_change(record: object) -> None:
    field = next(iter(type(record).__annotations__))
    with pytest.raises((AttributeError, ValidationError)):
        setattr(record, field, None)


def test_only_infrastructure_is_our_fault() -> None:
    assert [outcome.value for outcome in Outcome if outcome.ours] == ["infrastructure"]
    assert Outcome.FINISHED.exit_code == 0
    assert Outcome.CRASHED.exit_code == ParticipantFault.exit_code
    assert Outcome.INFRASTRUCTURE.exit_code == InfrastructureFault.exit_code


def test_an_answer_may_grow_with_its_note_up_to_a_limit() -> None:
    limits = RunLimits()
    assert limits.reply_size(0) == 256 << 10
    assert limits.reply_size(1000) == (256 << 10) + 64_000
    assert limits.reply_size(10**9) == 4 << 20
    assert limits.output_size(10) == (32 << 20) + 40
    assert limits.reply_part_count(80) == 1010
    assert limits.note_time(2000) == pytest.approx(10.2)


def test_what_is_no_object_is_said_to_be_none_and_no_class_of_ours_is_named() -> None:
    assert refused(b"[]") == "rules.json is not rules: Input should be an object"
