"""What is read out of an access list of Synapse, and what is told of a failure, by hand."""

from pathlib import Path

import pytest

from sandscore.queue.children.child_messages import RunAnswer, SweepAnswer
from sandscore.queue.dask.dask_executor import ShardAnswer, _finished
from sandscore.queue.homes.synapse.status_record import Record
from sandscore.queue.homes.synapse.synapse_preflight import _rights
from sandscore.queue.homes.synapse.synapse_submissions import Results
from sandscore.records.run_record import Outcome

SCORER = {"principalId": 1, "accessType": ["READ", "READ_PRIVATE_SUBMISSION", "UPDATE_SUBMISSION"]}


def levels(*rows: dict[str, object]) -> list[str]:
    return [finding.level for finding in _rights({"resourceAccess": list(rows)})]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([SCORER], ["ok", "note"]),
        ([], ["ok", "note"]),
        ([{"principalId": 2, "accessType": ["READ"]}, SCORER], ["note", "note"]),
        ([{"principalId": 2, "accessType": ["SUBMIT"]}], ["ok"]),
        ([{"principalId": 2, "accessType": ["READ", "SUBMIT"]}], ["note"]),
    ],
)
def test_who_may_read_and_whether_anybody_may_submit(rows: list[dict[str, object]], found: list[str]) -> None:
    assert levels(*rows) == found


def test_a_failure_is_told_of_the_attempt_that_failed(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.explain("9", 2, "no room")
    told = [
        results.reason("9", Record(attempt=attempt, failures=failures))
        for attempt, failures in ((2, 1), (2, 0), (3, 1))
    ]
    assert told == ["no room", None, None]
    assert results.reason("8", Record(attempt=2, failures=1)) is None


@pytest.mark.parametrize(("outcome", "finished"), [(Outcome.FINISHED, True), (Outcome.CRASHED, False)])
def test_a_shard_has_finished_or_not(outcome: Outcome, finished: bool) -> None:
    assert _finished(ShardAnswer(RunAnswer(outcome))) is finished
    assert not _finished(ShardAnswer(SweepAnswer(1)))
