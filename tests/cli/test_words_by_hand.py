"""Words of the command line, one function at a time."""

import json
from pathlib import Path

import click
import pytest

from sandscore.base.errors import UsageFault
from sandscore.cli.card_text import _beside
from sandscore.cli.demo import MARK, _fresh
from sandscore.cli.options import own_tasks
from sandscore.cli.queue.rescoring_text import as_json
from sandscore.cli.tasks import command


def test_what_was_written_is_listed_or_null() -> None:
    assert json.loads(as_json([], None)) == {"groups": [], "written": None}
    assert json.loads(as_json([], ("a",))) == {"groups": [], "written": ["a"]}


def test_a_remark_stands_beside_its_row_where_there_is_room() -> None:
    assert _beside("row", "remark", None) == _beside("row", "remark", 11) == "row  remark"
    assert _beside("row", "remark", 10).splitlines()[0] == "row"


def test_a_demo_takes_an_empty_folder_or_its_own(tmp_path: Path) -> None:
    made = _fresh(tmp_path)
    assert (made / MARK).exists()
    assert (_fresh(tmp_path / "no" / "such") / MARK).exists()
    (made / "left").touch()
    assert not (_fresh(tmp_path) / "left").exists()
    (tmp_path / MARK).unlink()
    (tmp_path / "mine").touch()
    with pytest.raises(UsageFault, match="was not made by a demo"):
        _fresh(tmp_path)


def test_own_tasks_of_a_context_that_is_given() -> None:
    assert own_tasks(click.Context(click.Command("any"))) == {}


def test_a_task_file_is_read_but_not_while_a_shell_completes(tmp_path: Path) -> None:
    table = '[tasks.drug]\narray = "textDrugAnnotations"\n'
    (tmp_path / "tasks.toml").write_text(table)
    (tmp_path / "challenge.toml").write_text(f'challenge = "c"\nheadline = "token"\n{table}')
    for option, file in (("--task-file", "tasks.toml"), ("--challenge", "challenge.toml")):
        for completing in (False, True):
            words = ["drug", option, str(tmp_path / file), "--format", "json"]
            context = command.make_context("tasks", words[1:], resilient_parsing=completing)
            assert list(own_tasks(context)) == ([] if completing else ["drug"]), option


def test_a_schema_ends_with_one_line_feed(capsys: pytest.CaptureFixture[str]) -> None:
    command.main(["date", "--schema"], standalone_mode=False)
    assert capsys.readouterr().out.endswith("}\n")
    command.main(["date", "--schema"], standalone_mode=False)
    assert not capsys.readouterr().out.endswith("\n\n")


def test_a_schema_is_of_one_task() -> None:
    with pytest.raises(UsageFault, match="name it"):
        command.main(["--schema"], standalone_mode=False)
