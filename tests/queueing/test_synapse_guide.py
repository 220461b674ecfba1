"""The organiser's guide for Synapse, followed command by command."""

import json
import re
import shlex
from pathlib import Path

import pytest
from cli.running import sandscore
from queueing.synapse_standin import synapse

from sandscore.content import submissions
from sandscore.queueing.synapse.options import SynapseOptions

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "synapse.md").read_text(encoding="utf-8")


def commands() -> list[list[str]]:
    """The words of each line of shell that begins with ``sandscore``."""
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return [shlex.split(line) for block in blocks for line in block.splitlines() if line.startswith("sandscore ")]


def test_the_guide_leads_from_nothing_to_a_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold").symlink_to(ROOT / "gold")
    (options,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    with synapse(tmp_path / "synapse") as queue:
        key = queue.submit_file((submissions() / "date-good" / "predictions.json").read_bytes())
        queue.config().rename("synapse.config")
        seen = []
        for words in commands():
            ran = sandscore(*[key if word == "ID" else word for word in words[1:]])
            assert ran.code == 0, f"{' '.join(words)}\n{ran.err}"
            seen.append((words[2], queue.status(key)))
            if words[2] == "init":
                Path("dates/synapse.json").write_text(options, encoding="utf-8")
        course = [("init", "RECEIVED"), ("list", "RECEIVED"), ("work", "SCORED"), ("show", "SCORED")]
        assert seen == [*course, ("requeue", "RECEIVED"), ("cancel", "REJECTED"), ("export", "REJECTED")]
        assert len(queue.world.tables) == len(queue.world.wikis) == 1
        assert queue.world.unknown == []


def test_the_guide_names_every_option_and_its_default() -> None:
    table = {name: row for row in re.findall(r"^\| (`.*)$", PAGE, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert SynapseOptions.model_fields.keys() <= table.keys()
    for name, field in SynapseOptions.model_fields.items():
        if isinstance(field.default, bool | int | float):
            assert re.search(rf"\b{json.dumps(field.default).removesuffix('.0')}\b", table[name]), name
