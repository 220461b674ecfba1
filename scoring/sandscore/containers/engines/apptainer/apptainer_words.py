"""Limits and an image to the words that make Apptainer keep them; nothing the image says can loosen them.

Every option is one of apptainer-exec(1) and apptainer-run(1) of releases 1.2 to 1.4.
"""

import os
from pathlib import Path

from sandscore.base.errors import OrganiserFault
from sandscore.containers.engines.bubblewrap.container_words import (
    NAME,
    MemoryFolder,
    command,
    environment,
    owner,
)
from sandscore.containers.engines.bubblewrap.image_roots import UnpackedImage
from sandscore.records.run_record import Outcome, RunFault, RunLimits

PROFILE = "seccomp.json"
_BASE, _SCRATCH = "/tmp", "/tmp"  # noqa: S108 (the launcher's and the container's, in name spaces of their own)
_IMAGE = f"{_BASE}/root"
_NO_MOUNTS = "sys,tmp,hostfs,cwd,bind-paths"
_PASSED = "APPTAINERENV_"
_GRAPHICS = Path("/dev/nvidiactl")
_OWN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def apptainer_words(
    image: UnpackedImage, limits: RunLimits, folders: list[MemoryFolder], *, unpacked: bool
) -> list[str]:
    """For ``apptainer``: ``exec`` of what an unpacked image starts with; ``run`` of a SIF, which knows that itself."""
    words = ["exec" if unpacked else "run", "--containall", "--cleanenv", "--no-eval", "--no-umask"]
    words += ["--pid", "--ipc", "--uts", "--hostname", NAME, "--net", "--network", "none", "--dns", "127.0.0.1"]
    words += ["--no-mount", _NO_MOUNTS, "--no-privs", "--security", f"seccomp:{_BASE}/{PROFILE}"]
    user, group = owner(limits)
    if os.geteuid() == 0:
        words += ["--security", f"uid:{user}", "--security", f"gid:{group}"]
    else:
        words += ["--userns"]
    for folder in folders:
        words += _mounted(folder)
    if limits.gpus is not None:
        words += ["--nv"]
    if not unpacked:
        return [*words, _IMAGE]
    return [*words, "--cwd", f"/{(image.config.folder or '').lstrip('/')}", _IMAGE, *command(image)]


def _mounted(folder: MemoryFolder) -> list[str]:
    """Scratch space at /tmp is the home too, so that nobody's own is mounted."""
    if any(mark in folder.place for mark in ":,\\"):
        raise RunFault(Outcome.CRASHED, f"the image declares a VOLUME '{folder.place}' that Apptainer cannot mount")
    source = f"{_BASE}/{folder.name}:{folder.place}"
    return ["--home", source] if folder.place == _SCRATCH else ["--bind", source if folder.writable else f"{source}:ro"]


def apptainer_environment(image: UnpackedImage) -> dict[str, str]:
    """Of Apptainer itself, and what it hands on: never on an argument list."""
    inside = {name: value for name, value in environment(image).items() if name != "HOME"}
    return {"PATH": _OWN_PATH, "HOME": _BASE} | {_PASSED + name: value for name, value in inside.items()}


def require_graphics(limits: RunLimits) -> None:
    """Refuse (78) what ``--nv`` cannot give."""
    if limits.gpus is None:
        return
    if limits.gpus != "all":
        raise OrganiserFault('apptainer hands on all graphics processors or none: say gpus = "all"')
    if not _GRAPHICS.exists():
        raise OrganiserFault(f"graphics processors were asked for, and there is none here (no {_GRAPHICS})")
