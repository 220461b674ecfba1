"""What the NLP Sandbox client and the i2b2 script printed on recorded inputs comes out of our profiles."""

import json
from pathlib import Path
from typing import Any

import pytest
from peers.vectors import cases

from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.profiles.i2b2 import i2b2_profile
from sandscore.profiles.nlpsandbox import nlpsandbox_profile
from sandscore.profiles.nlpsandbox.nlpsandbox_sides import ClientSide, columns
from sandscore.profiles.profile import ProfileInput, ProfileResult
from sandscore.records.counts import Counts
from sandscore.task_table.task import find_task

CASES = cases("nlpsandbox")
RELEASES = {"nlpsandbox-client-4.3.0": "4.3.0", "nlpsandbox-client-3.1.0": "3.1.0"}
PASSES = {
    "instance_relax": "instance_relax",
    "instance_strict": "instance_strict",
    "type_strict": "type",
    "token_strict": "token",
}
CLIENT_KEYS = {"class", "counts", "entries_after_collapse", "error", "input", "keys", "output", "unrounded"}
I2B2_KEYS = {"error", "evaluations", "not_run", "warnings"}


def read(path: Path) -> tuple[ProfileInput, dict[str, Any]]:
    case = json.loads(path.read_text(encoding="utf-8"))
    task = find_task({"person": "person-name"}.get(case["task"], case["task"]))
    return ProfileInput(task, case["notes"], case["gold"], case["prediction"]), case["peer"]


def exactly(value: Any) -> Any:
    """A value that differs from its float, or from its int, when compared: 0 is not 0.0 here."""
    if isinstance(value, dict):
        return {key: exactly(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [exactly(inner) for inner in value]
    return (type(value).__name__, value)


def recorded(peers: tuple[str, ...]) -> list[Any]:
    """Every case that has run one of the peers, with that peer; none at all is a failure."""
    named = [(path, json.loads(path.read_text(encoding="utf-8"))["peer"]) for path in CASES]
    found = [pytest.param(path, peer, id=f"{path.stem}-{peer}") for path, ran in named for peer in peers if peer in ran]
    assert found
    return found


def check_client(given: ProfileInput, wanted: dict[str, Any], release: str) -> None:
    result = nlpsandbox_profile.evaluate(given, {"release": release})
    assert exactly(result.details) == exactly(wanted["output"])
    for theirs in wanted["counts"].keys() | wanted["unrounded"].keys():
        ours = PASSES[theirs]
        measure = result.measures[ours]
        counts = Counts(measure["tp"], measure["fp"], measure["fn"])
        assert {"tp": counts.tp, "fp": counts.fp, "fn": counts.fn} == wanted["counts"][theirs]
        ratios = {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
        filled = {name: ratio or 0.0 for name, ratio in ratios.items()}
        assert filled == pytest.approx(wanted["unrounded"][theirs], abs=1e-15)
        per_note = [Counts(*row[ours]) for row in result.per_note.values()]
        assert sum(per_note, Counts()) == counts
    check_table(result, wanted["output"])


def check_table(result: ProfileResult, output: dict[str, Any]) -> None:
    location, types = output.values()
    rows = [location[0:3], location[3:6], types, location[6:9]]
    printed = [line.split()[1:] for line in result.table.splitlines() if line.startswith(("relax", "strict"))]
    assert printed == [["nan" if entry["value"] is None else str(entry["value"]) for entry in row] for row in rows]


def check_entries(sides: tuple[ClientSide, ClientSide], wanted: dict[str, Any]) -> None:
    for whose, side in zip(("gold", "pred"), sides, strict=True):
        if "entries_after_collapse" in wanted:
            assert wanted["entries_after_collapse"][f"{whose}_instances"] == len(side.instances)
            assert wanted["entries_after_collapse"][f"{whose}_tokens"] == len(side.tokens)
        if "keys" in wanted:
            assert wanted["keys"][f"{whose}_instances"] == list(side.instances)
            tokens = [[key, word] for key, (_, word) in side.tokens.items()]
            assert wanted["keys"][f"{whose}_tokens"] == tokens


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_no_recorded_run_goes_unread(path: Path) -> None:
    _, peers = read(path)
    assert peers
    assert peers.keys() <= RELEASES.keys() | {"i2b2-2014"}


@pytest.mark.parametrize(("path", "peer"), recorded(tuple(RELEASES)))
def test_client_prints_what_it_printed(path: Path, peer: str) -> None:
    given, peers = read(path)
    wanted, release = peers[peer], RELEASES[peer]
    assert set(wanted) <= CLIENT_KEYS
    where = columns(given.task, release)
    assert where.name in wanted["class"].lower()
    assert (wanted["input"] == "as given") == (where.list_name == where.stored_list)
    if "error" in wanted:
        with pytest.raises((OrganiserFault, ParticipantFault)) as stopped:
            nlpsandbox_profile.evaluate(given, {"release": release})
        assert f"the original stops here with {wanted['error']}" in str(stopped.value)
        return
    check_client(given, wanted, release)
    check_entries(nlpsandbox_profile.read_sides(given, release), wanted)


def check_evaluation(ours: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert [ours[name] for name in ("tp", "fp", "fn", "docs")] == [wanted[name] for name in ("tp", "fp", "fn", "docs")]
    for kind in ("micro", "macro"):
        assert set(ours[kind]) == set(wanted[kind])
        for name, value in wanted[kind].items():
            assert ours[kind][name] == (value if value is None else pytest.approx(value, abs=1e-12)), name


@pytest.mark.parametrize(("path", "peer"), recorded(("i2b2-2014",)))
def test_i2b2_prints_what_it_printed(path: Path, peer: str) -> None:
    given, peers = read(path)
    wanted = peers[peer]
    assert set(wanted) <= I2B2_KEYS
    if "not_run" in wanted:
        assert set(wanted) == {"not_run"}
        return
    if "error" in wanted:
        with pytest.raises((OrganiserFault, ParticipantFault)) as stopped:
            i2b2_profile.evaluate(given, {})
        assert f"the original stops here with {wanted['error']}" in str(stopped.value)
        return
    result = i2b2_profile.evaluate(given, {})
    evaluations = result.details["evaluations"]
    assert set(wanted["evaluations"]) <= set(evaluations)
    for label, evaluation in wanted["evaluations"].items():
        check_evaluation(evaluations[label], evaluation)
    assert result.details["warnings"] == wanted.get("warnings", 0)
