"""Every promise of a queue home, for every home; and the suite itself, against homes with a fault planted in them."""

import inspect
import time
from pathlib import Path
from types import ModuleType

import pytest
from strangers import json_home
from submission_queue.home_benches import BENCHES

from sandscore.conformance.home_suite import CHECKS, broken
from sandscore.queue.homes.sqlite import sqlite_admin, sqlite_claims
from sandscore.queue.homes.synapse import synapse_claims, synapse_statuses


@pytest.mark.parametrize("home", BENCHES)
@pytest.mark.parametrize("check", CHECKS)
def test_a_home_keeps_its_promises(home: str, check: str, tmp_path: Path) -> None:
    with BENCHES[home](tmp_path) as bench:
        assert broken(bench, check) is None


BOTH_OF_SQLITE = '(row["attempt"], row["nonce"]) == (claim.attempt, claim.nonce)'
BOTH_OF_SYNAPSE = "(now.record.attempt, now.record.nonce) == (claim.attempt, claim.nonce)"
BOTH_OF_JSON = '(entry["submission"]["attempt"], entry["nonce"]) == (claim.attempt, claim.nonce)'
NUMBER, NONCE = 'row["attempt"] == claim.attempt', 'row["nonce"] == claim.nonce'
HEARTBEAT, RELEASE, ENDED = "a_heartbeat_is_fenced", "a_release_is_fenced", "what_has_ended_is_fenced"
LEASE = "a_lease_that_ran_out_is_free_and_its_claim_is_stale"
HELP = "a_failure_of_ours_is_counted_until_an_organiser_is_needed"
THREADS = "threads_with_homes_of_their_own_share_without_overlap"
CLOCK = "a_wall_clock_that_jumps_frees_nothing_and_freezes_nothing"
UNLOCKED = (
    "        yield entries\n",
    "        fcntl.flock(lock, fcntl.LOCK_UN)\n        yield entries\n        time.sleep(0.05)\n",
)
"""Each reads alone, and all write what they have read a while ago."""

FAULTS = [
    ("sqlite", sqlite_claims, BOTH_OF_SQLITE, NUMBER, HEARTBEAT),
    ("sqlite", sqlite_claims, BOTH_OF_SQLITE, NUMBER, RELEASE),
    ("sqlite", sqlite_claims, BOTH_OF_SQLITE, NUMBER, "an_advance_is_fenced"),
    ("sqlite", sqlite_claims, BOTH_OF_SQLITE, NONCE, HEARTBEAT),
    ("sqlite", sqlite_claims, BOTH_OF_SQLITE, NONCE, RELEASE),
    ("sqlite", sqlite_claims, BOTH_OF_SQLITE.replace("==", "!="), 'row["attempt"] != claim.attempt', ENDED),
    ("sqlite", sqlite_claims, BOTH_OF_SQLITE.replace("==", "!="), 'row["nonce"] != claim.nonce', ENDED),
    (
        "sqlite",
        sqlite_claims,
        'or row["needs_organiser"] or seconds_left(row)',
        'or row["needs_organiser"]',
        "of_two_claims_one_wins",
    ),
    (
        "sqlite",
        sqlite_claims,
        'secrets.token_hex(16), row["attempt"] + 1',
        'secrets.token_hex(16), row["attempt"]',
        LEASE,
    ),
    ("sqlite", sqlite_claims, "uptime() + claim.lease_seconds", 'row["until"]', "a_heartbeat_renews_the_lease"),
    ("sqlite", sqlite_claims, 'row["version"] + scored,', "row['version'] + 1,", "a_fault_of_the_participant_is_told"),
    (
        "sqlite",
        sqlite_claims,
        'failures = row["failures"] + our_fault',
        'failures = row["failures"] + 1',
        "handing_back_is_no_failure",
    ),
    (
        "sqlite",
        sqlite_admin,
        "AND version=? AND status",
        "AND version>=? AND status",
        "a_rescored_result_is_added_once",
    ),
    ("sqlite", sqlite_admin, "needs_organiser=0, cancel_requested=0", "cancel_requested=0", HELP),
    ("synapse", synapse_claims, BOTH_OF_SYNAPSE, "now.record.attempt == claim.attempt", HEARTBEAT),
    ("synapse", synapse_claims, BOTH_OF_SYNAPSE, "now.record.attempt == claim.attempt", RELEASE),
    ("synapse", synapse_claims, BOTH_OF_SYNAPSE, "now.record.attempt == claim.attempt", "a_commit_is_fenced"),
    ("synapse", synapse_claims, BOTH_OF_SYNAPSE, "now.record.nonce == claim.nonce", HEARTBEAT),
    ("synapse", synapse_claims, "return now.status in HELD and _of(now, claim)", "return now.status in HELD", LEASE),
    (
        "synapse",
        synapse_statuses,
        "if now.record.mark == mark:",
        "if False:",
        "changes_whose_answers_are_lost_are_made_once",
    ),
    ("json-file", json_home, BOTH_OF_JSON, 'entry["submission"]["attempt"] == claim.attempt', HEARTBEAT),
    ("json-file", json_home, BOTH_OF_JSON, 'entry["submission"]["attempt"] == claim.attempt', RELEASE),
    ("json-file", json_home, BOTH_OF_JSON, 'entry["nonce"] == claim.nonce', ENDED),
    ("json-file", json_home, *UNLOCKED, THREADS),
    ("json-file", json_home, "- uptime())", "- utc_now().timestamp())", CLOCK),
]


@pytest.mark.parametrize(("home", "module", "right", "wrong", "check"), FAULTS)
def test_a_planted_fault_is_caught(
    home: str, module: ModuleType, right: str, wrong: str, check: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(module, right, wrong, monkeypatch)
    with BENCHES[home](tmp_path) as bench:
        assert broken(bench, check) is not None


def plant(module: ModuleType, right: str, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile the module with the fault in it, and put its functions in the places of the right ones."""
    source = inspect.getsource(module)
    assert source.count(right) == 1, right
    faulty = dict(vars(module)) | {"time": time}
    exec(compile(source.replace(right, wrong), str(module.__file__), "exec"), faulty)
    for name, value in list(vars(module).items()):
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(value):
            monkeypatch.setattr(module, name, faulty[name])
        elif inspect.isclass(value):
            for method, function in vars(faulty[name]).items():
                if inspect.isfunction(function):
                    monkeypatch.setattr(value, method, function)
