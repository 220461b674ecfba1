"""The options that say what is run and how, shared by ``run`` and ``evaluate``, and how a run went, in words."""

from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from sandscore.base.errors import UsageFault
from sandscore.cli.options import challenge_option, task_file_option

if TYPE_CHECKING:
    from pathlib import Path

    from sandscore.api import RunFiles
    from sandscore.containers.kept_answers import RunPace
    from sandscore.containers.run_context import Kind
    from sandscore.records.run_record import EngineFacts, RunRecord

ESTIMATE_SECONDS = 10.0
_Command = TypeVar("_Command", bound=Callable[..., Any])
_SIZE = r"([1-9][0-9]*)([kmg]?)b?"
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30}


def _size(_context: click.Context, _parameter: click.Parameter, written: str | None) -> int | None:
    if written is None:
        return None
    import re

    matched = re.fullmatch(_SIZE, written.strip(), re.IGNORECASE)
    if matched is None:
        raise UsageFault(f"'{written}' is not a size; write it as 512m or 2g")
    return int(matched[1]) << _UNITS[matched[2].lower()]


def _gpus(_context: click.Context, _parameter: click.Parameter, written: str | None) -> int | str | None:
    if written is None or written == "all":
        return written
    if not (written.isascii() and written.isdigit() and int(written)):
        raise UsageFault(f"'{written}' is no number of graphics processors; write all, 1, 2, …")
    return int(written)


_seconds = click.FloatRange(min=0, min_open=True)
memory_option = click.option("--memory", callback=_size, metavar="SIZE", help="Memory, with no swap beside it (2g).")
engine_option = click.option(
    "--engine",
    metavar="ENGINE",
    help="What runs images: docker, podman, bubblewrap or apptainer. (docker, or the only one there is)",
)
_OPTIONS = (
    click.option("--notes", required=True, help="The notes to annotate: JSON or JSON Lines."),
    click.option(
        "--hardening",
        type=click.Choice(["strict", "compat"]),
        help="compat lets the image start as root and switch its user itself; all else stays closed. (strict)",
    ),
    click.option(
        "--protocol",
        type=click.Choice(["service", "batch"]),
        help="A server that is sent notes, or a program that turns /input/notes.json into /output/predictions.json. "
        "(service)",
    ),
    click.option("--concurrency", type=click.IntRange(1, 64), help="Notes sent at the same time. (4)"),
    click.option("--time-limit", type=_seconds, help="Seconds for the whole run. (3600)"),
    click.option("--ready-time", type=_seconds, help="Seconds until the service says that it is ready. (120)"),
    click.option("--note-time", type=_seconds, help="Seconds for a note, and .1 for each 1000 characters. (10)"),
    memory_option,
    click.option("--image-size", callback=_size, metavar="SIZE", help="The image's size on disk, at most. (10g)"),
    click.option(
        "--gpus", callback=_gpus, metavar="N|all", help="Graphics processors that the image is handed. (none)"
    ),
    engine_option,
    click.option("--resume", is_flag=True, help="Go on with the answers that a run kept in the same folder."),
    click.option("--check-determinism", is_flag=True, help="Run a second time, notes shuffled: same answers?"),
    click.option("--check-robustness", is_flag=True, help="Ask again, notes repeated and reversed: same answers?"),
)


def run_options(command: _Command) -> _Command:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return challenge_option("challenge.toml: its limits, and tasks of its own.", kept=True)(task_file_option(command))


_ANNOTATORS = (
    click.option("--image", help="A container image, isolated and limited."),
    click.option("--oci", metavar="ARCHIVE", help="An image in a file: docker save, podman save or an OCI archive."),
    click.option("--url", help="A server somebody runs: http://host:port. Not isolated by us."),
    click.option("--command", "local", help="A local command that serves on the port in $PORT. Not isolated."),
)


def annotator_options(command: _Command) -> _Command:
    """Add the options that name what is run."""
    for option in reversed(_ANNOTATORS):
        command = option(command)
    return command


def named_annotator(options: MutableMapping[str, Any]) -> "tuple[Kind, str]":
    """What is run; its options are taken out of the others."""
    kinds: tuple[tuple[Kind, str, str], ...] = (
        ("image", "image", ""),
        ("image", "oci", "oci-archive:"),
        ("url", "url", ""),
        ("command", "local", ""),
    )
    values = [(kind, prefix, options.pop(name)) for kind, name, prefix in kinds]
    given = [(kind, f"{prefix}{value}") for kind, prefix, value in values if value is not None]
    if len(given) != 1:
        raise UsageFault("name what to run: exactly one of --image, --oci, --url and --command")
    return given[0]


@contextmanager
def following(notes: int) -> Iterator["Callable[[RunPace], None]"]:
    """How far a run is: a bar for people, an estimate after ten seconds, a last word where it is stopped.

    A termination signal unwinds, so that no container stays behind.
    """
    import signal

    from sandscore.cli.progress import counted_bar

    def unwind(number: int, _frame: object) -> NoReturn:
        raise SystemExit(128 + number)

    last: RunPace | None = None
    told = False

    def step(pace: "RunPace") -> None:
        nonlocal last, told
        last = pace
        shown(pace.done, pace.before)
        if not told and pace.seconds >= ESTIMATE_SECONDS and pace.done < pace.total:
            told = True
            click.echo(f"sandscore: {pace}", err=True)

    signals = signal.signal(signal.SIGTERM, unwind)
    try:
        with counted_bar("annotating", notes, "note") as shown:
            yield step
    except (KeyboardInterrupt, SystemExit):
        if last is not None:
            click.echo(f"sandscore: stopped: {last}; --resume goes on", err=True)
        raise
    finally:
        signal.signal(signal.SIGTERM, signals)


def report(done: "RunFiles") -> None:
    """Warnings and the reason of an end, for the person at the terminal."""
    record = done.record
    if record.kind != "image":
        click.echo(f"sandscore: this run was not isolated ({record.isolation})", err=True)
    for warning in record.warnings:
        click.echo(f"sandscore: {warning}", err=True)
    if record.reason is not None:
        click.echo(f"sandscore: {record.outcome}: {record.reason}", err=True)
    if record.reason is not None and done.log_end:
        click.echo(f"sandscore: {done.log} ends:", err=True)
        for line in done.log_end:
            click.echo(f"    {line}", err=True)
    if done.cure is not None:
        click.echo(f"sandscore: hint: {done.cure}", err=True)
    if any(one.resumable for one in (done, *done.others)):
        click.echo("sandscore: what was answered is kept; --resume goes on with it", err=True)


def passed(record: "RunRecord") -> Iterator[str]:
    """What an annotator has stood, for those who want to hear what went well too."""
    if record.outcome.value != "finished":
        return
    speed = f", {record.notes_per_second:.1f} a second" if record.notes_per_second else ""
    yield f"ran          {record.notes:,} notes answered{speed}"
    yield "valid        every answer has the task's form and stands in its note"
    if record.kind == "image":
        yield f"limits kept  {_limits(record)}"
    for name in ("determinism", "robustness"):
        check = getattr(record, name)
        if check is not None:
            yield f"{name:13}{'passed' if check.passed else f'FAILED: {check.detail}'}"


def _as_text(record: "RunRecord", folder: "Path") -> str:
    from sandscore.base.terminal_text import hanging, terminal_width

    lines = [f"outcome       {record.outcome}", f"notes         {record.notes}"]
    if record.resumed_notes:
        lines.append(f"resumed       {record.resumed_notes} of them were answered before")
    if record.notes_per_second is not None:
        lines.append(f"speed         {record.notes_per_second:.1f} notes/s")
    if record.latency is not None:
        lines.append(f"seconds/note  {record.latency.p50:.4f} median, {record.latency.most:.4f} at most")
    if record.peak_memory_bytes is not None:
        lines.append(f"memory        {record.peak_memory_bytes / 2**20:.0f} MB at most")
    if record.engine is not None:
        lines.append(f"engine        {engine_text(record.engine)}")
    lines.append(f"isolation     {record.isolation}")
    for name in ("determinism", "robustness"):
        check = getattr(record, name)
        if check is not None:
            where = f", first at note {check.note}" if check.note else ""
            lines.append(f"{name:14}" + ("passed" if check.passed else f"FAILED: {check.detail}{where}"))
    lines.append(hanging("limits        ", _limits(record), terminal_width()))
    lines.append(f"results       {folder}")
    return "\n".join(lines)


def engine_text(engine: "EngineFacts") -> str:
    """Which it is, in a line."""
    details = (engine.runtime, engine.cgroups and f"cgroup v{engine.cgroups}", "rootless" if engine.rootless else None)
    told = ", ".join(detail for detail in details if detail)
    return " ".join(part for part in (engine.name, engine.version, told and f"({told})") if part)


def _limits(record: "RunRecord") -> str:
    limits = record.limits
    time = f"{limits.total_seconds:g} s, {limits.note_seconds:g} s a note and more for long ones"
    if record.kind != "image":
        return f"{time}; nothing else is limited"
    room = f"{limits.memory_bytes >> 20} MB, {limits.cpus:g} CPU, {limits.processes} processes"
    return f"{limits.hardening}; {room}, {time}"


def _as_json(record: "RunRecord", folder: "Path") -> str:
    written: str = record.model_dump_json(indent=2)
    return written


FORMATS = {"text": _as_text, "json": _as_json}
