"""The scoring flow by another scorer's rules: what it goes on with, and what is read twice for it."""

import io
import json
import os
from pathlib import Path

import pytest
from struct_values import changeable
from task_samples import write_challenge

from sandscore.annotations.input_files import Inputs
from sandscore.base.byte_sources import NamedBytes
from sandscore.original_scores.original_flow import score_files_as
from sandscore.original_scores.profile_cards import decoded
from sandscore.profiles.profile_registry import Profile, find_profile
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


def test_json_is_read_as_the_originals_read_it() -> None:
    assert decoded(b'{"a": 1}') == {"a": 1}
    assert str(decoded(b"NaN")) == "nan"


def test_what_is_made_stays_as_it_is() -> None:
    assert changeable("original_scores") == set()
