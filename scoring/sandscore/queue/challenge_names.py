"""The names in a challenge that nobody has: measures that no task of it has, columns that no board has."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from sandscore.base.errors import OrganiserFault, SandscoreError
from sandscore.challenges.challenge_reading import Step, files_of, line_of, named_measures
from sandscore.measures.measure_registry import measures_for
from sandscore.queue.shared_data import content_sha256
from sandscore.queue.workspace import Workspace
from sandscore.records.challenge import Challenge, Publication, RuleChanges
from sandscore.records.record_reading import file_content
from sandscore.records.withheld_fields import CHOSEN_COLUMNS

COLUMNS = (*Publication.model_fields["columns"].default, *CHOSEN_COLUMNS)
"""What ``publication.columns`` may name."""


class _Named(Struct, frozen=True):
    """A measure that the challenge names, where it does, and for which tasks."""

    where: tuple[Step, ...]
    measure: str
    tasks: tuple[str, ...]


def refuse_unknown_names(workspace: Workspace, path: Path) -> None:
    """Raise where the challenge names measures or columns that nobody has; every one with its line."""
    if found := [*unknown_names(workspace, path)]:
        raise OrganiserFault("\n".join(found))


def unknown_names(workspace: Workspace, path: Path | None = None) -> Iterator[str]:
    """Sentences with the lines, in their order."""
    challenge, path = workspace.challenge, path or workspace.challenge_file
    text = file_content(path).decode("utf-8")
    found = {(line_of(text, one.where), said) for one in _named(workspace) if (said := _why_unknown(workspace, one))}
    found |= {(line_of(text, ("measure_files", digest)), said) for digest, said in _odd_files(workspace)}
    odd = [name for name in challenge.publication.columns if name not in COLUMNS]
    if odd:
        line = line_of(text, ("publication", "columns"))
        found.add((line, f"unknown column '{odd[0]}'; the columns are {', '.join(COLUMNS)}"))
    yield from (f"{path}, line {line}: {said}" for line, said in sorted(found))


def _why_unknown(workspace: Workspace, one: _Named) -> str | None:
    """None where each of the tasks has the measure; one that is only shown may be a single task's."""
    said = [_refusal(workspace, task, one.measure) for task in one.tasks]
    shown_only = one.where[-1] == "secondary" and None in said
    fault = next((why for why in said if why is not None), None)
    return None if fault is None or shown_only else f"{one.where[-1]}: {fault}"


def _odd_files(workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Files of measures that are not there, or are others than the challenge says."""
    for digest, name in workspace.challenge.measure_files.items():
        try:
            held = content_sha256(workspace.named_file(name))[: len(digest)]
        except SandscoreError as fault:
            yield digest, str(fault)
        else:
            if held != digest:
                yield digest, f"measure_files: {name} is {held}, not {digest}"


def _refusal(workspace: Workspace, task: str, measure: str) -> str | None:
    unlisted = {*files_of(measure).values()} - {*workspace.challenge.measure_files}
    if unlisted:
        return f"'{measure}' needs a file that [measure_files] does not list"
    try:
        measures_for(workspace.task(task), [measure])
    except SandscoreError as fault:
        return str(fault)
    return None


def _named(workspace: Workspace) -> Iterator[_Named]:
    """A rule of the whole challenge must hold for every task that does not change it, a phase's for all of its own."""
    challenge = workspace.challenge
    names: list[str | None] = [phase.name for phase in challenge.phases] or [None]
    tasks = sorted({task for name in names for task in workspace.tasks(name)})
    for key, name in named_measures(challenge):
        yield _Named((key,), name, tuple(task for task in tasks if getattr(_table(challenge, task), key, None) is None))
    for task in tasks:
        if (table := _table(challenge, task)) is not None:
            yield from (_Named(("tasks", task, key), name, (task,)) for key, name in named_measures(table))
    for at, phase in enumerate(challenge.phases):
        there = tuple(workspace.tasks(phase.name))
        yield from (_Named(("phases", at, key), name, there) for key, name in named_measures(phase))


def _table(challenge: Challenge, task: str) -> RuleChanges | None:
    return challenge.tasks.get(task)
