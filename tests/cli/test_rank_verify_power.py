"""The verbs of ranking as a shell sees them: output, files and exit codes."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from ranking_cards import card_content, drawn_rows

from sandscore.base.bundled_content import example_gold
from sandscore.cli.main import run

CHALLENGE = 'challenge = "ours"\nresamples = 300\n[[phases]]\nname = "open"\nfeedback = "blind"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for i in range(3):
        content = card_content(f"s{i}", drawn_rows(0.7 + 0.1 * i, 40, i))
        (tmp_path / f"s{i}.json").write_text(json.dumps(content))
    (tmp_path / "empty.json").write_text('{"textDateAnnotations": []}')
    (tmp_path / "challenge.toml").write_text(CHALLENGE)
    (tmp_path / "token.toml").write_text('challenge = "ours"\nheadline = "token"\n')
    return tmp_path


CARDS = ["s0.json", "s1.json", "s2.json"]


def test_a_board_in_a_file_and_its_verification(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rank", *CARDS, "-o", "board.json"]) == 0
    assert "3 rows" in capsys.readouterr().out
    board = json.loads((folder / "board.json").read_text())
    assert [row["card"]["path"] for row in board["rows"]] == ["s2.json", "s1.json", "s0.json"]
    assert run(["verify", "board.json", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["verified"] is True
    (folder / "board.json").write_text((folder / "board.json").read_text().replace('"tp": ', '"tp": 1'))
    assert run(["verify", "board.json"]) == 65
    assert "/rows/0/measures/instance_strict/tp is" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("output_format", "begins"),
    [
        ("text", "s2: F1 0.885; chosen as best of 3, so expect about "),
        ("json", "{\n"),
        ("csv", "rank,"),
        ("markdown", "## date"),
    ],
)
def test_formats_on_stdout(folder: Path, capsys: pytest.CaptureFixture[str], output_format: str, begins: str) -> None:
    assert run(["rank", *CARDS, "--format", output_format]) == 0
    assert capsys.readouterr().out.startswith(begins)


def test_a_blind_phase_shows_nothing_unless_everything_is_asked_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["rank", *CARDS, "--challenge", "challenge.toml", "--format", "json"]) == 0
    hidden = json.loads(capsys.readouterr().out)
    assert (hidden["phase"], hidden["rows"][0]["measures"]) == ("open", {})
    assert run(["rank", *CARDS, "--challenge", "challenge.toml", "--everything", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["measures"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["rank"], 2, "CARD"),
        (["rank", "none.json"], 66, "none.json"),
        (["rank", "."], 66, "directory"),
        (["rank", "s0.json", "s0.json"], 65, "both called 's0'"),
        (["rank", "challenge.toml"], 65, "not JSON"),
        (["rank", *CARDS, "--measure", "token"], 2, "instance_strict"),
        (["rank", *CARDS, "--challenge", "none.toml"], 66, "none.toml"),
        (["rank", *CARDS, "--challenge", "s0.json"], 78, "s0.json is not TOML"),
        (["rank", *CARDS, "--challenge", "challenge.toml", "--phase", "x"], 2, "open"),
        (["rank", *CARDS, "--challenge", "token.toml"], 78, "token.toml: no card can be ranked by 'token'"),
        (["rank", *CARDS, "-o", "none/board.json"], 2, "none/board.json"),
        (["verify", "none.json"], 66, "none.json"),
        (["verify", "s0.json"], 65, "not a board"),
        (["power", "date", "--gap", "0.02", "--gold", "none.json"], 66, "none.json"),
        (["power", "nothing", "--gap", "0.02", "--gold", "s0.json"], 2, "unknown task"),
        (["power", "date", "--gap", "0.02", "--gold", "s0.json"], 78, "gold or notes have errors"),
        (["power", "date", "--gap", "0.02", "--gold", "empty.json"], 78, "no annotations"),
        (["power", "date", "--gap", "-1", "--gold", "s0.json"], 2, "gap"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_faults(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str) -> None:
    assert run(arguments) == code
    heard = capsys.readouterr().err
    assert said in heard
    assert "Traceback" not in heard


def test_power_on_the_example_gold(capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--gold", str(example_gold() / "date.json"), "--notes", str(example_gold() / "notes.json")]
    assert run(["power", "date", "--gap", "0.05", *files, "--simulations", "50", "--format", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["gold_patients"] < len(json.loads((example_gold() / "notes.json").read_text()))
    assert 0 < said["patients"] < 200
    assert run(["power", "date", "--gap", "0.05", *files, "--simulations", "50"]) == 0
    assert f"{said['patients']} patients separate F1 0.9 from 0.85" in capsys.readouterr().out


@pytest.mark.parametrize("verb", ["rank", "verify", "power"])
def test_help_ends_in_an_example(verb: str) -> None:
    import importlib

    command = importlib.import_module(f"sandscore.cli.{verb}").command
    said = CliRunner().invoke(command, ["--help"]).output
    assert f"Example:\n    sandscore {verb} " in said
