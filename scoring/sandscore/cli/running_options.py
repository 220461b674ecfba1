"""The options that say what is run and how, shared by ``run`` and ``evaluate``."""

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from sandscore.base.errors import UsageFault
from sandscore.cli.progress import bar

if TYPE_CHECKING:
    from sandscore.records.run_record import RunLimits
    from sandscore.task_table.task import Task

_Command = TypeVar("_Command", bound=Callable[..., Any])
_SIZE = re.compile(r"([0-9]+)([kmg]?)b?", re.IGNORECASE)
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30}


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options as they were given."""

    notes: str
    hardening: str
    protocol: str
    concurrency: int
    time_limit: float | None
    memory: int | None
    check_determinism: bool
    check_robustness: bool


def _size(_context: click.Context, _parameter: click.Parameter, written: str | None) -> int | None:
    if written is None:
        return None
    matched = _SIZE.fullmatch(written.strip())
    if matched is None:
        raise UsageFault(f"'{written}' is not an amount of memory; write it as 512m or 2g")
    return int(matched[1]) << _UNITS[matched[2].lower()]


memory_option = click.option("--memory", callback=_size, metavar="SIZE", help="Memory, with no swap beside it (2g).")
_OPTIONS = (
    click.option("--notes", required=True, help="The notes to annotate: JSON or JSON Lines."),
    click.option(
        "--hardening",
        type=click.Choice(["strict", "compat"]),
        default="strict",
        show_default=True,
        help="compat lets the image start as root and switch its user itself; all else stays closed.",
    ),
    click.option(
        "--protocol",
        type=click.Choice(["service", "batch"]),
        default="service",
        show_default=True,
        help="A server that is sent notes, or a program that turns /input/notes.json into /output/predictions.json.",
    ),
    click.option(
        "--concurrency", type=click.IntRange(1, 32), default=4, show_default=True, help="Notes sent at the same time."
    ),
    click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), help="Seconds for the whole run (3600)."),
    memory_option,
    click.option("--check-determinism", is_flag=True, help="Run a second time, notes shuffled: same answers?"),
    click.option("--check-robustness", is_flag=True, help="Ask again, notes repeated and reversed: same answers?"),
)


def run_options(command: _Command) -> _Command:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def limits_from(hardening: str, time_limit: float | None, memory: int | None) -> "RunLimits":
    """The profile's limits with what was asked for otherwise."""
    from sandscore.containers.container_limits import preset
    from sandscore.records.run_record import RunLimits

    changed = {"total_seconds": time_limit, "memory_bytes": memory}
    try:
        given = {key: value for key, value in changed.items() if value is not None}
        return RunLimits(**preset(hardening).model_dump() | given)  # type: ignore[arg-type]
    except ValueError:
        raise UsageFault("the memory must be at least 6m") from None


@contextmanager
def ended_gently() -> Iterator[None]:
    """A termination signal unwinds as an interrupt does, so that no container stays behind."""

    def unwind(number: int, _frame: object) -> NoReturn:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, unwind)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def execute(task: "Task", kind: str, reference: str, options: RunOptions, folder: Path) -> Any:
    """Do the run, write its folder and return its record; a bar shows the notes as they are answered."""
    from sandscore.containers.annotation_run import RunJob, run
    from sandscore.containers.run_context import Annotator
    from sandscore.containers.run_folder import clear, write_run
    from sandscore.containers.sent_notes import read_notes

    notes, digest = read_notes(options.notes)
    job = RunJob(
        task=task,
        annotator=Annotator(kind, reference, options.protocol),  # type: ignore[arg-type]
        notes=notes,
        notes_sha256=digest,
        limits=limits_from(options.hardening, options.time_limit, options.memory),
        concurrency=options.concurrency,
        check_determinism=options.check_determinism,
        check_robustness=options.check_robustness,
    )
    clear(folder)
    with ended_gently(), bar("annotating", len(notes)) as step:
        finished = run(job, lambda _done, _total: step(1))
    write_run(folder, task, notes, finished)
    return finished.record
