"""The first process of the guest that ``guest_kernel.py`` starts: its mounts, its account, and then the command."""

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

NUMBER, NAME = 20077, "guest"
LIBC = ctypes.CDLL(None, use_errno=True)
LOAD_MODULE, BIND, MOVE, POWER_OFF = 313, 4096, 8192, 0x4321FEDC
CONTROLLERS = "+memory +pids +cpu"


def mount(kind: str, place: str, options: str = "", source: str = "none", how: int = 0) -> None:
    Path(place).mkdir(parents=True, exist_ok=True)
    if LIBC.mount(source.encode(), place.encode(), kind.encode(), how, options.encode()):
        raise OSError(ctypes.get_errno(), f"mounting {kind} at {place}")


def load(module: str) -> None:
    with Path(module).open("rb") as file:
        if LIBC.syscall(LOAD_MODULE, file.fileno(), b"", 0):
            raise OSError(ctypes.get_errno(), f"loading {module}")


def make_root(shown: Path) -> None:
    """The machine's files under a layer in memory; folders that are no place for such a layer lie in memory alone."""
    mount("tmpfs", "/mnt", "mode=755")
    for name in ("changed", "work", "root"):
        Path("/mnt", name).mkdir()
    mount("overlay", "/mnt/root", "lowerdir=/,upperdir=/mnt/changed,workdir=/mnt/work")
    os.chdir("/mnt/root")
    mount("proc", "proc")
    mount("sysfs", "sys")
    mount("devtmpfs", "dev")
    mount("devpts", "dev/pts")
    mount("cgroup2", "sys/fs/cgroup")
    for place, mode in (("run", 755), ("tmp", 1777), ("dev/shm", 1777), ("var/tmp", 1777), ("home", 755)):
        mount("tmpfs", place, f"mode={mode}")
    mount("tmpfs", "var/lib/containers", "mode=700")
    mount("", f".{shown}", source=str(shown), how=BIND)
    mount("", "/", source=".", how=MOVE)
    os.chroot(".")
    os.chdir("/")


def make_account() -> dict[str, str]:
    """One that may map 65,536 numbers, as adduser makes it; the interpreter may be below somebody's home."""
    for file, line in (
        ("passwd", f"{NAME}:x:{NUMBER}:{NUMBER}::/home/{NAME}:/bin/sh"),
        ("group", f"{NAME}:x:{NUMBER}:"),
        ("subuid", f"{NAME}:300000:65536"),
        ("subgid", f"{NAME}:300000:65536"),
    ):
        with Path("/etc", file).open("a", encoding="ascii") as table:
            table.write(f"{line}\n")
    for above in Path(sys.executable).resolve().parents:
        above.chmod(above.stat().st_mode | 0o555)
    home, run = Path("/home", NAME), Path("/run/user", str(NUMBER))
    for folder in (home, run):
        folder.mkdir(parents=True, mode=0o700)
        os.chown(folder, NUMBER, NUMBER)
    return {"HOME": str(home), "XDG_RUNTIME_DIR": str(run)}


def hand_down() -> None:
    """A control group, as ``systemd-run --user --scope -p Delegate=yes`` does; this process enters it."""
    top = Path("/sys/fs/cgroup")
    (top / "cgroup.subtree_control").write_text(CONTROLLERS, encoding="ascii")
    group = top / NAME
    group.mkdir()
    for place in (group, group / "cgroup.procs", group / "cgroup.subtree_control"):
        os.chown(place, NUMBER, NUMBER)
    (group / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")


def main() -> None:
    here = Path(__file__).parent
    told = json.loads((here / "told.json").read_text(encoding="utf-8"))
    mount("proc", "/proc")
    for module in told["modules"]:
        load(module)
    make_root(here)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
    account: dict[str, Any] = {}
    if told["who"] != "root":
        environment |= make_account()
        account = {"user": NUMBER, "group": NUMBER, "extra_groups": []}
    if told["who"] == "user":
        hand_down()
    done = subprocess.run(told["command"], cwd=told["root"], env=environment, check=False, **account)
    print(f"{told['ended']}{done.returncode}", flush=True)


if __name__ == "__main__" and os.getpid() == 1:
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    try:
        main()
    finally:
        LIBC.reboot(POWER_OFF)
