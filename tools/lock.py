#!/usr/bin/env python3
"""``make lock``: constraints.txt as it should be for what is installed in .venv, each file by its SHA-256.

Run it after a dependency has been added to pyproject.toml and installed with pip. Listed are the source and every wheel
that Python 3.11 to 3.13 may choose on Linux or macOS. An index may offer other files of a version; nobody takes them.
"""

import json
import re
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import distributions
from pathlib import Path

CONSTRAINTS = Path(__file__).resolve().parents[1] / "constraints.txt"
INDEX = "https://pypi.org/simple/{}/"
HEAD = "# Written by make lock. tools/environment.sh installs these files, by their hashes, and nothing else.\n"
OURS = ("sandscore",)
_WHEEL = re.compile(r".*-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl")
_PYTHONS = {"py2.py3", "py3", "cp311", "cp312", "cp313"}


def installed() -> dict[str, str]:
    """Versions by normalised name."""
    found = {normalised(one.metadata["Name"]): one.version for one in distributions()}
    return {name: version for name, version in sorted(found.items()) if name not in OURS}


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def wanted(filename: str) -> bool:
    """Sources, and wheels that fit the machines we know."""
    if filename.endswith((".tar.gz", ".zip")):
        return True
    matched = _WHEEL.fullmatch(filename)
    if matched is None:
        return False
    python = matched["python"] in _PYTHONS or (matched["abi"] == "abi3" and matched["python"].startswith("cp3"))
    machine = matched["platform"]
    return python and (
        machine == "any" or ("manylinux" in machine and machine.endswith(("x86_64", "aarch64"))) or "macosx" in machine
    )


def hashes(name: str, version: str) -> list[str]:
    """Of the files that may be chosen, as the index gives them."""
    question = urllib.request.Request(INDEX.format(name), headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    with urllib.request.urlopen(question, timeout=60) as answer:
        files = json.load(answer)["files"]
    named = re.compile(rf"[^-]+(?:-[^-]+)*?-{re.escape(version)}(?:-.*\.whl|\.tar\.gz|\.zip)", re.IGNORECASE)
    found = [file for file in files if named.fullmatch(file["filename"]) and wanted(file["filename"])]
    return sorted({file["hashes"]["sha256"] for file in found})


def line(name: str, version: str, digests: list[str]) -> str:
    return " \\\n    ".join([f"{name}=={version}", *(f"--hash=sha256:{digest}" for digest in digests)]) + "\n"


def locked(text: str) -> dict[str, tuple[str, list[str]]]:
    """Version and hashes by name, as constraints.txt has them."""
    joined = text.replace("\\\n", " ")
    rows = [row.split() for row in joined.splitlines() if row and not row.startswith("#")]
    return {
        row[0].partition("==")[0]: (
            row[0].partition("==")[2],
            [word.removeprefix("--hash=sha256:") for word in row[1:]],
        )
        for row in rows
    }


def main() -> int:
    packages = installed()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(hashes, packages, packages.values()))
    if missing := [name for name, digests in zip(packages, found, strict=True) if not digests]:
        print(f"lock: the index has no files of {', '.join(missing)}", file=sys.stderr)
        return 75
    rows = [line(name, version, digests) for (name, version), digests in zip(packages.items(), found, strict=True)]
    CONSTRAINTS.write_text(HEAD + "".join(rows), encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
