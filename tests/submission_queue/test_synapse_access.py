"""What doctor says about Synapse."""

from pathlib import Path

from submission_queue.synapse_standin import TOKEN, Queue

from sandscore.queue.homes.synapse.synapse_access import check_access


def test_access_that_is_fine_and_access_that_shows_too_much(queue: Queue) -> None:
    found = {finding.name: finding for finding in check_access(queue.config(), queue.id)}
    levels = {name: finding.level for name, finding in found.items()}
    fine = dict.fromkeys(("synapse config", "synapse token", "synapse queue"), "ok")
    assert levels == fine | {"synapse rights": "note"}
    assert "2001 may READ the queue" in found["synapse rights"].found
    queue.world.evaluations[queue.id]["access"]["2001"] = ["SUBMIT"]
    assert check_access(queue.config(), queue.id)[-1].level == "ok"


def test_access_that_is_not_there(tmp_path: Path, queue: Queue) -> None:
    def levels(config: Path, evaluation: str | None = None) -> list[str]:
        return [finding.level for finding in check_access(config, evaluation)]

    assert levels(tmp_path / "nowhere") == ["fault"]
    assert levels(queue.config("wrong")) == ["ok", "fault"]
    assert levels(queue.config("participant-token"), "9614") == ["ok", "ok", "fault"]
    config = queue.config()
    config.chmod(0o644)
    assert levels(config) == ["note", "ok"]
    assert TOKEN not in repr(check_access(config, "9614"))
