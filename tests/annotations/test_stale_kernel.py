"""A compiled kernel is used only with the sources it was compiled from: structures may have moved."""

import shutil
from pathlib import Path

import pytest

from sandscore.annotations.kernel import kernel_library


@pytest.fixture
def native(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The library and its sources, somewhere else."""
    copied = Path(shutil.copytree(kernel_library.LIBRARY.parent, tmp_path / "native"))
    monkeypatch.setattr(kernel_library, "LIBRARY", copied / kernel_library.LIBRARY.name)
    return copied


def found() -> bool:
    return kernel_library.kernel.__wrapped__() is not None


def test_with_its_own_sources(native: Path) -> None:
    assert found()


def test_without_sources(native: Path) -> None:
    for source in native.glob("*.[ch]"):
        source.unlink()
    assert found()


def test_with_sources_that_are_newer(native: Path) -> None:
    with (native / "kernel.h").open("a") as header:
        header.write("\n")
    assert not found()
