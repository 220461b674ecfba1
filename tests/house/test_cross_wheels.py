"""A wheel for another machine keeps its tag's promises, and is the same bytes each time.

``make wheels`` makes all of them and tries those for Linux; here is one that this machine cannot run, made twice.
"""

import hashlib
import subprocess
import zipfile
from pathlib import Path

import pytest
from tools.library_facts import LibraryFacts, facts_of
from tools.make_wheels import KERNEL, PLATFORMS, broken_promises, functions_called, library_in, make

pytestmark = pytest.mark.slow
ARM = PLATFORMS[1]
HERE = Path(__file__).resolve().parents[2] / "scoring" / KERNEL


def test_a_wheel_for_arm_is_one_and_the_same_bytes_again(tmp_path: Path) -> None:
    made = [make(ARM, tmp_path / name) for name in ("one", "other")]
    assert made[0].name == "sandscore-0.2.0-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.whl"
    assert len({hashlib.sha256(wheel.read_bytes()).digest() for wheel in made}) == 1
    assert broken_promises(ARM, library_in(made[0]), functions_called()) == []
    with zipfile.ZipFile(made[0]) as archive:
        names = archive.namelist()
        told = archive.read(next(name for name in names if name.endswith(".dist-info/WHEEL"))).decode()
    assert "Root-Is-Purelib: false" in told
    assert "Tag: py3-none-manylinux_2_17_aarch64" in told
    assert "Tag: py3-none-manylinux2014_aarch64" in told


def test_the_facts_are_those_that_binutils_tells() -> None:
    facts = facts_of(HERE.read_bytes())
    listed = subprocess.run(["nm", "-D", HERE], capture_output=True, text=True, check=True).stdout.splitlines()
    words = [line.split() for line in listed]
    given = {word[-1] for word in words if word[-2] in "TRDB"}
    assert facts.exported == given
    assert facts.taken == {word[-1].partition("@")[0] for word in words if word[-2] == "U"}
    headers = subprocess.run(["readelf", "-d", HERE], capture_output=True, text=True, check=True).stdout
    assert {f"[{one}]" for one in facts.libraries} == {
        one.split()[-1] for one in headers.splitlines() if "NEEDED" in one
    }


def test_a_broken_promise_is_told() -> None:
    """Another machine, a function that is missing, a library that is not promised, a newer glibc."""
    right = LibraryFacts("linux", "aarch64", functions_called(), frozenset({"libc.so.6"}), frozenset(), "2.17")
    assert broken_promises(ARM, right, functions_called()) == []
    wrong = LibraryFacts("linux", "x86_64", frozenset({"layout"}), frozenset({"libgomp.so.1"}), frozenset(), "2.34")
    said = " ".join(broken_promises(ARM, wrong, functions_called()))
    assert all(word in said for word in ("x86_64", "read_annotations", "libgomp", "2.34"))
    with pytest.raises(ValueError, match="no shared library"):
        facts_of(b"#!/bin/sh" + bytes(64))
