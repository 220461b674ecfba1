"""Profiles that score columns say of them what they say of the files, and are only given columns that say it all."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandscore.annotations.input_files import load_files
from sandscore.base.errors import SandscoreError
from sandscore.base.own_rows import OWN_ROWS
from sandscore.conformance.drawn_corpora import DrawnCorpus
from sandscore.original_scores.original_flow import score_files_as
from sandscore.original_scores.profile_cards import as_the_original_reads, score_as
from sandscore.profiles.profile import OriginalScorer, ProfileInput
from sandscore.profiles.profile_registry import PROFILES, find_profile
from sandscore.scoring.card_building import Question, dumped
from sandscore.task_table.task import TASKS

ON_COLUMNS = [
    name
    for name in OWN_ROWS["sandscore.profiles"]
    if PROFILES.find(name).evaluate_columns is not OriginalScorer.evaluate_columns
]
ADDRESS = TASKS["address"]


def test_some_score_columns() -> None:
    assert {"nlpsandbox-client", "semeval", "neleval", "span-labels", "i2b2"} <= {*ON_COLUMNS}


WITH_SETTINGS = [
    *ON_COLUMNS,
    "nlpsandbox-client(release=3.1.0)",
    "semeval(min_overlap_percentage=50,scenario=exact)",
    "neleval(key=span)",
    "span-labels(overlap_threshold=0.9)",
]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", WITH_SETTINGS)
def test_columns_as_files(name: str, task: str, tmp_path: Path) -> None:
    """Records in another order than notes, one of which has nothing and one no predictions."""
    profile = find_profile(name)
    assert profile is not None
    for seed in range(3):
        corpus = DrawnCorpus(TASKS[task], seed, notes=12)
        names = [note["identifier"] for note in corpus.notes]
        corpus.predictions.pop(names[seed])
        corpus.gold[names[5]] = corpus.predictions[names[5]] = []
        corpus.predictions = dict(reversed(corpus.predictions.items()))
        corpus.gold = dict(sorted(corpus.gold.items()))
        loaded = corpus.loaded(tmp_path)
        assert loaded.entries.keys() == {"gold", "predictions"}
        given = corpus.written()
        files = profile.evaluate(
            ProfileInput(corpus.task, given["notes"], given["gold"], given["predictions"]), profile.settings
        )
        found = profile.evaluate_columns(corpus.task, loaded, profile.settings)
        assert found == files or (found is None and name == "i2b2")  # where did the record without tags stand?


@pytest.mark.parametrize("task", TASKS)
def test_i2b2_means_run_in_the_order_of_the_file(task: str, tmp_path: Path) -> None:
    profile = find_profile("i2b2")
    assert profile is not None
    corpus = DrawnCorpus(TASKS[task], 7, notes=40)
    corpus.gold = dict(sorted(corpus.gold.items()))
    del corpus.gold[corpus.notes[3]["identifier"]]
    corpus.predictions[corpus.notes[8]["identifier"]] = []
    loaded, given = corpus.loaded(tmp_path), corpus.written()
    files = profile.evaluate(ProfileInput(corpus.task, given["notes"], given["gold"], given["predictions"]), {})
    found = profile.evaluate_columns(corpus.task, loaded, profile.settings)
    typed = corpus.task.type_field in (None, corpus.task.label)
    assert found == (files if typed else None)


Change = Callable[[dict[str, Any]], object]
ORDINARY: dict[str, Change] = {
    "as it is": lambda row: None,
    "no label": lambda row: row.pop("addressType"),
    "no confidence": lambda row: row.pop("confidence"),
}
ODD: dict[str, Change] = {
    "an empty label": lambda row: row.update(addressType=""),
    "a number with a point": lambda row: row.update(start=float(row["start"])),
    "a property nobody knows": lambda row: row.update(more=1),
    "an entity": lambda row: row.update(entityId="e"),
    "a text that is not there": lambda row: row.update(text="nowhere"),
}


@pytest.mark.parametrize("side", ["gold", "predictions"])
@pytest.mark.parametrize("how", [*ORDINARY, *ODD])
def test_files_that_say_more_than_columns_are_read_again(how: str, side: str, tmp_path: Path) -> None:
    corpus = DrawnCorpus(ADDRESS, seed=1)
    inputs = corpus.files(tmp_path)
    listed = json.loads((tmp_path / f"{side}.json").read_text())
    ({**ORDINARY, **ODD})[how](listed[2][ADDRESS.array][0])
    (tmp_path / f"{side}.json").write_text(json.dumps(listed))
    loaded = load_files(ADDRESS, inputs)
    assert (side in loaded.entries) == (how in ORDINARY)
    for name in ON_COLUMNS:
        profile, question = find_profile(name), Question(ADDRESS)
        assert profile is not None
        if name == "i2b2" and how == "a number with a point":
            with pytest.raises(SandscoreError, match="start and length must be integers"):
                score_files_as(profile, question, inputs)
            continue
        scored = score_files_as(profile, question, inputs)
        assert (scored.given is None) == (how in ORDINARY)
        card, result = score_as(profile, question, as_the_original_reads(profile, ADDRESS, inputs, loaded), loaded)
        assert (dumped(scored.card), scored.table) == (dumped(card), result.table.rstrip("\n"))


def test_labels_that_are_spelt_otherwise(tmp_path: Path) -> None:
    """City is the label city, which the NLP Sandbox client does not know; its types differ where the spelling does."""
    task = TASKS["address"]
    corpus = DrawnCorpus(task, seed=1)
    row = next(iter(corpus.gold.values()))[0]
    row[str(task.label)] = "City"
    loaded = load_files(task, corpus.files(tmp_path))
    assert not loaded.entries  # predictions repeat every second annotation of gold
