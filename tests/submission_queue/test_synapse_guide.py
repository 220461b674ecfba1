"""The organiser's guide for Synapse, followed command by command."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from cli.running import sandscore
from submission_queue.synapse_standin import synapse

from sandscore.base.bundled_content import submissions
from sandscore.queue.homes.synapse.synapse_options import SynapseOptions

pytestmark = pytest.mark.usefixtures("near_children")

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "synapse.md").read_text(encoding="utf-8")


def commands() -> list[str]:
    """Every line of shell, those that go on in the next joined."""
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]


def followed(line: str, key: str) -> str | None:
    """The verb of a command of ours; whatever else there is to do is done by a shell."""
    words = [key if word == "ID" else word for word in shlex.split(line)]
    if words[0] != "sandscore":
        subprocess.run(["sh", "-euc", line], check=True)
        return None
    ran = sandscore(*words[1:])
    assert ran.code == 0, f"{line}\n{ran.err}"
    return words[2]


def test_the_guide_leads_from_nothing_to_a_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold").symlink_to(ROOT / "gold")
    with synapse(tmp_path / "synapse") as queue:
        key = queue.submit_file((submissions() / "date-good" / "predictions.json").read_bytes())
        queue.config().rename("synapse.config")
        course = [(verb, queue.status(key)) for line in commands() if (verb := followed(line, key)) is not None]
        begun = [("init", "RECEIVED"), ("list", "RECEIVED"), ("work", "SCORED"), ("show", "SCORED")]
        orders = [("requeue", "RECEIVED")]
        after = ("cancel", "drain", "undrain", "outbox", "resend", "export", "work")
        assert course == begun + orders + [(verb, "REJECTED") for verb in after]
        assert len(queue.world.tables) == len(queue.world.wikis) == 1
        assert queue.world.unknown == []
    (shown,) = (json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
    assert json.loads(Path("dates/synapse.json").read_bytes()) == shown | {"config": str(tmp_path / "synapse.config")}


def test_the_guide_names_every_option_and_its_default() -> None:
    table = {name: row for row in re.findall(r"^\| (`.*)$", PAGE, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert SynapseOptions.model_fields.keys() <= table.keys()
    for name, field in SynapseOptions.model_fields.items():
        if isinstance(field.default, bool | int | float):
            assert re.search(rf"\b{json.dumps(field.default).removesuffix('.0')}\b", table[name]), name
