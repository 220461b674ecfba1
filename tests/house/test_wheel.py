"""The wheel holds what it should, and works where the sources are out of reach."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LISTED = Path(__file__).with_name("wheel_contents.txt")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from the sdist, as a release is."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT], check=True, capture_output=True
    )
    assert list(out.glob("*.tar.gz"))
    return next(out.glob("*.whl"))


def test_contents(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = sorted(name for name in archive.namelist() if ".dist-info/" not in name)
    assert names == LISTED.read_text(encoding="utf-8").split(), "tools/wheel_contents.sh writes the list"


def test_works_without_the_sources(wheel: Path, tmp_path: Path) -> None:
    """Isolated from this checkout: only the unpacked wheel and the installed libraries are on the path."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "lib")
    libraries = Path(sys.executable).parent.parent / "lib"
    site = next(libraries.glob("python3*/site-packages"))
    program = (
        f"import sys; sys.path[:0] = [{str(tmp_path / 'lib')!r}, {str(site)!r}]\n"
        "import sandscore, sandscore.content as content\n"
        f"assert sandscore.__file__.startswith({str(tmp_path)!r}), sandscore.__file__\n"
        "from sandscore.cli.main import run\n"
        "gold = content.example_gold()\n"
        "words = ['score', 'address', '--notes', gold / 'notes.json', '--gold', gold / 'address.json']\n"
        "words += ['--predictions', content.submissions() / 'address-good' / 'predictions.json']\n"
        "sys.exit(run([str(word) for word in words]))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-S", "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    assert "instance_strict" in ran.stdout
