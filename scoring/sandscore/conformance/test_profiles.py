"""The profile suite: every task runs, twice the same, and what misleads is a warning."""

from pathlib import Path

import pytest

from sandscore.conformance.drawn_corpora import DrawnCorpus
from sandscore.profiles.profile import CompanionFile, ProfileInput, ProfileResult
from sandscore.profiles.profile_registry import PROFILES, find_profile
from sandscore.task_table.task import TASKS


def evaluated(profile: str, task: str, seed: int) -> ProfileResult:
    corpus = DrawnCorpus(TASKS[task], seed)
    found = find_profile(profile)
    assert found is not None
    given = corpus.written()
    beside = PROFILES.find(profile).example_companions(corpus.notes)
    files = {name: CompanionFile(name, value, "0" * 64) for name, value in beside.items()}
    return found.evaluate(
        ProfileInput(corpus.task, given["notes"], given["gold"], given["predictions"], files), found.settings
    )


def test_it_describes_itself(profile: str) -> None:
    row = PROFILES.find(profile)
    assert row.fault() is None
    assert row.description.strip()


@pytest.mark.parametrize("task", TASKS)
def test_every_task_runs_and_twice_the_same(profile: str, task: str) -> None:
    first, second = (evaluated(profile, task, seed=1) for _ in range(2))
    assert first == second
    assert first.measures
    assert first.table.strip()


@pytest.mark.parametrize("task", TASKS)
def test_counts_of_notes_add_up(profile: str, task: str) -> None:
    result = evaluated(profile, task, seed=2)
    for name in {name for note in result.per_note.values() for name in note}:
        rows = [note[name] for note in result.per_note.values() if name in note]
        sums = [sum(column) for column in zip(*rows, strict=True)]
        assert sums == [result.measures[name][count] for count in ("tp", "fp", "fn")]


def test_annotations_that_overlap_are_warned_of_and_not_refused(profile: str, tmp_path: Path) -> None:
    corpus = DrawnCorpus(TASKS["phi"], seed=3)
    assert corpus.loaded(tmp_path).dataset.roll.ids
    assert all(isinstance(warning, str) and warning for warning in evaluated(profile, "phi", seed=3).warnings)
