"""A Linux with control groups of version 2 on a machine that has those of version 1: Debian's user-mode-linux.

``python tools/guest_kernel.py WHO COMMAND…`` runs a command in this checkout under it and ends as it does: as ``root``,
as a ``user`` in a control group that was handed down to them, or as one who has ``none``. The guest sees the files of
this machine and writes to memory: nothing that it does stays.

The kernel and the C library that it alone uses are those of Debian's release to come, by apt, which knows its
signature: user-mode-linux of older releases does not start on processors with AMX.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".venv" / "guest-kernel"
SOURCE = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian forky main\n"
PACKAGES = ("user-mode-linux", "libc6")
LOADER = b"/lib64/ld-linux-x86-64.so.2\0"
LIBRARIES = KEPT / "usr" / "lib" / "x86_64-linux-gnu"
MODULES = ("fs/overlayfs/overlay.ko", "fs/fuse/fuse.ko", "drivers/net/tun.ko")
MEMORY = "4G"
DIES_WITH_PARENT = 1
ENDED = "guest kernel: the command ended with "


def fetch() -> None:
    """Both packages, unpacked beside each other."""
    print(f"guest kernel: fetching {' and '.join(PACKAGES)} of Debian's forky", flush=True)
    sources, state, cache = KEPT / "sources.list", KEPT / "state", KEPT / "cache"
    for place in (state / "lists" / "partial", cache / "archives" / "partial"):
        place.mkdir(parents=True, exist_ok=True)
    sources.write_text(SOURCE, encoding="ascii")
    settings = {"State": state, "Cache": cache, "Etc::SourceList": sources, "Etc::SourceParts": "/dev/null"}
    options = [word for name, value in settings.items() for word in ("-o", f"Dir::{name}={value}")]
    apt = ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "-o", "Acquire::Languages=none", *options]
    subprocess.run([*apt, "-o", "Dir::State::status=/dev/null", "update"], check=True)
    subprocess.run([*apt, "download", *PACKAGES], cwd=KEPT, check=True)
    for package in KEPT.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, KEPT], check=True)


def program(folder: Path) -> Path:
    """The kernel, told where its own C library's loader is; it starts itself again, and hence must be a program."""
    (folder / "ld").symlink_to(LIBRARIES / "ld-linux-x86-64.so.2")
    found = (KEPT / "usr" / "bin" / "linux.uml").read_bytes()
    loader = f"{folder}/ld".encode().ljust(len(LOADER), b"\0")
    assert found.count(LOADER) == 1
    assert len(loader) == len(LOADER)
    changed = folder / "linux"
    changed.write_bytes(found.replace(LOADER, loader))
    changed.chmod(0o755)
    return changed


def main(who: str, *command: str) -> int:
    if not LIBRARIES.is_dir():
        fetch()
    with tempfile.TemporaryDirectory(prefix="guest-", dir="/tmp") as name:
        folder = Path(name)
        first = folder / "init"
        text = Path(__file__).with_name("guest_init.py").read_text(encoding="utf-8")
        first.write_text(f"#!{Path(sys.executable).resolve()} -IS\n{text}", encoding="utf-8")
        first.chmod(0o755)
        modules = [str(next(KEPT.glob(f"usr/lib/uml/modules/*/kernel/{module}"))) for module in MODULES]
        told = {"command": command, "who": who, "root": str(ROOT), "modules": modules, "ended": ENDED}
        (folder / "told.json").write_text(json.dumps(told), encoding="utf-8")
        asked = ["rootfstype=hostfs", "rootflags=/", "ro", f"init={first}", "con=null", "con0=fd:0,fd:1", "quiet"]
        environment = os.environ | {"LD_LIBRARY_PATH": str(LIBRARIES)}
        code = 70
        with subprocess.Popen(
            [program(folder), f"mem={MEMORY}", *asked],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            preexec_fn=lambda: ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGKILL),  # noqa: PLW1509 (one call)
        ) as guest:
            assert guest.stdout is not None
            for line in guest.stdout:
                print(line, end="", flush=True)
                if line.startswith(ENDED):
                    code = int(line.removeprefix(ENDED))
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
