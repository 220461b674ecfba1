"""Bubblewrap as a row of the table of engines, and as runs know it: no daemon, and no root where a group is ours."""

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from sandscore.base.errors import InfrastructureFault, OrganiserFault
from sandscore.base.process_identity import own_name
from sandscore.containers.engines.bubblewrap.bubblewrap_sandbox import BubblewrapSandbox, Launch, new_token, running
from sandscore.containers.engines.bubblewrap.compiled_seccomp import filter_library
from sandscore.containers.engines.bubblewrap.container_words import BatchNotes, owner
from sandscore.containers.engines.bubblewrap.image_builder import build
from sandscore.containers.engines.bubblewrap.image_roots import ImageRoots, usual_folder
from sandscore.containers.engines.control_groups import control_root, may_limit
from sandscore.containers.engines.engine_protocol import (
    OUTPUT,
    OWNER,
    RUN,
    BatchFolders,
    Engine,
    Isolation,
    Mounts,
    kind_of,
    seccomp_profile,
)
from sandscore.containers.engines.engine_registry import EngineRow
from sandscore.containers.engines.sandbox import Sandbox
from sandscore.containers.log_watch import LogWatch
from sandscore.records.run_record import EngineFacts, ImageFacts, Outcome, RunFault, RunLimits

if TYPE_CHECKING:
    from sandscore.containers.host_checks import Finding
    from sandscore.containers.transports import Door

_PROGRAM = "bwrap"
_TRIES = 5


class BubblewrapRow(EngineRow):
    """The program of that name."""

    name: ClassVar[str] = "bubblewrap"
    description: ClassVar[str] = "bubblewrap: containers of this machine's kernel, without a daemon and without root"
    source: ClassVar[str] = "docs/engines.md"

    def absent(self) -> str | None:
        return None if shutil.which(_PROGRAM) else "there is no bubblewrap here: apt-get install bubblewrap"

    def is_ready(self) -> bool:
        """Only where it could keep limits: many machines have the program for other things."""
        return self.absent() is None and may_limit()

    @contextmanager
    def connect(self, seconds: float = 120.0) -> Iterator[Engine]:
        yield BubblewrapEngine(program())

    def requirements(self) -> "Iterator[Finding]":
        from sandscore.containers.engines.bubblewrap.bubblewrap_checks import requirements

        yield from requirements()

    def examine(self) -> "Iterator[Finding]":
        from sandscore.containers.engines.bubblewrap.bubblewrap_checks import examine_bubblewrap

        yield from examine_bubblewrap(BubblewrapEngine(program()))


def program() -> str:
    """Where bubblewrap is."""
    if (found := shutil.which(_PROGRAM)) is None:
        raise InfrastructureFault("there is no bubblewrap (bwrap) on this machine: apt-get install bubblewrap")
    return found


@cache
def version(found: str) -> str:
    """As it tells it: ``bubblewrap 0.8.0``."""
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout.split()
    return told[-1] if told else "unknown"


def require_group() -> None:
    """Limits are kept by control groups; where none can be made, nothing is run."""
    control_root().group({OWNER: own_name(), "sandscore.expires": "0"}, new_token()).remove()


class BubblewrapEngine:
    """Keeps the promises of ``Engine`` with name spaces, control groups and a folder of images."""

    name, runtime = BubblewrapRow.name, _PROGRAM

    def __init__(self, found: str, images: ImageRoots | None = None) -> None:
        self._program = found
        self.images = images or ImageRoots(usual_folder())
        self._folders: dict[str, _NotesFolders] = {}

    def facts(self) -> EngineFacts:
        return EngineFacts(
            name=self.name,
            version=version(self._program),
            runtime=self.runtime,
            cgroups=str(control_root().version),
            rootless=os.geteuid() != 0,
        )

    def require_limits(self) -> None:
        require_name_spaces(self._program)
        filter_library()
        require_group()

    def remove_leftovers(self) -> int:
        removed = self.images.remove_abandoned()
        try:
            return removed + control_root().remove_leftovers()
        except OrganiserFault:
            return removed

    def remaining(self) -> list[str]:
        groups = control_root().groups()
        return [group.name for marks, group in groups if marks[OWNER] == own_name()] + list(self._folders)

    def find_image(self, reference: str, limits: RunLimits) -> ImageFacts:
        return self.images.find(reference, limits)

    def load_image(self, archive: Iterator[bytes]) -> None:
        self.images.load(archive)

    def credentials(self, registry: str) -> tuple[str, str] | None:
        """The file that ``docker login`` and ``podman login`` write is Docker's to read; we have no other."""
        return None

    def image_id(self, name: str) -> str | None:
        return self.images.id_of(name)

    def build_image(self, name: str, files: Mapping[str, str | bytes], marks: Mapping[str, str]) -> str:
        return build(self.images, self._program, name, files, marks)

    def remove_image(self, name: str) -> None:
        self.images.remove(name)

    def remove_abandoned_images(self) -> None:
        self.images.remove_abandoned_images()

    def no_network(self) -> Isolation | None:
        return Isolation("no network; entered through its name space", "none", _door)

    def own_network(self, marks: dict[str, str]) -> AbstractContextManager[Isolation]:
        """There is none to be had, and none to be cut off."""
        return nullcontext(Isolation("no network; entered through its name space", "none", _door))

    @contextmanager
    def folders(
        self, notes: bytes, output_bytes: int, limits: RunLimits, marks: dict[str, str]
    ) -> Iterator[BatchFolders]:
        name = f"{marks[RUN]}-{new_token()}"
        self._folders[name] = made = _NotesFolders(name, BatchNotes(notes, output_bytes))
        try:
            yield made
        finally:
            del self._folders[name]

    @contextmanager
    def sandbox(
        self, image: ImageFacts, limits: RunLimits, marks: dict[str, str], network: str, mounts: Mounts, log: LogWatch
    ) -> Iterator[Sandbox]:
        if limits.gpus is not None:
            raise OrganiserFault("bubblewrap hands on no graphics processors: take docker or podman")
        owner(limits)
        folders = next((self._folders[name] for name in mounts if name in self._folders), None)
        launch = Launch(
            self._program,
            self.images.opened(image.id),
            self.images.root(image.id),
            limits,
            seccomp_profile(),
            folders.batch if folders else None,
        )
        group = control_root().group(marks, new_token())
        with running(BubblewrapSandbox(launch, group, log), group) as box:
            if folders is not None:
                folders.box = box
            yield box


def _door(box: Any) -> "Door":
    door: Door = box.door()
    return door


class _NotesFolders:
    """What a batch submission is given. The folder for results is the container's, and kept as long as this is."""

    def __init__(self, name: str, batch: BatchNotes) -> None:
        self._name, self.batch = name, batch
        self.box: BubblewrapSandbox | None = None

    @property
    def mounts(self) -> Mounts:
        return {self._name: {"bind": OUTPUT}}

    def take(self, name: str, most_bytes: int) -> bytes:
        if self.box is None or self.box.output is None:
            raise RunFault(Outcome.INVALID_OUTPUT, f"there is no {OUTPUT}/{name}")
        return taken(self.box.output, name, most_bytes)


def taken(folder: int, name: str, most_bytes: int) -> bytes:
    """A regular file of an open folder as data: no link followed, no byte beyond the limit."""
    path = f"{OUTPUT}/{name}"
    try:
        kind = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        raise RunFault(Outcome.INVALID_OUTPUT, f"there is no {path}") from None
    _require_regular(path, kind, most_bytes)
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with open(descriptor, "rb") as file:  # noqa: PTH123 (a descriptor)
        _require_regular(path, os.fstat(descriptor), most_bytes)
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise RunFault(Outcome.INVALID_OUTPUT, f"{path} could not be taken out whole")
    return content


def _require_regular(path: str, found: os.stat_result, most_bytes: int) -> None:
    """In the words that are said of it on every engine."""
    if not stat.S_ISREG(found.st_mode):
        raise RunFault(Outcome.INVALID_OUTPUT, f"{path} is {kind_of(found.st_mode)}, not a regular file")
    if found.st_size > most_bytes:
        told = f"{path} has {found.st_size:,} bytes, more than the {most_bytes:,} allowed"
        raise RunFault(Outcome.INVALID_OUTPUT, told)


def require_name_spaces(found: str) -> None:
    """Refuse (78) where the kernel does not let us have them: no container without them is one.

    Tried again where it fails: what somebody else unmounts meanwhile, another engine's container, cannot be bound."""
    for _ in range(_TRIES):
        tried = subprocess.run(
            [found, "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--", "/bin/true"],
            capture_output=True,
            text=True,
            check=False,
            env={},
            cwd="/",
        )
        if not tried.returncode:
            return
    said = " ".join(tried.stderr.split())[:200]
    raise OrganiserFault(f"this kernel does not let bubblewrap make name spaces here: {said}")
