"""A queue that sandscore 0.1.0 made, kept as it left it, and a later version of sandscore than this one.

``submission_queue/old_queue/queue-0.1.0.tar.xz`` was made by running the first release: a challenge of one phase that
names none of the rules whose defaults have changed since; six submissions that were scored, one that was invalid, one
called back, one that waits. Only the rendered site was left out.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sandscore import __version__

CHECKOUT = Path(__file__).resolve().parents[1]
ARCHIVE = CHECKOUT / "tests/submission_queue/old_queue/queue-0.1.0.tar.xz"
LATER = "0.3.0"
OPEN_DATA = '[data]\nnotes = "public"\ngold = "public"\n\n[[phases]]'


def first_release(folder: Path, *, everybody: bool = True) -> Path:
    """The queue's folder, its notes and gold beside it. ``everybody``: its organiser says that all may have those."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    root = folder / "queue"
    settings = json.loads((root / "settings.json").read_bytes())
    settings["data"] = {"": str(folder / "data")}
    (root / "settings.json").write_text(json.dumps(settings))
    challenge = root / "challenge.toml"
    if everybody:
        challenge.write_text(challenge.read_text().replace("[[phases]]", OPEN_DATA))
    return root


def first_board(folder: Path, slug: str) -> Any:
    """The board as the first release published it."""
    with tarfile.open(ARCHIVE) as archive:
        file = archive.extractfile(f"queue/boards/{slug}.json")
        assert file is not None
        return json.load(file)


class LaterVersion:
    """This very code under a later number: what a release would bring that changed no score."""

    def __init__(self, folder: Path) -> None:
        package = folder / "scoring" / "sandscore"
        shutil.copytree(CHECKOUT / "scoring/sandscore", package, ignore=shutil.ignore_patterns("*.pyc.*"))
        for name in ("gold", "schemas", "submissions"):
            (folder / name).symlink_to(CHECKOUT / name)
        start = package / "__init__.py"
        content = start.read_text()
        ours = f'__version__ = "{__version__}"'
        assert ours in content
        start.write_text(content.replace(ours, f'__version__ = "{LATER}"'))
        self._environment = os.environ | {"PYTHONPATH": str(folder / "scoring"), "PYTHONDONTWRITEBYTECODE": "1"}

    def ran(self, words: Sequence[str], before: str = "") -> subprocess.CompletedProcess[str]:
        """A command of that version, after some Python of the test's."""
        code = f"import sys\n{before}\nfrom sandscore.cli.main import run\nsys.exit(run({[*words]!r}))"
        return subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=self._environment
        )

    def says(self, *words: str) -> str:
        ran = self.ran(words)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout
