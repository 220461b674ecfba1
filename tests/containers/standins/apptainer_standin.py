"""A stand-in for the program ``apptainer``: knows the documented options of exec and run, refuses any other.

It runs the image by bubblewrap, and does only what it is told: no network name space without ``--net``, no filter
without ``--security seccomp:``, the host's /sys unless ``--no-mount sys``. Beside it lie ``profile.json`` and
``filter``, the one profile that it can apply, compiled. Standard library alone: it starts inside a submission's limits.
"""

import os
import subprocess
import sys
from pathlib import Path

FLAGS = """allow-setuid boot cleanenv compat contain containall disable-cache docker-login fakeroot ipc keep-privs net
 no-eval no-home no-https no-init no-privs no-umask nv nvccli oom-kill-disable passphrase pid rocm underlay unsquash
 userns uts writable writable-tmpfs"""
VALUES = """add-caps app apply-cgroups bind blkio-weight blkio-weight-device cpu-shares cpus cpuset-cpus cpuset-mems cwd
 dns docker-host drop-caps env env-file fusemount home hostname memory memory-reservation memory-swap mount network
 network-args no-mount overlay pem-path pids-limit scratch security shell workdir"""
"""apptainer-exec(1), release 1.3: what takes no value, and what takes one."""
NO_MOUNTS = "proc sys dev devpts home tmp hostfs cwd bind-paths"
FAILED = 255


def parsed(words: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    flags, values, found = FLAGS.split(), VALUES.split(), dict[str, list[str]]()
    at = 0
    while at < len(words) and words[at].startswith("-"):
        name = words[at].removeprefix("--")
        if name in flags:
            found[name] = []
        elif name in values and at + 1 < len(words):
            at += 1
            found.setdefault(name, []).append(words[at])
        else:
            failed(f"unknown flag: {words[at]}")
        at += 1
    return found, words[at:]


def failed(why: str) -> None:
    print(f"FATAL:   {why}", file=sys.stderr)
    sys.exit(FAILED)


def bubblewrap_words(given: dict[str, list[str]], image: str) -> tuple[list[str], list[int]]:
    kept: list[int] = []
    words = ["bwrap", "--die-with-parent", "--new-session", "--unshare-user", "--ro-bind", image, "/"]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for option, told in (("pid", "pid"), ("ipc", "ipc"), ("uts", "uts"), ("net", "net")):
        words += [f"--unshare-{told}"] if option in given else []
    if "net" in given and given.get("network") != ["none"]:
        failed("a network needs the plugins of CNI")
    skipped = ",".join(given.get("no-mount", [])).split(",")
    if unknown := [name for name in skipped if name and name not in NO_MOUNTS.split()]:
        failed(f"unknown mount: {unknown}")
    words += [] if "sys" in skipped else ["--ro-bind", "/sys", "/sys"]
    words += ["--hostname", given["hostname"][0]] if "hostname" in given else []
    words += ["--cap-drop", "ALL"] if "no-privs" in given or os.geteuid() else []
    for mount in given.get("home", []) + given.get("bind", []):
        source, target, *options = mount.split(":")
        words += ["--ro-bind" if options == ["ro"] else "--bind", source, target]
    words += ["--remount-ro", "/dev", "--chdir", given.get("cwd", ["/"])[0]]
    for feature in given.get("security", []):
        kind, _, value = feature.partition(":")
        if kind == "seccomp":
            beside = Path(__file__).parent
            if Path(value).read_bytes() != (beside / "profile.json").read_bytes():
                failed("a profile that is not the one expected")
            kept.append(os.open(beside / "filter", os.O_RDONLY))
            words += ["--seccomp", str(kept[0])]
        elif kind in ("uid", "gid") and os.geteuid() == 0:
            words += [f"--{kind}", value]
        else:
            failed(f"not for this user: {feature}")
    return words, kept


def main() -> int:
    if sys.argv[1:] == ["--version"]:
        print("apptainer version 1.3.0")
        return 0
    verb, *words = sys.argv[1:]
    given, rest = parsed(words)
    if verb not in ("exec", "run") or not rest or "containall" not in given or "cleanenv" not in given:
        failed(f"not understood: {verb}")
    image, *command = rest
    if verb == "run" and Path(image).is_file():
        failed(f"a file that begins with {Path(image).read_text()[:10]} is not run here")
    if not Path(image).is_dir() or (verb == "exec") != bool(command):
        failed(f"could not open image {image}")
    passed = {name.removeprefix("APPTAINERENV_"): value for name, value in os.environ.items() if "ERENV_" in name}
    passed["HOME"] = given["home"][0].partition(":")[2] if "home" in given else "/nonexistent"
    options, kept = bubblewrap_words(given, image)
    identity = dict(item.split(":", 1) for item in given.get("security", []) if item[1:3] == "id")
    if identity:
        os.setgroups([])
        os.setresgid(*[int(identity["gid"])] * 3)
        os.setresuid(*[int(identity["uid"])] * 3)
    done = subprocess.run([*options, "--", *command], env=passed, pass_fds=kept, check=False)
    ended = done.returncode
    return ended if ended >= 0 else 128 - ended


if __name__ == "__main__":
    sys.exit(main())
