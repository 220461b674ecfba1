"""One code for one mistake: every kind of file that people hand us, damaged in every way, given to every verb that
reads it. Each ends with the code of its kind, one sentence that names the file, and never a traceback."""

import itertools
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sandscore.base.bundled_content import example_gold, submissions
from sandscore.cli.main import run
from sandscore.records.run_record import Outcome, RunLimits, RunRecord

MISSING = 66
PARTICIPANT, ORGANISER = 65, 78

KINDS = {
    "board": ("board.json", PARTICIPANT),
    "card": ("card.json", PARTICIPANT),
    "challenge": ("challenge.toml", ORGANISER),
    "settings": ("queue/private/settings.json", ORGANISER),
    "queued challenge": ("queue/private/challenge.toml", ORGANISER),
    "run record": ("run.json", ORGANISER),
    "HIPAA map": ("hipaa.json", ORGANISER),
    "predictions": ("predictions.json", PARTICIPANT),
    "gold": ("gold.json", ORGANISER),
    "notes": ("notes.json", ORGANISER),
}
"""Its place in the folder, and whose fault it is if it is not what it should be."""

SCORE = "score date --gold gold.json --predictions predictions.json --notes notes.json -o scored.json"
VERBS = {
    "board": ["verify board.json", "publish board.json -o site"],
    "card": ["rank card.json", "rank card.json -o other.json", "verify hidden.json card.json"],
    "challenge": [
        "rank good.json --challenge challenge.toml",
        "publish good-board.json --challenge challenge.toml -o site",
        "queue init new --challenge challenge.toml --data data",
        "attack --challenge challenge.toml",
        f"{SCORE} --html page.html --challenge challenge.toml",
    ],
    "settings": [
        "queue list queue",
        "queue submit queue --team A --task date --predictions predictions.json",
        "queue work queue --once",
    ],
    "queued challenge": [
        "queue list queue",
        "queue show queue s1",
        "queue export queue -o exported",
        "queue rescore queue --plan",
    ],
    "run record": [f"{SCORE} --run run.json"],
    "HIPAA map": ["score address --gold address.json --predictions address.json --hipaa-map hipaa.json -o scored.json"],
    "predictions": [SCORE, "validate date predictions.json"],
    "gold": [SCORE, "power date --gap 0.1 --gold gold.json --notes notes.json --simulations 20"],
    "notes": [SCORE, "power date --gap 0.1 --gold gold.json --notes notes.json --simulations 20"],
}

Damage = Callable[[Path], object]


def _another_kind(path: Path) -> None:
    """A board is no card, a card no board, and neither is anything else."""
    other = "card.json" if path.name == "board.json" else "good-board.json"
    shutil.copyfile(next(place / other for place in path.parents if (place / other).exists()), path)


def _cut(path: Path) -> None:
    """In the middle of a word in quotes."""
    content = path.read_bytes()
    path.write_bytes(content[: content.index(b'"', len(content) // 2 if path.suffix == ".json" else 0) + 2])


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, Damage] = {
    "missing": Path.unlink,
    "directory": _directory,
    "binary": lambda path: path.write_bytes(bytes(range(256))),
    "empty": lambda path: path.write_bytes(b""),
    "wrong JSON": lambda path: path.write_bytes(b'{"a": 1,}'),
    "wrong type": lambda path: path.write_bytes(b'"a word"'),
    "wrong keys": lambda path: path.write_bytes(b'{"nobody": "knows"}'),
    "another kind": _another_kind,
    "cut short": _cut,
}
CASES = [
    pytest.param(kind, damage, words, id=f"{kind}, {damage}: {' '.join(words.split()[:2])}")
    for (kind, verbs), damage in itertools.product(VERBS.items(), DAMAGES)
    for words in verbs
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which every file is what it should be."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "data").mkdir()
    for name in ("notes.json", "date.json", "address.json", "person-name.json", "challenge.toml"):
        shutil.copyfile(example_gold() / name, folder / "data" / name)
    shutil.copyfile(example_gold() / "notes.json", folder / "notes.json")
    shutil.copyfile(example_gold() / "date.json", folder / "gold.json")
    shutil.copyfile(example_gold() / "address.json", folder / "address.json")
    shutil.copyfile(example_gold() / "challenge.toml", folder / "challenge.toml")
    shutil.copyfile(example_gold().parent / "hipaa.json", folder / "hipaa.json")
    shutil.copyfile(submissions() / "date-good" / "predictions.json", folder / "predictions.json")
    (folder / "run.json").write_text(_record().model_dump_json())
    before = Path.cwd()
    os.chdir(folder)
    try:
        assert run(SCORE.split()) == 0
        shutil.copyfile("scored.json", "card.json")
        shutil.copyfile("scored.json", "good.json")
        assert run("rank card.json -o board.json".split()) == 0
        shutil.copyfile("board.json", "good-board.json")
        hidden = json.loads(Path("board.json").read_text())
        for row in hidden["rows"]:
            row["card"] = None
        Path("hidden.json").write_text(json.dumps(hidden))
        assert run("queue init queue --challenge challenge.toml --data data".split()) == 0
    finally:
        os.chdir(before)
    return folder


def _record() -> RunRecord:
    return RunRecord(
        outcome=Outcome.FINISHED,
        task="date",
        protocol="batch",
        limits=RunLimits(),
        notes=72,
        notes_sha256="0" * 64,
        sandscore="0.1.0",
        kind="command",
        isolation="none",
        concurrency=1,
    )


@pytest.fixture
def folder(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "place"
    shutil.copytree(whole, place, symlinks=True)
    monkeypatch.chdir(place)
    return place


@pytest.mark.parametrize(("kind", "damage", "words"), CASES)
def test_one_code_for_one_mistake(
    kind: str, damage: str, words: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    name, whose = KINDS[kind]
    DAMAGES[damage](folder / name)
    expected = MISSING if damage in ("missing", "directory") else whose
    code = run(words.split())
    said = capfd.readouterr()
    assert (code, said.out + said.err) == (expected, said.out + said.err)
    assert "Traceback" not in said.out + said.err
    assert "a bug of ours" not in said.err
    sentences = [line for line in said.err.splitlines() if line.startswith("sandscore: ")]
    assert len(sentences) == 1 or (kind in ("predictions", "gold", "notes") and not sentences and said.out + said.err)
    assert sentences == [] or Path(name).name in sentences[0] or next(iter(Path(name).parent.parts), "") in sentences[0]


def test_without_damage_all_is_well(folder: Path) -> None:
    for words in ("verify board.json", "publish board.json -o site", f"{SCORE} --run run.json", "queue list queue"):
        assert run(words.split()) == 0


def test_a_card_that_a_board_names_is_a_card_in_every_verb(folder: Path) -> None:
    """Its bytes are those the board was made from, as far as the hash goes."""
    from hashlib import sha256

    (folder / "card.json").write_text('{"nobody": "knows"}')
    board = json.loads((folder / "board.json").read_text())
    for row in board["rows"]:
        row["card"]["sha256"] = sha256((folder / "card.json").read_bytes()).hexdigest()
    (folder / "board.json").write_text(json.dumps(board))
    assert run("verify board.json".split()) == PARTICIPANT
    assert run("publish board.json -o site".split()) == PARTICIPANT
