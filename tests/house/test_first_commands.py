"""The two commands on anybody's machine: without root or engine they say what they leave out, and how to get it."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NO_ENGINE = "no Docker engine answers at unix:///no/engine.sock; start one (Debian: apt-get install docker.io)"


@pytest.fixture
def ordinary(tmp_path: Path) -> dict[str, str]:
    """The environment of an account that is not root, and has no engine."""
    (tmp_path / "id").write_text('#!/bin/sh\n[ "$1" = -u ] && echo 1000\n', encoding="ascii")
    (tmp_path / "id").chmod(0o755)
    return os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "DOCKER_HOST": "unix:///no/engine.sock"}


def ran(words: list[str | Path], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_demo_shows_the_whole_flow_and_says_in_one_line_what_it_left_out(
    ordinary: dict[str, str], tmp_path: Path
) -> None:
    done = ran([ROOT / "tools" / "demo.sh", tmp_path / "demo"], ordinary)
    assert done.returncode == 0, done.stderr
    shown = [line.split()[2:4] for line in done.stdout.splitlines() if line.startswith("$ sandscore ")]
    verbs = list(dict.fromkeys(words[0] if words[0] != "queue" else " ".join(words) for words in shown))
    assert verbs == [
        "validate", "score", "rank", "publish", "verify",
        "queue init", "queue submit", "queue work", "queue list", "queue show", "queue disclosed",
        "queue team", "serve",
    ]  # fmt: skip
    last = done.stdout.splitlines()[-1]
    assert last.startswith("demo: left out: running the example images in containers (engine: no Docker engine")
    assert "(Debian: apt-get install docker.io)" in last
    assert (tmp_path / "demo" / "queue" / "public" / "site" / "index.html").exists()
    assert (tmp_path / "demo" / "site" / "index.html").exists()


@pytest.mark.slow
def test_the_whole_suite_says_what_it_needs_before_it_starts(ordinary: dict[str, str]) -> None:
    done = ran([ROOT / "tools" / "needs.sh"], ordinary)
    assert (done.returncode, done.stdout) == (75, "")
    first, *lacking = done.stderr.splitlines()
    assert first == "test: the whole suite needs what is not here; make quick needs none of it:"
    assert NO_ENGINE in lacking[0]
    assert "root, to enter the network of containers" in lacking[1]


@pytest.mark.parametrize(("target", "needs"), [("quick", False), ("test", True)])
def test_only_the_whole_suite_asks_for_an_engine_root_or_a_browser(target: str, needs: bool) -> None:
    planned = ran(["make", "--dry-run", target], dict(os.environ)).stdout
    for script in ("tools/needs.sh", "tools/engine.sh", "tools/base_image.sh", "tools/browser.sh"):
        assert (script in planned) is needs, script
    if needs:
        assert planned.index("tools/needs.sh") < planned.index("ruff")
