"""Limits and an image to the words that make bubblewrap keep them; nothing the image says can loosen them."""

import os
from collections.abc import Mapping

from msgspec import Struct

from sandscore.base.errors import OrganiserFault
from sandscore.containers.engines.bubblewrap.image_roots import UnpackedImage
from sandscore.containers.engines.engine_protocol import INPUT, OUTPUT
from sandscore.records.run_record import Outcome, RunFault, RunLimits

NAME = "sandbox"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_BASE = "/tmp"  # noqa: S108 (the launcher's, in a name space of its own)
_SCRATCH, _MEMORY = "/tmp", "/dev/shm"  # noqa: S108 (the container's own)
_PROCESSORS = "/sys/devices/system/cpu"
_SPARE_BYTES = 1 << 20


class MemoryFolder(Struct, frozen=True):
    """A folder in memory that the launcher makes: its name there, its place in the container, how it is mounted."""

    name: str
    place: str
    options: str
    programs: bool = False
    writable: bool = True


class BatchNotes(Struct, frozen=True):
    """What a batch submission is given, and how much it may give back."""

    notes: bytes
    output_bytes: int


def memory_folders(image: UnpackedImage, limits: RunLimits, batch: BatchNotes | None) -> list[MemoryFolder]:
    """Scratch space at /tmp and over each VOLUME, shared memory, and the two folders of a batch submission."""
    user, group = owner(limits) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    options = f"size={limits.tmp_bytes},nr_inodes={limits.tmp_files},mode=1777"
    places = sorted({_SCRATCH, *image.places.values()} - ({INPUT, OUTPUT} if batch else set()))
    found = [MemoryFolder(f"scratch{at}", place, options, limits.tmp_executable) for at, place in enumerate(places)]
    found.append(MemoryFolder("memory", _MEMORY, f"size={limits.shared_memory_bytes},mode=1777"))
    if batch is not None:
        size = len(batch.notes) + _SPARE_BYTES
        found.append(MemoryFolder("input", INPUT, f"size={size},nr_inodes=16,mode=0755", writable=False))
        size = batch.output_bytes + _SPARE_BYTES
        kept = f"size={size},nr_inodes=200,mode=0700,uid={user},gid={group}"
        found.append(MemoryFolder("output", OUTPUT, kept))
    return found


def owner(limits: RunLimits) -> tuple[int, int]:
    """User and group in the container; bubblewrap has but one, and an image of its own user wants several."""
    if limits.user is None or limits.capabilities:
        raise OrganiserFault(
            "this engine runs a container as one user without any rights: hardening compat needs docker or podman"
        )
    user, _, group = limits.user.partition(":")
    return int(user), int(group)


def container_words(
    image: UnpackedImage, limits: RunLimits, folders: list[MemoryFolder], groups: Mapping[str, str]
) -> list[str]:
    """For ``bwrap --args``. ``groups`` are control groups by where they show."""
    user, group = owner(limits)
    words = ["--unshare-all", "--die-with-parent", "--new-session", "--hostname", NAME]
    words += ["--unshare-user", "--uid", str(user), "--gid", str(group), "--cap-drop", "ALL"]
    words += ["--ro-bind", f"{_BASE}/root", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/sys"]
    words += ["--ro-bind", _PROCESSORS, _PROCESSORS]
    for place, source in groups.items():
        words += ["--ro-bind", source, place]
    for folder in folders:
        words += ["--bind" if folder.writable else "--ro-bind", f"{_BASE}/{folder.name}", folder.place]
    words += ["--remount-ro", "/sys", "--remount-ro", "/dev", "--clearenv"]
    for name, value in environment(image).items():
        words += ["--setenv", name, value]
    return [*words, "--chdir", f"/{image.config.folder or ''}"]


def environment(image: UnpackedImage) -> dict[str, str]:
    """The image's variables, and those that every container has."""
    own = dict(pair.partition("=")[::2] for pair in image.config.env or ())
    found = {"PATH": _PATH, "HOSTNAME": NAME} | own | {"HOME": _SCRATCH, "TMPDIR": _SCRATCH}
    return {name: value for name, value in found.items() if name and "\0" not in name + value}


def command(image: UnpackedImage) -> list[str]:
    """What the image runs."""
    words = [*(image.config.entrypoint or ()), *(image.config.command or ())]
    if not words or not words[0] or any("\0" in word for word in words):
        raise RunFault(Outcome.CRASHED, "no container can be made of the image: No command specified")
    return words
