"""Who runs containers knows nothing of gold and tokens; who scores runs nothing of a participant's."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from queue_samples import hand_in, queue

from sandscore.base.errors import InfrastructureFault
from sandscore.queue.children.child_messages import BATCH_ANSWERS, BatchAnswer, BatchRequest, GoldAnswer, GoldRequest
from sandscore.queue.children.child_process import Child, runner_environment, scorer_environment

SECRETS = ("SYNAPSE_AUTH_TOKEN", "SANDSCORE_SALT", "SANDSCORE_SMTP_PASSWORD", "AWS_SECRET_ACCESS_KEY", "GOLD")


@pytest.mark.parametrize("environment", [runner_environment, scorer_environment], ids=["runner", "scorer"])
def test_no_secret_passes_to_a_child(environment: object) -> None:
    given = dict.fromkeys(SECRETS, "secret") | {"PATH": "/bin", "HOME": "/root"}
    assert callable(environment)
    passed = environment(given)
    assert "secret" not in passed.values()
    assert passed["PATH"] == "/bin"


def test_a_living_scorer_has_no_token_in_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPSE_AUTH_TOKEN", "top-secret-token")
    workspace = queue(tmp_path)

    async def environment() -> bytes:
        child = Child("scorer", (str(workspace.root),), scorer_environment(), BATCH_ANSWERS)
        process = await child._started()
        seen = Path(f"/proc/{process.pid}/environ").read_bytes()
        await child.stop()
        return seen

    seen = asyncio.run(environment())
    assert b"PATH=" in seen
    assert b"top-secret-token" not in seen


@pytest.mark.parametrize(
    ("module", "never"),
    [
        (
            "runner",
            ("sandscore.queue.attempt_scoring", "sandscore.measures", "sandscore.queue.homes.synapse", "synapseclient"),
        ),
        (
            "scorer",
            (
                "sandscore.containers.engines.docker.docker_engine",
                "docker",
                "synapseclient",
                "sandscore.queue.homes.synapse",
            ),
        ),
        (
            "publisher",
            (
                "sandscore.containers.engines.docker.docker_engine",
                "docker",
                "synapseclient",
                "sandscore.queue.homes.synapse",
            ),
        ),
    ],
)
def test_a_child_does_not_even_know_the_others_code(module: str, never: tuple[str, ...]) -> None:
    program = f"import sandscore.queue.children.{module}_process, sys; print('\\n'.join(sys.modules))"
    known = subprocess.check_output([sys.executable, "-c", program], text=True).splitlines()
    assert f"sandscore.queue.children.{module}_process" in known
    assert not set(never) & set(known)


def test_a_child_that_dies_is_our_fault_and_is_replaced(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    submission_id = hand_in(workspace)
    job = BatchRequest((GoldRequest("date", None, "0" * 12, {}),))

    async def twice() -> object:
        child = Child("scorer", (str(workspace.root),), scorer_environment(), BATCH_ANSWERS)
        process = await child._started()
        os.kill(process.pid, 9)
        with pytest.raises(InfrastructureFault, match="ended without an answer"):
            await child.ask(job, 30)
        answer = await child.ask(job, 30)
        await child.stop()
        return answer

    assert asyncio.run(twice()) == BatchAnswer((GoldAnswer(None),))
    assert submission_id


def test_a_child_ends_with_its_parent(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    program = (
        "import asyncio, os, sys\n"
        "from sandscore.queue.children.child_messages import BATCH_ANSWERS\n"
        "from sandscore.queue.children.child_process import Child\n"
        "async def main():\n"
        "    child = Child('scorer', (sys.argv[1],), dict(os.environ), BATCH_ANSWERS)\n"
        "    print((await child._started()).pid, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(workspace.root)], capture_output=True, text=True, check=False
    )
    from queue_siege import left_over

    assert done.stdout.strip().isdigit()
    assert left_over(workspace.root) == []
