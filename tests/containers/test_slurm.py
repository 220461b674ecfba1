"""docs/hpc.md, followed: its job array and the job that gathers, on a Slurm of one node of the test's own."""

import getpass
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "hpc.md").read_text(encoding="utf-8")
SERVICE = f"--command {sys.executable}\\ {ROOT / 'submissions' / 'template' / 'server.py'}"
SECONDS = 240


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)
    assert found
    return found[1]


def free_ports(number: int) -> list[int]:
    with ExitStack() as stack:
        held = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [one.getsockname()[1] for one in held]


@pytest.fixture
def slurm() -> Iterator[dict[str, str]]:
    """Controller, node and the daemon that signs their messages; what a command of Slurm's needs to find them."""
    if lacking := [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if shutil.which(name) is None]:
        pytest.fail(f"{', '.join(lacking)}: not installed; tools/slurm.sh installs Slurm on Debian")
    folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))  # paths of sockets have 107 letters at most
    for name in ("state", "spool", "munge"):
        (folder / name).mkdir(parents=True, mode=0o700)
    (folder / "munge" / "key").write_bytes(os.urandom(1024))
    (folder / "munge" / "key").chmod(0o400)
    control, node = free_ports(2)
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(folder=folder, user=getpass.getuser(), control=control, node=node)
    )
    environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
    sign = [f"--{name}-file={folder / 'munge' / name}" for name in ("key", "pid", "log", "seed")]
    with ExitStack() as stack:
        for command in (
            ["munged", "--foreground", "--force", f"--socket={folder / 'munge' / 'socket'}", *sign],
            ["slurmctld", "-D"],
            ["slurmd", "-D", "-N", "localhost"],
        ):
            with (folder / f"{command[0]}.out").open("wb") as out:
                process = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
            stack.callback(ended, process)
        wait_for_node(environment, folder)
        yield environment
    shutil.rmtree(folder)


CONFIGURATION = """
ClusterName=sandscore
SlurmctldHost=localhost(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={control}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=localhost NodeAddr=127.0.0.1 State=UNKNOWN
PartitionName=main Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


def ended(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait_for_node(environment: dict[str, str], folder: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while True:
        told = subprocess.run(["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True, check=False)
        if told.stdout.strip() == "idle":
            return
        logs = "\n".join(path.read_text(errors="replace")[-1000:] for path in folder.glob("*.log"))
        assert time.monotonic() < deadline, f"{told.stdout}{told.stderr}{logs}"
        time.sleep(0.2)


def test_an_array_and_the_job_that_gathers(slurm: dict[str, str], tmp_path: Path) -> None:
    place = tmp_path / "jobs"
    place.mkdir()
    shutil.copy(ROOT / "gold" / "example" / "notes.json", place)
    script = block("slurm").replace("$ANNOTATOR", SERVICE)
    (place / "sandscore.sbatch").write_text(script, encoding="utf-8")
    commands = block("shell").replace("sbatch --dependency", "sbatch --wait --dependency")
    environment = slurm | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = ["timeout", str(SECONDS), "sh", "-ec", commands]
    ran = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)
    logs = "\n".join(path.read_text(encoding="utf-8") for path in sorted(place.glob("*.log")))
    assert ran.returncode == 0, ran.stderr + logs
    assert "date: 4 shards, 72 notes: run/predictions.json" in (place / "gathered.log").read_text(encoding="utf-8")
    whole = [sys.executable, "-m", "sandscore", "run", "date", "--notes", "notes.json", "-o", "whole", "--command"]
    subprocess.run([*whole, SERVICE.partition(" ")[2].replace("\\ ", " ")], cwd=place, check=True, capture_output=True)
    made, expected = ((place / name / "predictions.json").read_bytes() for name in ("run", "whole"))
    assert made == expected
