"""The scoring flow by another scorer's rules: what it goes on with, and what is read twice for it."""

import io
import json
import os
from pathlib import Path

import pytest
from struct_values import changeable
from task_samples import write_challenge

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.base.byte_sources import NamedBytes
from sandscore.original_scores.original_flow import score_files_as
from sandscore.original_scores.profile_cards import as_the_original_reads, decoded, score_written_as
from sandscore.profiles.profile_registry import Profile, find_profile
from sandscore.records.scorecard import MeasureScore
from sandscore.scoring.card_building import Question
from sandscore.scoring.scoring_flow import InvalidPredictions
from sandscore.task_table.task import find_task


def profile_of(name: str) -> Profile:
    profile = find_profile(name)
    assert profile is not None
    return profile


def given(folder: Path, task: str, **changes: Path | NamedBytes | str) -> Inputs:
    write_challenge(folder, find_task(task))
    parts = {"gold": f"{task}.json", "predictions": "predictions.json", "notes": "notes.json"}
    return Inputs(**{role: folder / name for role, name in parts.items()} | changes)


def test_another_scorers_profile_goes_on_unless_it_is_strict(tmp_path: Path) -> None:
    doubled = json.loads((write_challenge(tmp_path, find_task("date")) / "predictions.json").read_bytes())
    doubled[0]["textDateAnnotations"][0]["start"] = 10**6
    inputs = given(tmp_path, "date", predictions=NamedBytes("p.json", json.dumps(doubled).encode()))
    profile, question = profile_of("nlpsandbox-client"), Question(find_task("date"))
    assert score_files_as(profile, question, inputs).card.profile == str(profile)
    with pytest.raises(InvalidPredictions):
        score_files_as(profile, question, inputs, strict=True)


def test_what_comes_through_a_pipe_is_read_twice_for_a_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = given(tmp_path, "date", predictions="-")
    read, write = os.pipe()
    os.write(write, (tmp_path / "predictions.json").read_bytes())
    os.close(write)
    with io.FileIO(read) as piped:
        monkeypatch.setattr("sys.stdin", piped)
        found = score_files_as(profile_of("presidio"), Question(find_task("date")), inputs)
    assert found.card.predicted_annotations == 12
    assert found.given is not None, "this profile reads the file itself, after it was read as columns"


def corpus(*names: tuple[int, int]) -> bytes:
    """The Text Anonymization Benchmark's own form: a document, an annotator, a person a mention."""
    listed = [
        {"entity_id": f"e{at}", "entity_type": "PERSON", "identifier_type": "DIRECT"}
        | {"start_offset": begin, "end_offset": end}
        for at, (begin, end) in enumerate(names)
    ]
    document = {"doc_id": "d", "text": "Anna Berg met Carl Dahl.", "dataset_type": "dev"}
    return json.dumps([document | {"annotations": {"a": {"entity_mentions": listed}}}]).encode()


def test_a_benchmarks_own_files_are_scored_as_they_are_written() -> None:
    """Anna Berg is masked, Carl Dahl is open: one of two people, two of four words."""
    files = Inputs(
        gold=NamedBytes("gold", corpus((0, 9), (14, 23))), predictions=NamedBytes("masks", b'{"d": [[0, 9]]}')
    )
    found = score_written_as(profile_of("tab-2022"), Question(find_task("phi")), files)
    assert found is not None, "nobody has to decode them"
    card, result, _ = found
    recalls = [card.measures[name] for name in ("mention_recall", "token_recall")]
    assert [one.recall for one in recalls if isinstance(one, MeasureScore)] == [1 / 2, 2 / 4]
    assert result.documents == ("d",)
    again = score_files_as(profile_of("tab-2022"), Question(find_task("phi")), files)
    assert again.card == card
    ours = Inputs(gold=NamedBytes("gold", b"[]"), predictions=NamedBytes("predictions", b"[]"))
    assert score_written_as(profile_of("presidio"), Question(find_task("phi")), ours) is None


def test_a_note_without_an_entry_is_no_error_unless_somebody_says_so(tmp_path: Path) -> None:
    inputs = given(tmp_path, "date")
    told = json.loads((tmp_path / "predictions.json").read_bytes())
    left = Inputs(gold=inputs.gold, notes=inputs.notes, predictions=NamedBytes("p", json.dumps(told[1:]).encode()))
    profile, question = profile_of("nlpsandbox-client"), Question(find_task("date"))
    assert score_files_as(profile, question, left, strict=True).card.predicted_annotations < 12
    with pytest.raises(InvalidPredictions):
        score_files_as(profile, question, left, strict=True, complete=True)


def test_an_answer_that_names_no_note_is_of_the_first(tmp_path: Path) -> None:
    inputs = given(tmp_path, "date")
    alone = Inputs(gold=inputs.gold, notes=inputs.notes, predictions=NamedBytes("p", b'{"textDateAnnotations": []}'))
    loaded = load_files(find_task("date"), inputs)
    read = as_the_original_reads(profile_of("presidio"), find_task("date"), alone, loaded)
    assert read.predictions == [{"annotationSource": {"resourceSource": {"name": "10-00"}}, "textDateAnnotations": []}]


def test_json_is_read_as_the_originals_read_it() -> None:
    assert decoded(b'{"a": 1}') == {"a": 1}
    assert str(decoded(b"NaN")) == "nan"


def test_what_is_made_stays_as_it_is() -> None:
    assert changeable("original_scores") == set()
