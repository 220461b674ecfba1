"""A copy of the checkout, in which a test may change and delete what it likes."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("scoring/sandscore")


def compiled() -> list[str]:
    """The kernel, and what Python compiled in the checkout: it holds for sources of the same size and time."""
    found = (path for kind in ("*.so", "__pycache__/*.pyc") for path in (ROOT / PACKAGE).rglob(kind))
    return [path.relative_to(ROOT).as_posix() for path in found]


class CheckoutCopy:
    """What git knows or would take, and the compiled kernel; commands run in it see no other sandscore."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.beside: tuple[Path, ...] = ()
        """Folders of installed packages, which commands see too."""
        git = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(git, capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()
        for name in (name for name in [*listed, *compiled()] if (ROOT / name).is_file()):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / name)
        self.before = {name: (self.root / name).read_bytes() for name in self.files()}
        self.stamps = self.files()

    def files(self) -> dict[str, tuple[int, int]]:
        """Every file by its name, but what Python leaves behind, with its time and size."""
        found = {}
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name != "__pycache__"]
            for path in map(Path(folder).joinpath, names):
                facts = path.stat()
                found[path.relative_to(self.root).as_posix()] = (facts.st_mtime_ns, facts.st_size)
        return found

    def touched(self) -> set[str]:
        """The files that were added, changed or deleted since the copy was made: of another time, and other bytes."""
        after = self.files()
        names = {name for name in self.stamps | after if self.stamps.get(name) != after.get(name)}
        return {name for name in names if name not in after or (self.root / name).read_bytes() != self.before.get(name)}

    def restore(self) -> None:
        """As it was when it was made."""
        for name in self.touched():
            path = self.root / name
            if name in self.before:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(self.before[name])
                shutil.copystat(ROOT / name, path)
            else:
                path.unlink()
        self.beside = ()

    def package(self, name: str) -> Path:
        return self.root / PACKAGE / name

    def ran(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Python with these words, in the copy."""
        path = os.pathsep.join(map(str, (self.root / "scoring", *self.beside)))
        environment = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            [sys.executable, *words], capture_output=True, text=True, check=False, cwd=self.root, env=environment
        )

    def says(self, *words: str) -> str:
        """What a verb prints; it has to succeed."""
        ran = self.ran("-c", f"import sys\nfrom sandscore.cli.main import run\nsys.exit(run({list(words)!r}))")
        assert ran.returncode == 0, f"sandscore {' '.join(words)}\n{ran.stdout[-1500:]}{ran.stderr[-1500:]}"
        return ran.stdout

    def passes(self, tests: Sequence[str]) -> None:
        """These test files have to pass."""
        ran = self.ran("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests)
        assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1500:]
