"""A compiled kernel is used only with the sources it was compiled from: structures may have moved."""

import shutil
from ctypes import Structure, c_int64
from pathlib import Path

import pytest

from sandscore.kernel import kernel_library


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


@pytest.mark.parametrize("structure", kernel_library._STRUCTURES, ids=lambda one: one.__name__)
@pytest.mark.parametrize("change", ["another order", "another size", "one field fewer"])
def test_with_structures_that_lie_elsewhere(
    structure: type[Structure], change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the compiler says of each structure is what ctypes must have made of it."""
    fields = list(structure._fields_)
    if change == "another order":
        fields[0], fields[1] = fields[1], fields[0]
    elif change == "another size":
        fields.append(("more", c_int64))
    else:
        fields.pop()
    other = type(structure.__name__, (Structure,), {"_fields_": fields})
    changed = tuple(other if one is structure else one for one in kernel_library._STRUCTURES)
    monkeypatch.setattr(kernel_library, "_STRUCTURES", changed)
    assert not found()


def test_with_other_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_library, "_NUMBERS", (*kernel_library._NUMBERS[:-1], 255))
    assert not found()


def test_with_sources_that_are_newer(native: Path) -> None:
    with (native / "kernel.h").open("a") as header:
        header.write("\n")
    assert not found()
