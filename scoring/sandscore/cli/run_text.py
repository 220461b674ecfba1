"""A run for people and programs: how it went and what stood around it."""

from pathlib import Path

import click

from sandscore.base.terminal_text import hanging, terminal_width
from sandscore.records.run_record import RunRecord


def report(record: RunRecord) -> None:
    """Warnings and the reason of an end, for the person at the terminal."""
    if record.kind != "image":
        click.echo(f"sandscore: this run was not isolated ({record.isolation})", err=True)
    for warning in record.warnings:
        click.echo(f"sandscore: {warning}", err=True)
    if record.reason is not None:
        click.echo(f"sandscore: {record.outcome}: {record.reason}", err=True)


def _as_text(record: RunRecord, folder: Path) -> str:
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
    lines.append(hanging("limits        ", _limits(record), terminal_width()))
    lines.append(f"results       {folder}")
    return "\n".join(lines)


def _limits(record: RunRecord) -> str:
    limits = record.limits
    time = f"{limits.total_seconds:g} s, {limits.note_seconds:g} s a note and more for long ones"
    if record.kind != "image":
        return f"{time}; nothing else is limited"
    room = f"{limits.memory_bytes >> 20} MB, {limits.cpus:g} CPU, {limits.processes} processes"
    return f"{limits.hardening}; {room}, {time}"


def _as_json(record: RunRecord, folder: Path) -> str:
    written: str = record.model_dump_json(indent=2)
    return written


FORMATS = {"text": _as_text, "json": _as_json}
