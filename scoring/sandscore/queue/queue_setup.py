"""``queue init``: a folder made ready, its gold and notes checked before the first submission arrives."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.base.diagnostics import warn
from sandscore.base.errors import InfrastructureFault, OrganiserFault, UsageFault
from sandscore.base.removable_rooms import REMOVABLE
from sandscore.base.whole_files import sync_folders, write_file, write_synced
from sandscore.challenges.challenge_reading import read_challenge
from sandscore.containers.practice_notes import refuse_shared
from sandscore.containers.sent_notes import read_notes
from sandscore.disclosure.policy_choice import unsaid
from sandscore.queue.challenge_names import refuse_unknown_names
from sandscore.queue.layout_move import bring, close_others, make_folder
from sandscore.queue.phase_groups import check_copies, slices_in
from sandscore.queue.public_log import PublicLog
from sandscore.queue.queue_layout import (
    ALL_FOLDER,
    CHALLENGE,
    EDITED,
    OWNER_FOLDER,
    PRIVATE,
    PUBLIC,
    ROOT,
    SALT,
    SETTINGS,
    edited_path,
    lying,
    make_links,
    owner_only,
)
from sandscore.queue.settings import QueueSettings
from sandscore.queue.shared_data import policy_in, refuse_contradictions
from sandscore.queue.workspace import Workspace, make_salt
from sandscore.records.challenge import Challenge
from sandscore.records.slicing_names import SLICE_RULES
from sandscore.task_table.task import ALL_TASKS

_SAID = ".data-unsaid"


class NewQueue(Struct, frozen=True):
    """What ``queue init`` was told; ``chosen`` are the options of homes by name."""

    folder: Path | None
    challenge: Path
    settings: QueueSettings
    chosen: Mapping[str, Any]


class QueueMade(Struct, frozen=True):
    """What came of it. ``facts`` are told beside the folder; ``mended`` is said in place of everything else."""

    root: Path
    workspace: Workspace | None
    facts: Mapping[str, object] = field(default_factory=dict)
    mended: str | None = None
    said: Sequence[str] = ()
    """Sentences about the place that the queue is in."""


def found(
    root: Path,
    challenge: Path,
    settings: QueueSettings,
    home: Callable[[Path], None],
    edited: Sequence[str] = (),
    *,
    logs: bool = True,
) -> Workspace:
    """Make the folder; nothing is left behind where the configuration or the data are at fault. ``home`` puts into its
    private half what the home of the queue needs, some of it to be ``edited`` by organisers; the settings come last,
    so that where they are everything is. ``logs``: whether the queue's log is kept here."""
    if edited_path(root, SETTINGS).exists():
        raise UsageFault(f"{root} is the folder of a queue already")
    given = read_challenge(challenge)
    remembered = {"practice": practice_folders(challenge, given), "files": named_files(challenge, given)}
    settings = settings.model_copy(update=remembered)
    workspace = Workspace(root.resolve(), given, settings)
    refuse_unknown_names(workspace, challenge)
    check_data(workspace)
    try:
        private = _halves(root)
        with owner_only():
            write_file(private / CHALLENGE, challenge.read_bytes(), sync=True)
            if not (private / SALT).exists():
                make_salt(private / SALT)
            home(private)
            write_synced(private / SETTINGS, settings.model_dump_json(indent=2).encode() + b"\n")
        if challenge.resolve() == workspace.root / CHALLENGE:
            challenge.unlink()
        make_links(root, (*EDITED, *edited))
        say_once(workspace)
        if logs:
            log = PublicLog(workspace)
            log.begin()
            log.publish()
        sync_folders([private, root])
    except OSError as fault:
        raise InfrastructureFault(f"{root} cannot be made: {fault.strerror}") from None
    return workspace


def say_once(workspace: Workspace) -> None:
    """The first command about a challenge says what follows from what it leaves open."""
    sentence = unsaid(workspace.challenge)
    if sentence and not (mark := workspace.private / _SAID).exists():
        warn(sentence)
        write_file(mark, b"")


def _halves(root: Path) -> Path:
    """The private half, with the salt that somebody may have put into the folder; whatever else lies there stays."""
    root.mkdir(parents=True, exist_ok=True)
    root.chmod(OWNER_FOLDER)
    private, public = root / PRIVATE, root / PUBLIC
    make_folder(private, OWNER_FOLDER)
    make_folder(public, ALL_FOLDER)
    if lying(root, PRIVATE, [SALT]):
        bring(root / SALT, private / SALT, public=False)
    close_others(root)
    root.chmod(ROOT)
    return private


def data_folders(challenge: Path, given: Mapping[str, Path]) -> dict[str, str]:
    """Where notes and gold lie: beside the configuration, unless said otherwise."""
    folders = {"": challenge.parent} | dict(given)
    return {phase: str(folder.resolve()) for phase, folder in folders.items()}


def practice_folders(place: Path, challenge: Challenge) -> dict[str, str]:
    """Where practice notes lie, by phase: told relative to challenge.toml, remembered whole."""
    told = {"": challenge.data.practice if challenge.data is not None else None}
    told |= {phase.name: phase.practice for phase in challenge.phases}
    return {phase: str((place.parent / path).resolve()) for phase, path in told.items() if path is not None}


def named_files(place: Path, challenge: Challenge) -> dict[str, str]:
    """Files and folders that ``challenge.toml`` names: told relative to it, remembered whole."""
    named = [*(one for one in challenge.slices.by if one not in SLICE_RULES), *challenge.robustness.copies]
    named += challenge.measure_files.values()
    return {name: str((place.parent / name).absolute()) for name in named}


def check_data(workspace: Workspace) -> None:
    """Notes and gold of every phase, and rules that hold together; the organiser hears of faults now, not later."""
    for phase in phases(workspace.challenge):
        check_tasks(workspace, phase)
        for task in workspace.tasks(phase):
            policy_in(workspace, task, phase)
            check_files(workspace, task, phase)
    refuse_contradictions(workspace)
    for phase in phases(workspace.challenge):
        check_practice(workspace, phase)
    check_copies(workspace, phases(workspace.challenge))


def check_tasks(workspace: Workspace, phase: str | None) -> None:
    """Every task that the challenge names has gold, and there is one at least."""
    tasks = workspace.tasks(phase)
    if not tasks:
        raise OrganiserFault(f"there is no gold in {workspace.data(phase)}: date.json for the task date, and so on")
    if ALL_TASKS.id in workspace.challenge.tasks:
        raise OrganiserFault(
            f"[tasks.{ALL_TASKS.id}]: a queue scores one task a submission; score and rank do all at once"
        )
    missing = sorted(workspace.challenge.tasks.keys() - set(tasks))
    if missing:
        raise OrganiserFault(f"there is no gold for the task {', '.join(missing)} in {workspace.data(phase)}")


def check_practice(workspace: Workspace, phase: str | None) -> None:
    """No practice note is a hidden one."""
    if workspace.notes_hidden(phase):
        hidden, practice = (read_notes(place)[0] for place in (workspace.notes(phase), workspace.practice(phase)))
        refuse_shared(practice, (note.text for note in hidden))


def phases(challenge: Challenge) -> list[str | None]:
    return [phase.name for phase in challenge.phases] or [None]


def check_files(workspace: Workspace, task: str, phase: str | None) -> None:
    """Notes and gold of a task are valid."""
    inputs = Inputs(gold=workspace.gold(task, phase), notes=workspace.notes(phase))
    loaded = load_files(workspace.task(task), inputs, want_tokens=False)
    for role, findings in loaded.findings.items():
        if findings.errors:
            counts = ", ".join(f"{code} {count}" for code, count in sorted(findings.counts.items()))
            raise OrganiserFault(f"{findings.name}: the {role} is not valid: {counts}; sandscore validate says where")
    if named := slices_in(workspace, loaded):
        with REMOVABLE:
            from sandscore.slices.slice_rules import slicing
        for asked in named:
            slicing(asked, loaded, inputs.notes)
