"""What the guides give to keep a worker running: read as those that run it read it, and started."""

import configparser
import json
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from queue_samples import RIGHT, hand_in, with_home
from queue_samples import queue as embedded
from submission_queue.synapse_homes import state
from submission_queue.synapse_standin import Queue

from sandscore.base.bundled_content import submissions

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ("organisers.md", "synapse.md")
OURS = re.compile(r"/srv/challenge/queue|/queue|/var/lib/sandscore/dates")
"""The folder of a queue, or a worker's state, on the guides' machines."""
READ = """
import json, pathlib, sys
import compose, yaml
schema = json.loads((pathlib.Path(compose.__file__).parent / "config" / "compose_spec.json").read_bytes())
print(json.dumps([schema, yaml.safe_load(sys.stdin.read())]))
"""


Composed = Callable[[str], tuple[dict[str, Any], dict[str, Any]]]


def block(guide: str, kind: str) -> str:
    """Of the service."""
    page = (ROOT / "docs" / guide).read_text(encoding="utf-8")
    found = re.findall(rf"^```{kind}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    service: str
    (service,) = [one for one in found if "queue" in one and "work" in one]
    return service.replace("\\\n", " ")


def unit(guide: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(block(guide, "ini"))
    return parser


@pytest.fixture(scope="module")
def composed() -> Composed:
    """Compose's own schema, and a guide's file."""
    made = subprocess.run(
        [sys.executable, ROOT / "tools" / "peer_env.py", "compose"], capture_output=True, text=True, check=True
    )

    def read(guide: str) -> tuple[dict[str, Any], dict[str, Any]]:
        command = [made.stdout.strip(), "-c", READ]
        done = subprocess.run(command, input=block(guide, "yaml"), capture_output=True, text=True, check=True)
        schema, content = json.loads(done.stdout)
        return schema, content

    return read


@pytest.mark.parametrize("guide", GUIDES)
def test_compose_accepts_the_file(guide: str, composed: Composed) -> None:
    schema, content = composed(guide)
    check = jsonschema.Draft7Validator(schema)
    assert [str(error.message) for error in check.iter_errors(content)] == []
    (service,) = content["services"].values()
    service["comand"] = service.pop("command")
    assert not check.is_valid(content), "the schema knows what a service is"


@pytest.mark.parametrize("guide", GUIDES)
def test_unit_and_compose_say_the_same(guide: str, composed: Composed) -> None:
    service, ((_, container),) = unit(guide)["Service"], composed(guide)[1]["services"].items()
    ours = [OURS.sub("QUEUE", word) for word in shlex.split(service["ExecStart"])[1:]]
    assert ours == [OURS.sub("QUEUE", word) for word in container["command"][1:]]
    assert (service["Restart"], container["restart"], service["KillMode"]) == ("always", "always", "mixed")
    assert (service["TimeoutStopSec"], container["stop_grace_period"]) == ("60", "60s")
    assert any(place.endswith(":ro") and "gold" in place for place in container["volumes"])
    assert OURS.match(service["ReadWritePaths"] + "/dates")


def served(guide: str, folder: Path, done: Callable[[], bool]) -> int:
    """The service's command on a folder here, stopped as a service is; its exit code."""
    words = shlex.split(unit(guide)["Service"]["ExecStart"])[1:]
    own = [str(folder) if OURS.fullmatch(word) else word for word in words]
    assert str(folder) in own
    command = [sys.executable, "-c", "from sandscore.cli.main import main; main()", *own]
    worker = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    begun = time.monotonic()
    while not done():
        assert worker.poll() is None, (worker.communicate()[1] or b"").decode()
        assert time.monotonic() - begun < 60, "nothing is scored"
        time.sleep(0.1)
    worker.send_signal(signal.SIGTERM)
    worker.communicate(timeout=60)
    return worker.returncode


def test_the_service_of_a_folder_works_and_stops(tmp_path: Path) -> None:
    workspace = embedded(tmp_path)
    hand_in(workspace, RIGHT)

    def done() -> bool:
        return [str(one.status) for one in with_home(workspace, lambda home: home.submissions())] == ["SCORED"]

    assert served("organisers.md", workspace.root, done) == 0


def test_the_service_of_a_synapse_queue_works_and_stops(tmp_path: Path, queue: Queue) -> None:
    key = queue.submit_file((submissions() / "date-good" / "predictions.json").read_bytes())
    known = {"evaluation": queue.id, "config": str(queue.config()), "publish": False}
    assert served("synapse.md", state(tmp_path / "state", known), lambda: queue.status(key) == "SCORED") == 0
