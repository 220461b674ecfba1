"""The library's functions are the verbs: the same bytes, numbers, refusals and exit codes."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli.running import sandscore

import sandscore as ss
from sandscore.base.errors import MissingFile, OrganiserFault, UsageFault
from sandscore.records.carried_run import CarriedRun
from sandscore.records.run_record import Outcome, RunLimits, RunRecord

ROOT = Path(__file__).resolve().parents[2]
GOLD = ROOT / "gold" / "example"
NOTES = GOLD / "notes.json"
GOOD, WEAK = (ROOT / "submissions" / f"date-{kind}" / "predictions.json" for kind in ("good", "weak"))
CARDS = [ROOT / "leaderboard" / "cards" / f"date-{kind}.json" for kind in ("good", "weak")]
FILES: dict[str, Any] = {"gold": GOLD / "date.json", "predictions": GOOD, "notes": NOTES}
BROKEN = b'[{"annotationSource": {"resourceSource": {"name": "101-01"}}, "textDateAnnotations": [{"start": -1}]}]'


def words(**files: Any) -> list[Any]:
    return [word for role, path in files.items() for word in (f"--{role}", path)]


@pytest.mark.parametrize("options", [{}, {"profile": "semeval"}, {"measures": ("iou",)}], ids=str)
def test_a_score_is_the_commands_card(options: dict[str, Any], tmp_path: Path) -> None:
    told: dict[str, Any] = {
        "team": "A team",
        "submission": "one",
        "image": "sha256:1",
        "dataset": "held out",
        "created": "2026-11-18",
    }
    result = ss.score("date", **FILES, **told, **options)
    given = [("--measure", m) for m in options.get("measures", ())] + [
        ("--profile", p) for p in [options.get("profile")] if p
    ]
    card = tmp_path / "card.json"
    ran = sandscore("score", "date", *words(**FILES, **told), *(word for pair in given for word in pair), "-o", card)
    assert ran.code == 0, ran.err
    assert result.card_bytes == card.read_bytes()


def test_invalid_predictions_are_refused_with_all_that_is_wrong_with_them() -> None:
    with pytest.raises(ss.InvalidPredictions, match="not valid; nothing was scored") as refused:
        ss.score("date", gold=FILES["gold"], notes=NOTES, predictions=BROKEN)
    fault = refused.value
    assert isinstance(fault, ss.SandscoreError)
    assert fault.exit_code == 65
    problems = ss.validate("date", BROKEN, notes=NOTES)
    assert isinstance(fault.problems, ss.Problems)
    assert list(fault.problems) == list(problems)
    assert not problems.ok
    assert sum(problem.code == "schema" for problem in problems) > 0


@pytest.mark.parametrize("role", ["gold", "notes"])
def test_what_is_wrong_with_gold_or_notes_is_the_organisers(role: str) -> None:
    with pytest.raises(OrganiserFault):
        ss.score("date", **(FILES | {role: b"[{}]"}))
    with pytest.raises(OrganiserFault, match=f"the {role} (is|are) not valid; nothing was validated"):
        ss.validate("date", GOOD, **({"notes": NOTES, "gold": FILES["gold"]} | {role: b"[{}]"}))


def test_another_scorer_goes_on_only_where_it_may() -> None:
    wrong = json.loads(GOOD.read_bytes())
    wrong[0]["textDateAnnotations"][0]["text"] = "something else"
    given = FILES | {"predictions": json.dumps(wrong).encode()}
    with pytest.raises(ss.InvalidPredictions):
        ss.score("date", **given, profile="semeval")
    with pytest.warns(UserWarning, match="text-mismatch"):
        result = ss.score("date", **given, profile="semeval", strict=False)
    assert not result.problems.ok
    assert result.card.problems["text-mismatch"] == 1
    with pytest.raises(ss.InvalidPredictions):
        ss.score("date", **given, strict=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ss.score("date", **FILES, profile="semeval", strict=False)


def test_every_form_of_a_run_is_the_same_on_the_card(tmp_path: Path) -> None:
    run = ss.run("date", annotate=lambda note: [], notes=NOTES)
    written = tmp_path / "run.json"
    written.write_text(run.record.model_dump_json(), encoding="utf-8")
    forms: list[Any] = [run, run.record, run.record.model_dump(mode="json"), written, str(tmp_path)]
    cards = {ss.score("date", **FILES, run=form).card_bytes for form in forms}
    assert len(cards) == 1
    assert ss.score("date", **FILES, run=run).card.run == CarriedRun.model_validate(run.record.model_dump(mode="json"))
    with pytest.raises(MissingFile):
        ss.score("date", **FILES, run=tmp_path / "none.json")
    keyed_by_number: Any = {1: "one"}
    with pytest.raises(UsageFault, match="run is not the record of a run"):
        ss.score("date", **FILES, run=keyed_by_number)


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        pytest.param(lambda: ss.score("dates", **FILES), UsageFault, id="task"),
        pytest.param(lambda: ss.score("date", **FILES, profile="none"), UsageFault, id="profile"),
        pytest.param(lambda: ss.score("date", **FILES, measures=["none"]), UsageFault, id="measure"),
        pytest.param(lambda: ss.score("date", **(FILES | {"gold": "none.json"})), MissingFile, id="file"),
        pytest.param(lambda: ss.run("date", notes=NOTES), UsageFault, id="nothing to run"),
        pytest.param(lambda: ss.run("date", notes=NOTES, url="x", command="y"), UsageFault, id="two to run"),
        pytest.param(lambda: ss.run("date", notes=NOTES, image="x", engine="none"), UsageFault, id="engine"),
        pytest.param(lambda: ss.rank([]), ss.SandscoreError, id="no card"),
        pytest.param(lambda: ss.rank([1]), UsageFault, id="no result"),  # type: ignore[list-item]
        pytest.param(lambda: ss.rank(CARDS, measure="none"), UsageFault, id="headline"),
        pytest.param(lambda: ss.convert([], source="ours", target="brat"), UsageFault, id="no path"),
        pytest.param(lambda: ss.convert(GOOD, source="ours", target="none"), UsageFault, id="format"),
        pytest.param(
            lambda: ss.convert(GOOD, source="ours", target="brat", tasks=["id", "id"]), UsageFault, id="twice"
        ),
        pytest.param(lambda: ss.verify(GOOD), ss.SandscoreError, id="no board"),
    ],
)
def test_faults_are_of_one_family(call: Callable[[], object], fault: type[Exception]) -> None:
    with pytest.raises(fault):
        call()
    assert issubclass(fault, ss.SandscoreError)


def test_a_board_is_the_commands_board(tmp_path: Path) -> None:
    board = ss.rank(CARDS, ROOT / "gold" / "example" / "challenge.toml", "final")
    ran = sandscore(
        "rank", *CARDS, "--challenge", GOLD / "challenge.toml", "--phase", "final", "-o", tmp_path / "board.json"
    )
    assert ran.code == 0, ran.err
    commands = json.loads((tmp_path / "board.json").read_bytes())
    mine = board.to_dict()
    for rows in (commands["rows"], mine["rows"]):
        for row in rows:
            row.pop("card")
    assert mine == commands
    board.save(tmp_path / "mine.json")
    assert ss.verify(tmp_path / "mine.json").cards == ss.verify(board).cards == 2


def test_results_are_ranked_as_their_cards_are(tmp_path: Path) -> None:
    """Also where their names are those of files that are something else."""
    results = [ss.score("date", **(FILES | {"predictions": p}), submission=str(p)) for p in (GOOD, WEAK)]
    for number, result in enumerate(results):
        result.save(tmp_path / f"{number}.json")
    by_card = ss.rank([tmp_path / "0.json", tmp_path / "1.json"])
    for ranked in (ss.rank(results), ss.rank([result.card for result in results])):
        assert [row.measures for row in ranked.board.rows] == [row.measures for row in by_card.board.rows]
        assert [row.submission for row in ranked.board.rows] == [str(GOOD), str(WEAK)]
    assert ss.rank(results[0]).board.rows[0].submission == str(GOOD)
    written = ss.publish(ss.rank(results), tmp_path / "site")
    assert "index.html" in written.changed


def test_a_conversion_is_the_commands(tmp_path: Path) -> None:
    made = ss.convert(GOLD / "date.json", source="ours", target="conll", tasks=["date"], notes=NOTES)
    at = tmp_path / "made.conll"
    read = ["--from", "ours", "--annotations", GOLD / "date.json", "--notes", NOTES]
    ran = sandscore("convert", "date", *read, "--to", "conll", "-o", at, "--format", "json")
    assert ran.code == 0, ran.err
    assert made.content == at.read_bytes()
    assert made.to_dict() | {"output": str(at)} == json.loads(ran.out)
    with pytest.raises(ss.SandscoreError, match="nothing was written") as refused:
        ss.convert(
            GOLD / "date.json",
            source="ours",
            target="conll",
            tasks=["date"],
            notes=NOTES,
            lossless=True,
            output=tmp_path / "none",
        )
    assert [loss.what for loss in refused.value.losses] == [loss.what for loss in made.losses]  # type: ignore[attr-defined]
    assert not (tmp_path / "none").exists()


def years(note: Any) -> list[dict[str, int]]:
    at = note["text"].find("20")
    return [{"start": at, "end": at + 2}] if at >= 0 else []


def test_a_function_is_run_like_an_annotator() -> None:
    done = ss.run("date", annotate=years, notes=NOTES)
    assert isinstance(done.record, RunRecord)
    assert done.record.outcome is Outcome.FINISHED
    assert done.record.kind == "python"
    assert done.record.isolation.startswith("none")
    assert done.record.latency is not None
    assert done.predictions is not None
    assert ss.validate("date", done.predictions, notes=NOTES).ok
    texts = {a["text"] for record in json.loads(done.predictions) for a in record["textDateAnnotations"]}
    assert texts == {"20"}
    in_memory = ss.run("date", annotate=years, notes=json.loads(NOTES.read_bytes()))
    assert in_memory.predictions == done.predictions


def test_spans_that_are_not_valid_end_the_run() -> None:
    done = ss.run("date", annotate=lambda note: [{"start": 0, "length": 10**6, "text": "x"}], notes=NOTES)
    assert done.record.outcome is Outcome.INVALID_OUTPUT
    assert done.predictions is None
    assert done.record.reason is not None
    assert done.record.notes_per_second is None


def test_an_exception_of_the_function_is_the_callers() -> None:
    def broken(_note: object) -> object:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ss.run("date", annotate=broken, notes=NOTES)


def test_a_command_runs_as_the_verb_runs_it(tmp_path: Path) -> None:
    server = f"python3 {ROOT / 'submissions' / 'template' / 'server.py'}"
    limits = RunLimits(total_seconds=60)
    done = ss.run("date", command=server, notes=NOTES, limits=limits)
    assert done.record.limits == limits
    ran = sandscore("run", "date", "--command", server, "--notes", NOTES, "-o", tmp_path)
    assert ran.code == 0, ran.err
    assert done.predictions == (tmp_path / "predictions.json").read_bytes()


def test_the_tasks_are_the_commands() -> None:
    listed = json.loads(sandscore("tasks", "--format", "json").out)
    assert [task.id for task in ss.tasks()] == [row["id"] for row in listed]


NOTHING: Any = None
WORD: Any = "2"


@pytest.mark.parametrize(
    ("call", "code", "said"),
    [
        pytest.param(lambda: ss.validate("date", None), 2, "predictions: found nothing", id="no predictions"),
        pytest.param(lambda: ss.validate(NOTHING, []), 2, "unknown task 'None'", id="no task"),
        pytest.param(
            lambda: ss.validate("date", "https://a.org/p.json"), 66, "an address is not fetched", id="address"
        ),
        pytest.param(lambda: ss.compare("nosuch", "nosuch"), 66, "nosuch: there is no such file", id="no card"),
        pytest.param(lambda: ss.score("date", gold=[], predictions=[], jobs=0), 2, "jobs: found 0", id="no job"),
        pytest.param(lambda: ss.score("date", gold=[], predictions=[], jobs=WORD), 2, "jobs: found '2'", id="a word"),
    ],
)
def test_what_cannot_be_meant_is_said(call: Any, code: int, said: str) -> None:
    with pytest.raises(ss.SandscoreError, match=said) as refused:
        call()
    assert refused.value.exit_code == code
