"""The check of a queue: every name and file that its challenge speaks of, and what its home keeps, looked at now.

Nothing stops at the first fault: each is a finding of its own, with the line of challenge.toml where there is one.
"""

from collections.abc import Callable, Iterator
from functools import partial

from sandscore.base.errors import SandscoreError
from sandscore.challenges.challenge_reading import rules_for
from sandscore.containers.engines.engine_registry import ENGINES
from sandscore.containers.host_checks import Finding
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.queue.challenge_names import unknown_names
from sandscore.queue.homes.home_row import HomeRow
from sandscore.queue.phase_groups import check_copies
from sandscore.queue.public_log import PublicLog
from sandscore.queue.queue_setup import check_files, check_practice, check_tasks, phases
from sandscore.queue.shared_data import policy_in, refuse_contradictions
from sandscore.queue.workspace import Workspace, read_salt


def check_queue(workspace: Workspace, row: HomeRow) -> list[Finding]:
    """All findings, a line for each part that is well."""
    return [*_challenge(workspace), *_data(workspace), *_secrets(workspace), *_kept(workspace, row)]


def _challenge(workspace: Workspace) -> Iterator[Finding]:
    unknown = [*unknown_names(workspace)]
    yield from (Finding("challenge", "fault", said) for said in unknown)
    for phase in phases(workspace.challenge):
        for task in _there(workspace, phase):
            yield from _tried("rules", _titled(task, phase), partial(rules_for, workspace.challenge, task, phase))
    if (engine := workspace.engine) is not None:
        yield from _tried("engine", engine, partial(ENGINES.find, engine))
    chosen = workspace.settings.hipaa_map
    yield from _tried("HIPAA map", chosen or "the bundled one", partial(load_hipaa_map, chosen))
    if not unknown:
        yield Finding("challenge", "ok", f"{workspace.challenge_file}: measures and columns are known")


def _data(workspace: Workspace) -> Iterator[Finding]:
    for phase in phases(workspace.challenge):
        yield from _tried("tasks", _titled("all tasks", phase), partial(check_tasks, workspace, phase))
        for task in _there(workspace, phase):
            yield from _tried("data", _titled(task, phase), partial(check_files, workspace, task, phase))
            yield from _tried("policy", _titled(task, phase), partial(policy_in, workspace, task, phase))
        yield from _tried("practice", _titled("notes", phase), partial(check_practice, workspace, phase))
    if copies := workspace.challenge.robustness.copies:
        yield from _tried("copies", ", ".join(copies), partial(check_copies, workspace, phases(workspace.challenge)))
    yield from _tried("phases", "agree on the files they share", partial(refuse_contradictions, workspace))


def _secrets(workspace: Workspace) -> Iterator[Finding]:
    yield from _tried("salt", str(workspace.salt), partial(read_salt, workspace.salt))
    yield from _tried("public log", "its key and its lines hold", PublicLog(workspace).check)


def _kept(workspace: Workspace, row: HomeRow) -> Iterator[Finding]:
    faults = row.faults(workspace)
    yield from (Finding("queue", "fault", said) for said in faults)
    if not faults:
        yield Finding("queue", "ok", row.description)


def _tried(name: str, what: str, trying: Callable[[], object]) -> Iterator[Finding]:
    try:
        trying()
    except SandscoreError as fault:
        yield Finding(name, "fault", str(fault))
    else:
        yield Finding(name, "ok", what)


def _titled(task: str, phase: str | None) -> str:
    return task if phase is None else f"{task}, phase {phase}"


def _there(workspace: Workspace, phase: str | None) -> list[str]:
    try:
        return workspace.tasks(phase)
    except SandscoreError:
        return []
