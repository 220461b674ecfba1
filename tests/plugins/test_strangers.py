"""A stranger's package of a measure: asked for by name it is computed, ranked and verified; nobody else loads it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(__file__).with_name("covered_notes")
EXAMPLE = ROOT / "gold" / "example"
HOSTILE = """
from pathlib import Path
Path({marker!r}).touch()
from sandscore.measures.measure import DocumentMeasure
class Evil(DocumentMeasure):
    name = "evil"
    description = "whoever imports this is told"
    def count(document, settings):
        return {{}}
"""
FAULTY = """
from sandscore.measures.measure import DocumentMeasure
class Sideways(DocumentMeasure):
    name, description, direction = "sideways", "x", "sideways"
class Formless(DocumentMeasure):
    name, description, formula = "formless", "x", "tp*2"
class Scoreless(DocumentMeasure):
    name, description, formula = "scoreless", "x", None
class Misnamed(DocumentMeasure):
    name, description = "another", "x"
class Halves(DocumentMeasure):
    name, description, formula = "halves", "x", "ratio(half/all)"
    def count(document, settings):
        return {"half": 0.5, "all": 1}
class Quoting(DocumentMeasure):
    name, description, formula = "quoting", "x", "sum(all)"
    def count(document, settings):
        raise KeyError(document.text)
class Mean(DocumentMeasure):
    name, description, formula = "mean", "x", None
    def count(document, settings):
        return {"half": 0.5}
    @classmethod
    def score(cls, total, settings):
        return {"f1": total["half"] / 9}
class Total(DocumentMeasure):
    name, description, formula = "total", "x", "sum(found)"
    def count(document, settings):
        return {"found": len(document.predictions)}
class Alien:
    name = "alien"
"""


def installed(folder: Path, module: str, text: str, points: dict[str, str], version: str = "1.0") -> Path:
    """A folder that holds a package as an installer leaves it."""
    info = folder / f"{module}-{version}.dist-info"
    info.mkdir(parents=True)
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: {version}\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("".join(f"[{group}]\n{rows}" for group, rows in points.items()))
    return folder


def sandscore(*words: Any, beside: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, with these folders on its path."""
    path = os.pathsep.join(map(str, (ROOT / "scoring", *beside)))
    program = "import sys\nfrom sandscore.cli.main import run\nsys.exit(run(sys.argv[1:]))"
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip


def score(submission: str, *words: Any, beside: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
    predictions = ROOT / "submissions" / submission / "predictions.json"
    files = ("--gold", EXAMPLE / "date.json", "--notes", EXAMPLE / "notes.json", "--predictions", predictions)
    return sandscore("score", "date", *files, "--submission", submission, *words, beside=beside)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("cards")
    found = {name: folder / f"{name}.json" for name in ("date-good", "date-weak")}
    for name, card in found.items():
        ran = score(name, "--measure", "covered_notes", "-o", card, beside=(PACKAGE,))
        assert ran.returncode == 0, ran.stderr
        assert "ratio(covered/notes) of covered" in ran.stdout
    return found


@pytest.fixture(scope="module")
def board(cards: dict[str, Path]) -> Path:
    """Ranked where the package is not installed."""
    path = cards["date-good"].with_name("board.json")
    ran = sandscore("rank", *cards.values(), "--measure", "covered_notes", "-o", path)
    assert ran.returncode == 0, ran.stderr
    return path


def by_hand(submission: str) -> tuple[int, int]:
    """Notes with gold that predictions cover, and all with gold, from the files themselves."""
    files = (EXAMPLE / "date.json", ROOT / "submissions" / submission / "predictions.json")
    sides = [{name_of(record): record["textDateAnnotations"] for record in read(path)} for path in files]
    covered = notes = 0
    for note, rows in sides[0].items():
        gold, found = places_of(rows), places_of(sides[1].get(note, []))
        notes += bool(gold)
        covered += bool(gold) and gold <= found
    return covered, notes


def name_of(record: Any) -> str:
    return str(record["annotationSource"]["resourceSource"]["name"]).rpartition("/")[2]


def places_of(rows: list[Any]) -> set[int]:
    return {place for a in rows for place in range(a["start"], a["start"] + a["length"])}


def test_the_example_is_as_short_as_the_docs_promise() -> None:
    assert len((PACKAGE / "covered_notes.py").read_text(encoding="utf-8").splitlines()) <= 20


def test_the_card_carries_components_formula_and_package(cards: dict[str, Path]) -> None:
    for name, path in cards.items():
        card, (covered, notes) = read(path), by_hand(name)
        assert card["measures"]["covered_notes"] == {
            "score": covered / notes,
            "components": {"covered": covered, "notes": notes},
            "formula": "ratio(covered/notes)",
            "direction": "higher",
            "plugin": "covered-notes 1.2",
        }
        rows = [note["covered_notes"] for note in card["per_note"].values()]
        assert [sum(column) for column in zip(*rows, strict=True)] == [covered, notes]


def test_the_board_is_ranked_by_it_and_says_what_it_is(board: Path) -> None:
    made = read(board)
    assert made["headline"] == "covered_notes"
    assert [row["submission"] for row in made["rows"]] == ["date-good", "date-weak"]
    for row in made["rows"]:
        covered, notes = by_hand(row["submission"])
        measure = row["measures"]["covered_notes"]
        assert measure["score"] == covered / notes
        assert measure["components"] == {"covered": covered, "notes": notes}
        assert measure["plugin"] == "covered-notes 1.2"
        assert measure["score_ci"][0] <= measure["score"] <= measure["score_ci"][1]


def test_verify_recomputes_it_without_the_package(board: Path, tmp_path: Path) -> None:
    ran = sandscore("verify", board, "--require", "recomputed")
    assert ran.returncode == 0, ran.stderr
    assert "all as printed" in ran.stdout
    made = read(board)
    made["rows"][0]["measures"]["covered_notes"]["components"]["covered"] += 1
    changed = board.with_name("changed.json")
    changed.write_text(json.dumps(made), encoding="utf-8")
    ran = sandscore("verify", changed)
    assert ran.returncode == 65
    assert "components/covered" in ran.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"score": 0.123}, "its components make"),
        ({"components": {"covered": 1, "notes": 1}}, "add up to"),
        ({"components": {"notes": 1, "covered": 1}}, "components other than those of its formula"),
        ({"formula": "ratio(covered/notes)+1"}, "is not a formula"),
        ({"formula": 7}, "a formula without all that belongs to it"),
    ],
)
def test_a_card_that_contradicts_itself_is_refused(
    change: dict[str, Any], said: str, cards: dict[str, Path], tmp_path: Path
) -> None:
    card = read(cards["date-good"])
    card["measures"]["covered_notes"] |= change
    (tmp_path / "card.json").write_text(json.dumps(card), encoding="utf-8")
    ran = sandscore("rank", tmp_path / "card.json")
    assert ran.returncode == 65
    assert said in ran.stderr


def test_two_versions_of_a_package_are_two_measures(cards: dict[str, Path], tmp_path: Path) -> None:
    other = read(cards["date-weak"])
    other["measures"]["covered_notes"]["plugin"] = "covered-notes 1.3"
    (tmp_path / "card.json").write_text(json.dumps(other), encoding="utf-8")
    ran = sandscore("rank", cards["date-good"], tmp_path / "card.json")
    assert ran.returncode == 65
    assert "not the same formula, direction or plug-in of covered_notes" in ran.stderr


def test_a_package_that_nobody_named_is_never_imported(board: Path, cards: dict[str, Path], tmp_path: Path) -> None:
    """It claims our names in every table and one that a card carries; only its own name, given by a user, loads it."""
    marker = tmp_path / "imported"
    rows = {
        "sandscore.measures": "token = hostile:Evil\ncovered_notes = hostile:Evil\nevil = hostile:Evil\n",
        "sandscore.formats": "brat = hostile:Evil\nours = hostile:Evil\n",
        "sandscore.profiles": "i2b2 = hostile:Evil\nchallenge = hostile:Evil\n",
    }
    beside = (installed(tmp_path / "site", "hostile", HOSTILE.format(marker=str(marker)), rows),)
    assert score("date-good", "--measure", "token", beside=beside).returncode == 0
    assert score("date-good", "--profile", "i2b2", beside=beside).returncode == 0
    assert sandscore("convert", "--formats", beside=beside).returncode == 0
    assert sandscore("rank", *cards.values(), "--measure", "covered_notes", beside=beside).returncode == 0
    assert sandscore("verify", board, beside=beside).returncode == 0
    assert score("date-good", "--measure", "tokens", beside=beside).returncode == 2
    assert not marker.exists()
    assert score("date-good", "--measure", "evil", beside=beside).returncode == 0
    assert marker.exists()


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = ("sideways", "formless", "scoreless", "misnamed", "halves", "quoting", "mean", "total", "alien")
    rows = "".join(f"{name} = faulty:{name.capitalize()}\n" for name in names) + "gone = faulty:Gone\n"
    return installed(tmp_path_factory.mktemp("faulty"), "faulty", FAULTY, {"sandscore.measures": rows})


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sideways", "its direction is 'sideways'; it is 'higher' or 'lower'"),
        ("formless", "is not a formula"),
        ("scoreless", "neither a formula nor a score of its own"),
        ("misnamed", "calls itself 'another'"),
        ("halves", "counts something that is of type float, not a whole number"),
        ("quoting", "fails with KeyError\n"),
        ("alien", "is not a class that extends sandscore.measures.measure:Measure"),
        ("gone", "of faulty 1.0 cannot be loaded: AttributeError"),
        ("covered_note", "unknown measure 'covered_note'"),
        ("instance_strikt", "did you mean instance_strict?"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(name: str, said: str, faulty: Path) -> None:
    ran = score("date-good", "--measure", name, beside=(faulty,))
    assert ran.returncode == 2
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr


def test_what_has_no_integer_components_is_told_as_not_recomputed(faulty: Path, tmp_path: Path) -> None:
    card, made = tmp_path / "card.json", tmp_path / "board.json"
    assert score("date-good", "--measure", "mean", "-o", card, beside=(faulty,)).returncode == 0
    assert read(card)["measures"]["mean"]["plugin"] == "faulty 1.0"
    assert sandscore("rank", card, "-o", made).returncode == 0
    assert read(made)["rows"][0]["shown"]["mean"]["plugin"] == "faulty 1.0"
    ran = sandscore("verify", made)
    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (0, "not recomputed: mean")
    ran = sandscore("verify", made, "--require", "recomputed")
    assert (ran.returncode, "not recomputed: mean" in ran.stderr) == (65, True)


def test_a_sum_is_ranked_and_verified(faulty: Path, tmp_path: Path) -> None:
    found = {name: tmp_path / f"{name}.json" for name in ("date-good", "date-weak")}
    for name, card in found.items():
        assert score(name, "--measure", "total", "-o", card, beside=(faulty,)).returncode == 0
    made = tmp_path / "board.json"
    assert sandscore("rank", *found.values(), "--measure", "total", "-o", made).returncode == 0
    for row in read(made)["rows"]:
        card = read(found[row["submission"]])
        assert row["measures"]["total"]["score"] == card["predicted_annotations"]
        low, high = row["measures"]["total"]["score_ci"]
        assert low <= card["predicted_annotations"] <= high
    ran = sandscore("verify", made, "--require", "recomputed")
    assert ran.returncode == 0, ran.stderr
