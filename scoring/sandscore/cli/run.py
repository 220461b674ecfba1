"""``sandscore run``: an annotator over notes."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sandscore.base.errors import UsageFault
from sandscore.cli.options import format_option, own_task_options, task_argument
from sandscore.cli.running_options import RunOptions, execute, run_options

if TYPE_CHECKING:
    from sandscore.records.run_record import RunRecord
    from sandscore.task_table.task import Task


@click.command("run")
@task_argument
@click.option("--image", help="A Docker image, isolated and limited.")
@click.option("--url", help="A server somebody runs: http://host:port. Not isolated by us.")
@click.option("--command", "local", help="A local command that serves on the port in $PORT. Not isolated: development.")
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path, file_okay=False), help="The run's folder."
)
@run_options
@own_task_options
@format_option
def command(
    task: "Task",
    image: str | None,
    url: str | None,
    local: str | None,
    output: Path,
    output_format: str,
    **options: Any,
) -> int:
    """Run an annotator over notes and keep predictions.json, run.json and log.txt.

    The container has no network, a read-only file system but for /tmp, no rights, and the limits that run.json
    lists. An answer that is not valid ends the run; it is kept in refused.json.

    \b
    Example:
      sandscore run date --command "python3 submissions/template/server.py" \\
          --notes gold/example/notes.json -o run
    """
    given = [(kind, value) for kind, value in (("image", image), ("url", url), ("command", local)) if value is not None]
    if len(given) != 1:
        raise UsageFault("name what to run: exactly one of --image, --url and --command")
    kind, reference = given[0]
    if kind != "image" and options["protocol"] == "batch":
        raise UsageFault("--protocol batch needs --image")
    record = execute(task, kind, reference, RunOptions(**options), output)
    click.echo(FORMATS[output_format](record, output))
    report(record)
    return exit_code(record)


def exit_code(record: "RunRecord") -> int:
    """A check that was asked for and failed is the participant's fault, as an invalid answer is."""
    checks = [check for check in (record.determinism, record.robustness) if check is not None]
    return record.outcome.exit_code or (0 if all(check.passed for check in checks) else 65)


def report(record: "RunRecord") -> None:
    """Warnings and the reason of an end, for the person at the terminal."""
    if record.kind != "image":
        click.echo(f"sandscore: this run was not isolated ({record.isolation})", err=True)
    for warning in record.warnings:
        click.echo(f"sandscore: {warning}", err=True)
    if record.reason is not None:
        click.echo(f"sandscore: {record.outcome}: {record.reason}", err=True)


def _as_text(record: "RunRecord", folder: Path) -> str:
    lines = [f"outcome       {record.outcome}", f"notes         {record.notes}"]
    if record.notes_per_second is not None:
        lines.append(f"speed         {record.notes_per_second:.1f} notes/s")
    if record.latency is not None:
        lines.append(f"seconds/note  {record.latency.p50:.4f} median, {record.latency.most:.4f} at most")
    if record.peak_memory_bytes is not None:
        lines.append(f"memory        {record.peak_memory_bytes / 2**20:.0f} MB at most")
    lines.append(f"isolation     {record.isolation}")
    for name in ("determinism", "robustness"):
        check = getattr(record, name)
        if check is not None:
            where = f", first at note {check.note}" if check.note else ""
            lines.append(f"{name:14}" + ("passed" if check.passed else f"FAILED: {check.detail}{where}"))
    lines.append(f"limits        {_limits(record)}")
    lines.append(f"results       {folder}")
    return "\n".join(lines)


def _limits(record: "RunRecord") -> str:
    limits = record.limits
    time = f"{limits.total_seconds:g} s, {limits.note_seconds:g} s a note and more for long ones"
    if record.kind != "image":
        return f"{time}; nothing else is limited"
    room = f"{limits.memory_bytes >> 20} MB, {limits.cpus:g} CPU, {limits.processes} processes"
    return f"{limits.hardening}; {room}, {time}"


def _as_json(record: "RunRecord", folder: Path) -> str:
    written: str = record.model_dump_json(indent=2)
    return written


FORMATS = {"text": _as_text, "json": _as_json}
