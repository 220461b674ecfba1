"""What doctor says about Synapse."""

from pathlib import Path

from submission_queue.synapse_standin import TOKEN, Queue

from sandscore.queue.homes.synapse.synapse_access import check_access


def test_access_that_is_fine_and_access_that_shows_too_much(queue: Queue) -> None:
    found = {finding.name: finding for finding in check_access(queue.config(), queue.id)}
    levels = {name: finding.level for name, finding in found.items()}
    asked = ("config", "token", "scopes", "queue", "folders", "certificate", "rounds", "teams")
    assert levels == {f"synapse {name}": "ok" for name in asked} | {"synapse rights": "note"}
    assert "2001 may READ the queue" in found["synapse rights"].found
    queue.world.evaluations[queue.id]["access"]["2001"] = ["SUBMIT"]
    found = {finding.name: finding for finding in check_access(queue.config(), queue.id)}
    assert found["synapse rights"].level == "ok"
    assert "SUBMIT alone" in found["synapse teams"].found


def test_access_that_is_not_there(tmp_path: Path, queue: Queue) -> None:
    def levels(config: Path, evaluation: str | None = None) -> list[str]:
        return [finding.level for finding in check_access(config, evaluation)]

    assert levels(tmp_path / "nowhere") == ["fault"]
    assert levels(queue.config("wrong")) == ["ok", "fault"]
    assert levels(queue.config("participant-token"), "9614") == ["ok", "ok", "ok", "fault"]
    config = queue.config()
    config.chmod(0o644)
    assert levels(config) == ["note", "ok"]
    assert TOKEN not in repr(check_access(config, "9614"))
