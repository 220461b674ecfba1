"""A submission's container made by Apptainer, inside control groups and folders in memory that are ours.

Apptainer's own limits open a group that goes with the container, and with it what was known of memory kills. So the
launcher is in a group of ours before it starts Apptainer, and everything of Apptainer's that stays outside of the
container is let out of it once the container is there.
"""

import os
import time
from contextlib import ExitStack, suppress

from sandscore.base.errors import OrganiserFault
from sandscore.containers.engines.apptainer.apptainer_words import PROFILE, apptainer_environment, apptainer_words
from sandscore.containers.engines.bubblewrap.bubblewrap_sandbox import (
    BubblewrapSandbox,
    ContainerOutput,
    Special,
    StartDescriptors,
    not_made,
)
from sandscore.containers.engines.bubblewrap.container_words import memory_folders
from sandscore.containers.engines.sandbox import State
from sandscore.containers.process_view import ProcessView

_PATIENCE, _POLL_SECONDS = 60.0, 0.002
_OWN_FAULT = 255
"""With which Apptainer ends that could not make a container; it says why in lines that begin with FATAL."""


class ApptainerSandbox(BubblewrapSandbox):
    """A container of Apptainer's, of which the kernel tells everything but the exit code."""

    def start(self) -> None:
        begun = time.monotonic()
        image = self._launch.image
        folders = memory_folders(image, self.limits, self._launch.batch)
        words = apptainer_words(image, self.limits, folders, unpacked=self._launch.root.is_dir())
        with ExitStack() as stack:
            fds = StartDescriptors(stack)
            output = fds.pipe(inherited="write")
            ours, theirs = fds.pair()
            self._process = self._started([], theirs, output[1])
            fds.close(output[1])
            theirs.close()
            self.log.follow(ContainerOutput(fds.keep(output[0])), self.limits.log_bytes, self.kill)
            try:
                self._group.limit(self.limits)
                self._group.add(self._process.pid)
            except OSError as fault:
                raise OrganiserFault(f"limits would not be in force: {fault.strerror}") from None
            self._hand_over(ours, folders, ["apptainer", *words], [])
        with suppress(OSError):
            self._handle = os.pidfd_open(self._bubblewrap)
        self._await_first()
        self._await_filter()
        self._let_out()
        self.start_seconds = time.monotonic() - begun

    def special(self) -> Special:
        """It stays whoever we are, since it is Apptainer that changes to the container's user."""
        environment = apptainer_environment(self._launch.image)
        return Special(environment=environment, texts={PROFILE: self._launch.profile}, processes=True)

    def _await_first(self) -> None:
        """The first process of a name space that Apptainer has made; None where it ended before it was seen."""
        deadline = time.monotonic() + _PATIENCE
        while self._first is None and self._process is not None:
            ended = self._process.poll()
            for process in self._group.processes():
                if self._is_first(process):
                    self._first = process
            if ended is not None and self._first is None:
                self.log.settle()
                if ended == _OWN_FAULT and self.log.tail.lstrip().startswith(b"FATAL"):
                    raise not_made(self._last_words(), "apptainer")
                return
            if time.monotonic() > deadline:
                raise not_made(self._last_words(), "apptainer")
            time.sleep(_POLL_SECONDS)

    def _is_first(self, process: int) -> bool:
        try:
            numbers = ProcessView(process).status["NSpid"].split()
            return numbers[-1] == "1" and len(numbers) > len(ProcessView(self._bubblewrap).status["NSpid"].split())
        except (OSError, KeyError):
            return False

    def _let_out(self) -> None:
        """What is not in the container's name space of processes is Apptainer's own, and counts to no limit of it."""
        with suppress(OSError):
            inside = ProcessView(self._first or 0).name_space("pid")
            for process in self._group.processes():
                with suppress(OSError):
                    if ProcessView(process).name_space("pid") != inside:
                        self._group.release(process)

    def state(self) -> State:
        if self._process is None:
            return State(False, False, None)
        self.exit_code = self._process.poll()
        return State(self.exit_code is None, self._group.killed_for_memory, self.exit_code)

    def ended_by_itself(self) -> bool:
        """It is not by itself that Apptainer is killed."""
        return not self._killed and self._process is not None and (self._process.returncode or 0) >= 0
