"""Hashes of what is installed, the bill of materials in CycloneDX, and the tests that SECURITY.md names."""

import json
import re
import tomllib
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, FormatChecker
from packaging.requirements import Requirement
from referencing import Registry, Resource

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    from tools.sbom import bill

    return bill()


def complaints(document: dict[str, Any]) -> list[str]:
    """By the schema of CycloneDX itself, as its own library carries it."""
    schemas = files("cyclonedx.schema") / "_res"
    names = ("bom-1.6", "spdx", "jsf-0.82")
    loaded = {name: json.loads((schemas / f"{name}.SNAPSHOT.schema.json").read_text("utf-8")) for name in names}
    known: Registry[Any] = Registry().with_resources(
        [
            (f"http://cyclonedx.org/schema/{name}{middle}.schema.json", Resource.from_contents(schema))
            for name, schema in loaded.items()
            for middle in ("", ".SNAPSHOT")
        ]
    )
    validator = Draft7Validator(loaded["bom-1.6"], registry=known, format_checker=FormatChecker())
    return [fault.message for fault in validator.iter_errors(document)]


@pytest.mark.slow
def test_the_bill_of_materials_is_cyclonedx(made: dict[str, Any]) -> None:
    assert complaints(made) == []
    assert complaints(made | {"bomFormat": "SPDX"}) != []
    broken = made | {"components": [{**made["components"][0], "externalReferences": [{"type": "x", "url": "y"}]}]}
    assert complaints(broken) != [], "the control: the schema looks inside"


def test_it_names_all_that_is_needed(made: dict[str, Any]) -> None:
    """Directly and by way of others, with the versions that are here; docker brings requests, which brings urllib3."""
    found = {one["name"]: one for one in made["components"]}
    direct = [*PROJECT["project"]["dependencies"]]
    direct += [
        text for name, group in PROJECT["project"]["optional-dependencies"].items() if name != "all" for text in group
    ]
    named = {Requirement(text).name for text in direct}
    assert named | {"requests", "urllib3"} <= found.keys()
    assert not {"pytest", "ruff", "mypy"} & found.keys()
    for name, one in found.items():
        assert one["version"] == distribution(name).version
        assert one["licenses"], name
        assert one["externalReferences"][0]["hashes"], name
    tree = {one["ref"].partition("@")[0]: one["dependsOn"] for one in made["dependencies"]}
    assert any(ref.startswith("pkg:pypi/requests@") for ref in tree["pkg:pypi/docker"])
    assert len(tree) == len(found) + 1


@pytest.mark.slow
def test_it_is_the_same_twice(made: dict[str, Any]) -> None:
    from tools.sbom import bill

    assert json.dumps(bill()) == json.dumps(made)


def test_everything_that_is_installed_is_known_by_its_hash() -> None:
    """``make lock`` writes constraints.txt anew; pip takes no file that is not in it."""
    from tools.lock import CONSTRAINTS, locked, normalised
    from tools.sbom import needed

    known = locked(CONSTRAINTS.read_text(encoding="ascii"))
    wanted = needed("sandscore", ("all",)).keys() - {"sandscore"}
    for text in PROJECT["dependency-groups"]["dev"]:
        wanted |= needed(Requirement(text).name).keys()
    assert {name: known.get(normalised(name), ("",))[0] for name in wanted} == {
        name: distribution(name).version for name in wanted
    }
    assert [name for name, (_, hashes) in known.items() if not hashes] == []
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for _, hashes in known.values() for digest in hashes)
    script = (ROOT / "tools" / "environment.sh").read_text(encoding="utf-8")
    installing = [line for line in script.splitlines() if "-m pip install" in line]
    assert len(installing) == 2
    assert "--require-hashes --no-deps --requirement constraints.txt" in installing[0]
    assert installing[1].endswith("--no-deps --no-build-isolation --editable .")


def test_which_files_of_an_index_may_be_taken() -> None:
    from tools.lock import wanted

    taken = (
        "x-1.0.tar.gz",
        "x-1.0-py3-none-any.whl",
        "x-1.0-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
        "x-1.0-cp38-abi3-manylinux_2_28_aarch64.whl",
        "x-1.0-cp312-cp312-macosx_11_0_arm64.whl",
    )
    left = ("x-1.0-cp311-cp311-win_amd64.whl", "x-1.0-cp39-cp39-manylinux_2_17_x86_64.whl", "x-1.0.exe")
    assert [name for name in (*taken, *left) if wanted(name)] == list(taken)


def test_every_promise_names_tests_that_exist() -> None:
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 8
    for row in rows:
        named = re.findall(r"`(tests/[^`]+\.py|make \w+)`", row)
        assert named, row
        targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        for name in named:
            if name.startswith("make "):
                assert name.removeprefix("make ") in targets
            else:
                assert "def test_" in (ROOT / name).read_text(encoding="utf-8")
