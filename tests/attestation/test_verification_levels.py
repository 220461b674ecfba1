"""``verify`` with log, receipts, signatures and witnesses, as somebody types it."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from queue_samples import HALF, RIGHT, annotations, queue

from sandscore.cli.main import cli, run


def said(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a queue serves, and beside it receipts and the keys of an organiser and a witness."""
    folder = tmp_path_factory.mktemp("served")
    workspace = queue(folder)
    for team, spans in (("A", RIGHT), ("B", HALF)):
        given = folder / "given.json"
        given.write_bytes(annotations(spans))
        words = ["--task", "date", "--team", team, "--predictions", given, "--format", "json"]
        told = json.loads(said("queue", "submit", workspace.root, *words).output)
        assert told["receipt"]["position"] == {"A": 2, "B": 3}[team]
        receipt = said("queue", "receipt", workspace.root, told["id"]).output
        assert json.loads(receipt) == told["receipt"]
        (folder / f"receipt-{team}").write_text(receipt)
        seen = json.loads(said("queue", "show", workspace.root, told["id"], "--team-view", "--format", "json").output)
        assert seen["receipt"] == told["receipt"]
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    for name in ("organiser", "witness"):
        (folder / f"{name}.pub").write_text(
            said("keys", "new", f"example.org/{name}", "-o", folder / f"{name}.key").output
        )
    shutil.copytree(workspace.root / "public", folder / "public")
    return folder


def board(served: Path) -> Path:
    return served / "public" / "boards" / "date.json"


def log(served: Path) -> list[object]:
    return ["--log", served / "public" / "log"]


def test_a_board_its_log_and_receipts(served: Path) -> None:
    receipts = [word for team in "AB" for word in ("--receipt", served / f"receipt-{team}")]
    told = said("verify", board(served), *log(served), *receipts)
    assert told.exit_code == 0, told.output
    assert "log: line 5 of 5 is about this board; signed by sandscore.log/siege-" in told.output


def test_a_witness_attests(served: Path, tmp_path: Path) -> None:
    shutil.copytree(served, tmp_path / "s")
    place = board(tmp_path / "s")
    cards, key, public = served / "public" / "cards", served / "witness.key", served / "witness.pub"
    assert run(["verify", str(place), "--require", "attested"]) == 65
    told = said("witness", place, "--cards", cards, "--sign", key)
    assert told.output == f"{place.with_name('date.example-org-witness.intoto.json')}\n"
    assert run(["verify", str(place), "--require", "attested"]) == 65, "nobody named the key"
    named = said("verify", place, "--require", "attested", "--key", public)
    assert named.exit_code == 0, named.output
    assert "attested by 0.2.0 from 2 cards: example.org/witness+" in named.output
    as_json = json.loads(said("verify", place, "--key", public.read_text().strip(), "--format", "json").output)
    assert (as_json["level"], as_json["statements"][0]["trusted"]) == ("attested", True)


def test_a_witness_signs_nothing_that_was_touched(served: Path, tmp_path: Path) -> None:
    shutil.copytree(served / "public", tmp_path / "public")
    place = tmp_path / "public" / "boards" / "date.json"
    place.write_text(place.read_text().replace('"wins": 1.0', '"wins": 0.5').replace('"rank": 2', '"rank": 1'))
    words = ["--cards", str(tmp_path / "public" / "cards"), "--sign", str(served / "witness.key")]
    assert run(["witness", str(place), *words, "-o", str(tmp_path / "out.intoto.json")]) == 65
    assert not (tmp_path / "out.intoto.json").exists()


def test_a_published_board_is_signed(served: Path, tmp_path: Path) -> None:
    words = [str(board(served)), "-o", str(tmp_path / "site"), "--sign", str(served / "organiser.key")]
    assert run(["publish", *words]) == 0
    place = tmp_path / "site" / "date" / "board.json"
    told = said("verify", place, "--key", served / "organiser.pub")
    assert told.exit_code == 0, told.output
    assert "signed: example.org/organiser+" in told.output
    place.write_text(json.dumps(json.loads(place.read_text()), sort_keys=True, indent=3))
    assert run(["verify", str(place)]) == 0, "formatting is no meaning"
    sealed = place.with_name("board.intoto.json")
    other = json.loads(sealed.read_text())
    other["payload"] = other["payload"][:-8] + "AAAAAAA="
    sealed.write_text(json.dumps(other))
    assert run(["verify", str(place)]) == 65


@pytest.mark.parametrize(
    "words",
    [["--receipt", "receipt-A"], ["--checkpoint", "public/log/checkpoint"], ["--log-key", "witness.pub"]],
    ids=lambda words: words[0],
)
def test_evidence_about_a_log_needs_the_log(served: Path, words: list[str]) -> None:
    assert run(["verify", str(board(served)), words[0], str(served / words[1])]) == 2


def test_keys_of_another_log_and_files_that_are_not_there(served: Path) -> None:
    place = str(board(served))
    assert (
        run(["verify", place, "--log", str(served / "public" / "log"), "--log-key", str(served / "witness.pub")]) == 65
    )
    assert run(["verify", place, "--log", str(served / "nowhere")]) == 66
    assert run(["verify", place, "--key", "a+b"]) == 2
    assert run(["verify", place, "--statement", str(served / "nowhere")]) == 66
    assert (
        run(["verify", place, "--log", str(served / "public" / "log"), "--receipt", str(served / "witness.pub")]) == 65
    )


def test_a_log_of_another_key_from_now_on(served: Path, tmp_path: Path) -> None:
    shutil.copytree(served / "queue", tmp_path / "queue", symlinks=True)
    told = said("queue", "rekey", tmp_path / "queue")
    assert told.exit_code == 0
    verified = said(
        "verify", board(served), "--log", tmp_path / "queue" / "public" / "log", "--log-key", told.output.strip()
    )
    assert "line 5 of 6" in verified.output, verified.output
