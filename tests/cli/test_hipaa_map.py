"""An organiser's own HIPAA map: used, hashed into the signature, and refused where it is incomplete."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from cli.running import Ran, sandscore

from sandscore.base.bundled_content import hipaa_map

EXAMPLE = Path(__file__).resolve().parents[1] / "cases" / "worked-example"
BUNDLED: dict[str, Any] = json.loads(hipaa_map().read_text(encoding="utf-8"))


def scored_with(path: Path) -> Ran:
    files = ["--gold", EXAMPLE / "gold.json", "--predictions", EXAMPLE / "submission.json"]
    return sandscore("score", "address", *files, "--hipaa-map", path, "--format", "json")


def test_signature_names_the_map() -> None:
    path = EXAMPLE / "hospital-protected.json"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    assert f"|map:{digest}|" in json.loads(scored_with(path).out)["signature"]


@pytest.mark.parametrize(
    "written",
    [
        json.dumps(BUNDLED | {"hipaa_phi": {k: v for k, v in BUNDLED["hipaa_phi"].items() if k != "room"}}),
        json.dumps(BUNDLED | {"hipaa_phi": BUNDLED["hipaa_phi"] | {"room": "no"}}),
        json.dumps({"version": "1"}),
        json.dumps([1]),
        '{"hipaa_phi": ',
        "",
    ],
    ids=["a type is missing", "a word for a truth value", "no table", "a list", "cut short", "empty"],
)
def test_a_wrong_map_is_the_organisers_fault(written: str, tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_text(written, encoding="utf-8")
    ran = scored_with(path)
    assert ran.code == 78
    assert "map" in ran.err.splitlines()[-1]


def test_a_missing_map(tmp_path: Path) -> None:
    assert scored_with(tmp_path / "none.json").code == 66
