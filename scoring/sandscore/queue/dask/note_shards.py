"""Large note sets in pieces of about equal length: cut before the run, put together after it."""

from collections.abc import Sequence
from pathlib import Path

from sandscore.base.whole_files import write_synced
from sandscore.containers.sent_notes import read_notes
from sandscore.queue.attempt_files import PREDICTIONS, RUN
from sandscore.records.run_record import RunRecord, Seconds

SHARD_CHARACTERS = 2_000_000
Part = tuple[int, int]


def shards_of(notes: str | Path, most: int = SHARD_CHARACTERS) -> list[Part]:
    """First and last (exclusive) number of the notes of each shard, in their order."""
    lengths = [len(note.text) for note in read_notes(notes)[0]]
    return cut(lengths, most)


def cut(lengths: Sequence[int], most: int) -> list[Part]:
    """A shard ends before the note that would make it too long; one note alone may be longer."""
    found: list[Part] = []
    begin, held = 0, 0
    for number, length in enumerate(lengths):
        if number > begin and held + length > most:
            found.append((begin, number))
            begin, held = number, 0
        held += length
    return [*found, (begin, len(lengths))]


def joined(name: str, parts: Sequence[Path], target: Path) -> None:
    """One file of several shards' files of that name, in the order of the notes."""
    contents = [part.read_bytes() for part in parts]
    if name == PREDICTIONS:
        whole = b"[\n" + b",\n".join(content.removeprefix(b"[\n").removesuffix(b"\n]\n") for content in contents)
        write_synced(target, whole + b"\n]\n")
    elif name == RUN:
        records = [RunRecord.model_validate_json(content) for content in contents]
        write_synced(target, (together(records).model_dump_json(indent=2) + "\n").encode())
    else:
        write_synced(target, b"".join(contents))


def together(records: Sequence[RunRecord]) -> RunRecord:
    """One record of all shards: what was used adds up, what was reached at most is the most."""
    first = records[0]
    longest = max((record.seconds.total or 0.0 for record in records), default=None)
    peaks = [record.peak_memory_bytes for record in records if record.peak_memory_bytes is not None]
    used = [record.cpu_seconds for record in records if record.cpu_seconds is not None]
    return first.model_copy(
        update={
            "notes": sum(record.notes for record in records),
            "seconds": Seconds(total=longest),
            "latency": None,
            "notes_per_second": None,
            "retried_notes": sum(record.retried_notes for record in records),
            "cpu_seconds": sum(used) if used else None,
            "peak_memory_bytes": max(peaks, default=None),
            "warnings": tuple(dict.fromkeys(warning for record in records for warning in record.warnings)),
        }
    )
