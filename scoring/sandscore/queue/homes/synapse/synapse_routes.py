"""Routes from a submission to its task and phase."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.queue.homes.synapse.synapse_options import FILE, SynapseOptions
from sandscore.queue.queue_setup import phases
from sandscore.queue.workspace import Workspace

_BETWEEN = re.compile(r"[^a-z0-9]+")


class Routes(Struct, frozen=True):
    """``fixed`` is the task of every submission; without it a submission says so itself."""

    phase: str | None
    tasks: Sequence[str]
    fixed: str | None

    def task(self, name: str | None, bundle: Mapping[str, Any]) -> str:
        """Of one submission: the queue's, else what its entity is annotated with, else what its names say."""
        return self.fixed or self._said(name, bundle) or self.tasks[0]

    def refuse_unknown(self, name: str | None, bundle: Mapping[str, Any]) -> None:
        """A submission that does not say its task in a queue for several."""
        if not self.known(name, bundle):
            raise ParticipantFault(
                f"the submission does not say its task; annotate the entity with task = one of {', '.join(self.tasks)}"
            )

    def known(self, name: str | None, bundle: Mapping[str, Any]) -> bool:
        return bool(self.fixed or self._said(name, bundle))

    def _said(self, name: str | None, bundle: Mapping[str, Any]) -> str | None:
        """By an annotation; else by the first of its names that names a task."""
        found = (mentioned(one, self.tasks) for one in (name, *_names(bundle)))
        return self._annotated(bundle) or next(filter(None, found), None)

    def _annotated(self, bundle: Mapping[str, Any]) -> str | None:
        try:
            value = bundle["annotations"]["annotations"]["task"]["value"][0]
        except (KeyError, IndexError, TypeError):
            return None
        return value if value in self.tasks else None


def mentioned(text: str | None, tasks: Sequence[str]) -> str | None:
    """The one task that a text names; None if it names none, or several."""
    words = f"-{_BETWEEN.sub('-', (text or '').lower())}-"
    found = [task for task in tasks if f"-{task}-" in words]
    return found[0] if len(found) == 1 else None


def _names(bundle: Mapping[str, Any]) -> list[str]:
    """Of the entity, of its repository, and of the file itself."""
    entity, handles = bundle.get("entity"), bundle.get("fileHandles")
    entity = entity if isinstance(entity, Mapping) else {}
    own = [
        handle.get("fileName")
        for handle in (handles if isinstance(handles, list) else [])
        if isinstance(handle, Mapping) and str(handle.get("id")) == str(entity.get("dataFileHandleId"))
    ]
    repository = str(entity.get("repositoryName") or "").rpartition("/")[2]
    return [one for one in (entity.get("name"), repository, *own) if isinstance(one, str)]


def routes(workspace: Workspace, options: SynapseOptions, queue_name: str | None) -> Routes:
    """The organiser's choice; else the only task there is; else the one that the queue is named after."""
    phase = _phase(workspace, options)
    tasks = workspace.tasks(phase)
    if options.task is not None and options.task not in tasks:
        raise OrganiserFault(f"{workspace.root / FILE}: there is no gold for the task '{options.task}'")
    if not tasks:
        raise OrganiserFault(f"there is no gold in {workspace.data(phase)}")
    configured = [task for task in tasks if task in workspace.challenge.tasks]
    only = next((found[0] for found in (configured, tasks) if len(found) == 1), None)
    return Routes(phase, tasks, options.task or only or mentioned(queue_name, tasks))


def _phase(workspace: Workspace, options: SynapseOptions) -> str | None:
    known = phases(workspace.challenge)
    chosen = options.phase if options.phase is not None else known[0]
    if chosen not in known or (options.phase is None and len(known) > 1):
        names = ", ".join(str(name) for name in known)
        raise OrganiserFault(f'{workspace.root / FILE}: "phase" must name the phase of this queue, one of: {names}')
    return chosen
