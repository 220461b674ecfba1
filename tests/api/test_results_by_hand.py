"""Drawings of intervals, boards and reports by hand: what is drawn where, and whose fault rules that do not fit are."""

import json
from pathlib import Path
from typing import Any

import pytest
from ranking_cards import card_content
from struct_values import changeable

from sandscore.api.index_calls import make_index
from sandscore.api.perturbation_calls import perturb
from sandscore.api.ranking_calls import RankingPlan, rank, rank_to_file
from sandscore.api.running_calls import RunPlan, run_to_folder
from sandscore.api.scoring_calls import ScoreFiles, ScoringPlan, ShownIntervals, score, score_to_files, shown_intervals
from sandscore.base.bundled_content import example_gold
from sandscore.base.byte_sources import NamedBytes
from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.containers.annotation_run import RunJob
from sandscore.records.challenge import Challenge
from sandscore.records.scorecard import Scorecard

NOTES = NamedBytes("notes", b'[{"identifier": "n1", "text": "Seen 3/14 by John Smith.", "patientId": "p1"}]')
GOLD = NamedBytes(
    "gold",
    b'[{"annotationSource": {"resourceSource": {"name": "x/Note/n1"}}, "textDateAnnotations": '
    b'[{"start": 5, "length": 4, "text": "3/14", "dateFormat": "M/D", "confidence": 90}]}]',
)


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


def test_intervals_are_shown_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    scored = score_to_files(ScoringPlan(task="date", gold=GOLD, predictions=GOLD, notes=NOTES), ScoreFiles())
    assert shown_intervals(scored, wanted=False) is None
    told = shown_intervals(scored, wanted=True)
    assert told is not None
    assert told.patients == 1
    assert told.by_measure is not None
    assert list(told.by_measure) == list(scored.card.measures)
    monkeypatch.setattr("sandscore.api.results.QUICK_UNITS", 0)
    assert shown_intervals(scored) == ShownIntervals(1, None)


def test_an_index_scores_as_the_files_that_it_is_made_of(tmp_path: Path) -> None:
    files = {"gold": tmp_path / "gold.json", "notes": tmp_path / "notes.json"}
    files["gold"].write_bytes(bytes(GOLD.data))
    files["notes"].write_bytes(bytes(NOTES.data))
    make_index(files["gold"], files["notes"], tmp_path / "index", task="date")
    by_files = score("date", predictions=bytes(GOLD.data), gold=files["gold"], notes=files["notes"])
    for predictions in (bytes(GOLD.data), json.loads(bytes(GOLD.data))):
        by_index = score("date", gold=tmp_path / "index", predictions=predictions)
        assert by_index.to_dict()["per_note"] == by_files.to_dict()["per_note"]
    beside = score("date", gold=tmp_path / "index", notes=files["notes"], predictions=bytes(GOLD.data))
    assert beside.card == by_files.card
    nothing = score("date", gold=tmp_path / "index", predictions={"n1": []})
    assert (nothing.card.measures["token"].tp, nothing.card.measures["token"].fn) == (0, 1)


@pytest.mark.parametrize("asked", [None, "compat"])
def test_a_run_is_hardened_as_asked_or_strictly(asked: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    begun: list[RunJob] = []

    def stop(job: RunJob, _step: object) -> None:
        begun.append(job)
        raise KeyboardInterrupt

    monkeypatch.setattr("sandscore.api.running_calls.run_job", stop)
    notes = tmp_path / "notes.json"
    notes.write_bytes(bytes(NOTES.data))
    plan = RunPlan(task="date", kind="command", reference="true", notes=str(notes), hardening=asked)
    with pytest.raises(KeyboardInterrupt):
        run_to_folder(plan, tmp_path / "out")
    assert [job.limits.hardening for job in begun] == [asked or "strict"]


def test_copies_are_written_where_nothing_is(tmp_path: Path) -> None:
    """A file in the folder's place is none, and neither is one that holds something."""
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_bytes(b"")
    (tmp_path / "empty").mkdir()
    gold = tmp_path / "gold"
    gold.mkdir()
    (gold / "date.json").write_bytes(bytes(GOLD.data))
    (tmp_path / "notes.json").write_bytes(bytes(NOTES.data))
    for place in ("file", "full"):
        with pytest.raises(UsageFault, match="is there already and is not an empty folder"):
            perturb(tmp_path / "notes.json", gold, {"headings": ""}, output=tmp_path / place)
    made = perturb(tmp_path / "notes.json", gold, {"headings": ""}, output=tmp_path / "empty")
    assert {path.name for path in (tmp_path / "empty").iterdir()} == {*made.files} > {"date.json"}


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
    assert changeable("api") == set()
