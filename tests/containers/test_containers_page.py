"""docs/containers.md: its commands run as they are written, and its numbers are those of the limits."""

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from house.test_commands import commands_in

from sandscore.cli.main import run
from sandscore.containers.engines.docker.image_store import build_image
from sandscore.records.run_record import MIB, Outcome, RunLimits

if TYPE_CHECKING:
    from docker import DockerClient

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "containers.md").read_text(encoding="utf-8")


@pytest.mark.engine
def test_commands(client: "DockerClient", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``docker build`` is done as it stands there, but on the base image that is at hand."""
    (tmp_path / "gold").symlink_to(ROOT / "gold")
    monkeypatch.chdir(tmp_path)
    commands = commands_in(PAGE)
    verbs = ["init", "run", "evaluate", "run", "run", "init", "run", "run", "doctor", "attack"]
    assert [words[1] for words in commands] == verbs
    built = []
    try:
        for words in commands:
            assert run(words[1:]) == 0, shlex.join(words)
            if words[1] == "init":
                name = words[3]
                assert f"docker build -t {name} {name}\n" in PAGE
                files = {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
                build_image(client, name, files, {"BASE": "sandscore-base:bookworm"})
                built.append(name)
    finally:
        for name in built:
            client.images.remove(name, force=True)


@pytest.mark.parametrize(
    ("row", "numbers"),
    [
        ("network", ()),
        ("user", (RunLimits().user,)),
        ("file system", (RunLimits().tmp_bytes // MIB,)),
        ("memory", (RunLimits().memory_bytes // MIB // 1024,)),
        ("CPU, processes, open files", (f"{RunLimits().cpus:g}, {RunLimits().processes}, {RunLimits().open_files}",)),
        ("ready", (f"{RunLimits().ready_seconds:g} s",)),
        ("one note", (f"{RunLimits().note_seconds:g} s", f"{RunLimits().note_seconds_per_1000_characters:g} s")),
        (
            "one answer",
            (RunLimits().reply_bytes >> 10, RunLimits().reply_bytes_per_character, RunLimits().reply_bytes_most // MIB),
        ),
        ("log", (RunLimits().log_bytes // MIB, RunLimits().log_kept_bytes >> 10)),
        ("image", (RunLimits().image_bytes // MIB // 1024,)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_numbers(row: str, numbers: tuple[object, ...]) -> None:
    [line] = re.findall(rf"^\| {row} \|.*$", PAGE, re.MULTILINE)
    for number in numbers:
        assert re.search(rf"\b{number}\b", line), line


def test_every_outcome_is_explained() -> None:
    assert re.findall(r"^\| `([a-z_]+)` \|", PAGE, re.MULTILINE) == [str(outcome) for outcome in Outcome]
