"""Every sandscore command in the README, the docs and the help texts runs as it is written."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from sandscore.cli.main import VERBS, cli, run

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NEEDS_MORE = {"containers.md", "organisers.md", "participants.md", "serving.md", "synapse.md", "tab.md"}
"""Pages whose commands need an engine, a queue, Synapse or a file made before; tests of their own follow them."""


def commands_in(text: str) -> list[list[str]]:
    """The words of each line in a code block that begins with ``sandscore``; a backslash continues a line."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    blocks = [block for language, block in fenced if language in ("", "sh", "console", "bash")]
    joined = [
        line.strip().removeprefix("$ ") for block in blocks for line in re.sub(r"\\\n\s*", " ", block).splitlines()
    ]
    return [shlex.split(line, comments=True) for line in joined if line.startswith("sandscore ")]


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that sees the repository's own folders."""
    for name in ("gold", "submissions", "schemas", "leaderboard", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", [p for p in PAGES if p.name not in NEEDS_MORE], ids=lambda p: p.name)
def test_commands_of_a_page(page: Path, workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in commands_in(page.read_text(encoding="utf-8")):
        globbed = [g for word in words[1:] for g in (sorted(map(str, Path().glob(word))) if "*" in word else [word])]
        assert run(globbed) == 0, f"{shlex.join(words)}\n{capsys.readouterr().err}"


def test_pages_hold_commands() -> None:
    assert sum(len(commands_in(page.read_text(encoding="utf-8"))) for page in PAGES) > 10


def verbs(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from verbs(found, (*path, name))
        else:
            yield (*path, name), found


def test_every_verb_has_help_with_an_example() -> None:
    for path, found in verbs(cli):
        assert "Example:" in (found.help or ""), path
        assert f"sandscore {' '.join(path)}" in (found.help or ""), path


ELSEWHERE = {"run", "evaluate", "attack", "doctor", "queue", "serve", "submit", "status"}
"""Verbs whose examples need an engine or a queue; tests of their own run them."""


def examples() -> dict[str, list[list[str]]]:
    """By verb, the lines of its help."""
    helps = {"sandscore": cli.help, **{" ".join(path): found.help for path, found in verbs(cli)}}
    return {
        verb: [
            shlex.split(line)
            for line in re.sub(r"\\\n\s*", " ", (text or "").partition("Example:")[2]).splitlines()
            if line.strip().startswith("sandscore ")
        ]
        for verb, text in helps.items()
        if verb.split()[0] not in ELSEWHERE
    }


@pytest.mark.parametrize("verb", examples())
def test_examples_in_help_run(verb: str, workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One after another: what a line makes the next may use."""
    for words in examples()[verb]:
        globbed = [g for word in words[1:] for g in (sorted(map(str, Path().glob(word))) if "*" in word else [word])]
        assert run(globbed) == 0, capsys.readouterr().err


def test_every_verb_is_in_its_module() -> None:
    assert set(VERBS) == {path[0] for path, _ in verbs(cli)}
