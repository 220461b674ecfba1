"""The protocol of engines: what runs, attacks, the doctor and the queue need of whatever runs containers here.

An engine keeps the limits it is given or refuses to run; what it makes carries the labels of its run, so that what a
killed process left is found and removed; its own faults are ``RunFault`` with the outcome ``infrastructure``, and a
refusal of the image is the participant's.

Labels that say who made a thing on an engine, for which run, and until when it can be in use.
"""

import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from sandscore.base.process_identity import fate, own_name
from sandscore.containers.engines.sandbox import Sandbox
from sandscore.containers.log_watch import LogWatch
from sandscore.containers.transports import Door
from sandscore.records.run_record import EngineFacts, ImageFacts, RunLimits

RUN, OWNER, EXPIRES = "sandscore.run", "sandscore.owner", "sandscore.expires"
_MARGIN_SECONDS = 600


def labels(run_id: str, total_seconds: float) -> dict[str, str]:
    """For everything a run makes on the engine."""
    expires = int(time.time() + total_seconds + _MARGIN_SECONDS)
    return {RUN: run_id, OWNER: own_name(), EXPIRES: str(expires)}


def abandoned(marks: Mapping[str, str]) -> bool:
    """Its maker is gone; on another machine, which cannot be asked, its time is up."""
    there = fate(marks.get(OWNER, ""))
    if there is not None:
        return not there
    expires = marks.get(EXPIRES, "0")
    return not expires.isdigit() or int(expires) < time.time()


@cache
def seccomp_profile() -> str:
    """Our system call filter, in the form that engines take."""
    return (Path(__file__).parents[1] / "seccomp.json").read_text(encoding="utf-8")


def kind_of(mode: int) -> str:
    """What stands where a regular file was wanted, in words."""
    return _KINDS.get(stat.S_IFMT(mode), "no file")


_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFDIR: "a folder",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}

INPUT, OUTPUT = "/input", "/output"
NOTES, PREDICTIONS = "notes.json", "predictions.json"

Mounts = Mapping[str, Mapping[str, str]]
"""Folders of a batch submission, in the engine's own words: handed from ``BatchFolders`` to ``sandbox`` as they are."""


class Isolation(Struct, frozen=True):
    """``network`` goes to the engine; ``door`` makes the way in to the started container."""

    description: str
    network: str
    door: Callable[[Any], Door]


class CannotEnter(Exception):
    """The container's network is not where this process could enter it: an engine in a world of its own."""


class BatchFolders(Protocol):
    """A read-only folder with the notes at /input, and a small one at /output."""

    @property
    def mounts(self) -> Mounts: ...

    def take(self, name: str, most_bytes: int) -> bytes:
        """A regular file of /output as data, of at most so many bytes; whatever else is there ends the run."""


class Engine(Protocol):
    """An engine that answers, for as long as it is connected."""

    @property
    def name(self) -> str:
        """Of its row in the table of engines."""

    def facts(self) -> EngineFacts:
        """What run.json says of the engine."""

    def require_limits(self) -> None:
        """Refuse (78) where a limit would not be in force."""

    def remove_leftovers(self) -> int:
        """Remove what runs that are no longer alive have left; how many things that were."""

    def remaining(self) -> list[str]:
        """What this process has made on the engine and not yet removed."""

    def find_image(self, reference: str, limits: RunLimits) -> ImageFacts:
        """The image's facts, fetched where the engine does not have it; nothing of it is run."""

    def load_image(self, archive: Iterator[bytes]) -> None:
        """Take in an archive as ``docker save`` writes it. One that breaks off leaves nothing behind."""

    def credentials(self, registry: str) -> tuple[str, str] | None:
        """The login for a registry that the account of this process has with the engine: user and password."""

    def image_id(self, name: str) -> str | None:
        """Of an image that is here already."""

    def build_image(self, name: str, files: Mapping[str, str | bytes], marks: Mapping[str, str]) -> str:
        """An image of files, a Dockerfile among them, built without a network; its id."""

    def remove_image(self, name: str) -> None:
        """Raises nothing."""

    def remove_abandoned_images(self) -> None:
        """Images built for the moment by processes that are no longer alive."""

    def no_network(self) -> Isolation | None:
        """A container without any network, entered by us alone; None where this process may not enter."""

    def own_network(self, marks: dict[str, str]) -> AbstractContextManager[Isolation]:
        """A network for one container, cut off from the host as far as that may be done."""

    def folders(
        self, notes: bytes, output_bytes: int, limits: RunLimits, marks: dict[str, str]
    ) -> AbstractContextManager[BatchFolders]:
        """The folders of a batch submission, in memory; gone afterwards."""

    def sandbox(
        self, image: ImageFacts, limits: RunLimits, marks: dict[str, str], network: str, mounts: Mounts, log: LogWatch
    ) -> AbstractContextManager[Sandbox]:
        """A container of the image, started under the limits; gone afterwards, whatever happens."""
