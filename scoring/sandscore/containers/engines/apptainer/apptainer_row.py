"""Apptainer as a row of the table of engines, and as runs know it: a cluster's own program, on images that are files.

Images are unpacked, limits kept and results taken as with bubblewrap; a SIF is handed to Apptainer as it is.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from sandscore.base.errors import InfrastructureFault
from sandscore.containers.engines.apptainer.apptainer_sandbox import ApptainerSandbox
from sandscore.containers.engines.apptainer.apptainer_words import require_graphics
from sandscore.containers.engines.bubblewrap.bubblewrap_checks import examine_bubblewrap
from sandscore.containers.engines.bubblewrap.bubblewrap_row import BubblewrapEngine, require_group
from sandscore.containers.engines.bubblewrap.bubblewrap_sandbox import Launch, new_token, running
from sandscore.containers.engines.bubblewrap.container_words import owner
from sandscore.containers.engines.bubblewrap.image_builder import build
from sandscore.containers.engines.bubblewrap.image_roots import ImageRoots, UnpackedImage
from sandscore.containers.engines.control_groups import control_root, may_limit
from sandscore.containers.engines.engine_protocol import Engine, Mounts, seccomp_profile
from sandscore.containers.engines.engine_registry import EngineRow
from sandscore.containers.engines.sandbox import Sandbox
from sandscore.containers.log_watch import LogWatch
from sandscore.records.run_record import ImageFacts, Outcome, RunFault, RunLimits

if TYPE_CHECKING:
    from sandscore.containers.host_checks import Finding

_PROGRAM, _SIF = "apptainer", ".sif"
_ABSENT = "there is no apptainer here: see apptainer.org, or load your cluster's module"


class ApptainerRow(EngineRow):
    """The program of that name."""

    name: ClassVar[str] = "apptainer"
    description: ClassVar[str] = "Apptainer: the containers of clusters, without a daemon and without root"
    source: ClassVar[str] = "docs/engines.md"

    def absent(self) -> str | None:
        return None if shutil.which(_PROGRAM) else _ABSENT

    def is_ready(self) -> bool:
        """Only where it could keep limits."""
        return self.absent() is None and may_limit()

    @contextmanager
    def connect(self, seconds: float = 120.0) -> Iterator[Engine]:
        yield ApptainerEngine(apptainer_program())

    def requirements(self) -> "Iterator[Finding]":
        from sandscore.containers.host_checks import Finding

        found = shutil.which(_PROGRAM)
        yield Finding("apptainer", "ok" if found else "fault", found or "none", None if found else _ABSENT)

    def examine(self) -> "Iterator[Finding]":
        yield from examine_bubblewrap(ApptainerEngine(apptainer_program()))


def apptainer_program() -> str:
    """Where Apptainer is."""
    if (found := shutil.which(_PROGRAM)) is None:
        raise InfrastructureFault(_ABSENT)
    return found


class ApptainerEngine(BubblewrapEngine):
    """Keeps the promises of ``Engine`` with Apptainer, control groups and a folder of images."""

    name, runtime = ApptainerRow.name, _PROGRAM

    def __init__(self, found: str, images: ImageRoots | None = None) -> None:
        super().__init__(found, images)
        self._files: dict[str, Path] = {}

    def require_limits(self) -> None:
        require_group()

    def find_image(self, reference: str, limits: RunLimits) -> ImageFacts:
        """A SIF by its path; anything else by the name that it has here."""
        if not reference.endswith(_SIF):
            return super().find_image(reference, limits)
        try:
            with open(reference, "rb") as file:  # noqa: PTH123 (a path that somebody gave)
                size = os.fstat(file.fileno()).st_size
                if size > limits.image_bytes:
                    told = f"the image has {size:,} bytes, more than the {limits.image_bytes:,} allowed"
                    raise RunFault(Outcome.IMAGE_MISSING, told)
                identity = f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
        except OSError as fault:
            raise RunFault(Outcome.IMAGE_MISSING, f"the image cannot be read: {fault.strerror}") from None
        self._files[identity] = Path(reference).resolve()
        return ImageFacts(reference=reference, id=identity, size_bytes=size, volumes=())

    def build_image(self, name: str, files: Mapping[str, str | bytes], marks: Mapping[str, str]) -> str:
        """By bubblewrap: Apptainer's own way needs a definition, and what it makes is no image for others."""
        return build(self.images, shutil.which("bwrap") or "", name, files, marks)

    @contextmanager
    def sandbox(
        self, image: ImageFacts, limits: RunLimits, marks: dict[str, str], network: str, mounts: Mounts, log: LogWatch
    ) -> Iterator[Sandbox]:
        require_graphics(limits)
        owner(limits)
        folders = next((self._folders[name] for name in mounts if name in self._folders), None)
        file = self._files.get(image.id)
        launch = Launch(
            self._program,
            UnpackedImage(image.id, image.size_bytes, {}) if file else self.images.opened(image.id),
            file or self.images.root(image.id),
            limits,
            seccomp_profile(),
            folders.batch if folders else None,
        )
        group = control_root().group(marks, new_token())
        with running(ApptainerSandbox(launch, group, log), group) as box:
            if folders is not None:
                folders.box = box
            yield box
