"""The shards of a run: every n-th note for one of n machines, and one run gathered from all of them.

Shard 3 of 10 has the third note, the thirteenth, and so on. What is gathered has the bytes that one run would have.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sandscore.base.errors import InfrastructureFault, MissingFile, ParticipantFault, UsageFault
from sandscore.base.whole_files import write_file
from sandscore.containers.annotation_run import LOG, PREDICTIONS, RECORD, clear, writing
from sandscore.containers.sent_notes import SentNote
from sandscore.records.record_reading import file_content, read_record
from sandscore.records.run_record import Check, LogTail, Outcome, RunRecord, RunShard, Seconds

_SAME = ("task", "sandscore", "notes_sha256", "protocol", "kind", "limits")
_NAMED = 10


def shard_of(written: str, notes: int) -> RunShard:
    """What 3/10 is, of so many notes."""
    number, slash, of = written.partition("/")
    numbers = [int(part) if part.isascii() and part.isdigit() else 0 for part in (number, of)]
    if not slash or not 1 <= numbers[0] <= numbers[1]:
        raise UsageFault(f"'{written}' is no shard; write 3/10 for the third of ten, up to 10/10")
    if numbers[1] > notes:
        raise UsageFault(f"there are {notes:,} notes, so {numbers[1]:,} shards are too many")
    return RunShard(number=numbers[0], of=numbers[1], notes=notes)


def notes_of(notes: list[SentNote], shard: RunShard) -> list[SentNote]:
    """The notes of one shard, in their order."""
    return notes[shard.number - 1 :: shard.of]


class _ShardFolder(msgspec.Struct, frozen=True):
    """A run of a shard, as it lies in its folder."""

    path: Path
    record: RunRecord
    shard: RunShard

    def entries(self) -> list[msgspec.Raw]:
        try:
            found = msgspec.json.decode(file_content(self.path / PREDICTIONS), type=list[msgspec.Raw])
        except msgspec.DecodeError:
            raise ParticipantFault(f"{self.path / PREDICTIONS}: this is no prediction file of a run") from None
        if len(found) != self.record.notes:
            raise ParticipantFault(
                f"{self.path / PREDICTIONS}: has {len(found):,} notes, and its {RECORD} says {self.record.notes:,}"
            )
        return found


def gather(folders: Sequence[Path], output: Path) -> Mapping[Path, RunRecord]:
    """Writes the run that the shards in the folders are parts of; of several tasks, a run each in its folder."""
    by_task: dict[str, list[_ShardFolder]] = defaultdict(list)
    for folder in folders:
        for one in _shards_in(folder):
            by_task[one.record.task].append(one)
    whole = {task: _complete(shards) for task, shards in by_task.items()}
    places = {task: output if len(whole) == 1 else output / task for task in whole}
    taken = {one.path.resolve() for shards in whole.values() for one in shards}
    if any(place.resolve() in taken for place in places.values()):
        raise UsageFault(f"{output}: is one of the shards; gather them in another folder")
    return {places[task]: _write(shards, places[task]) for task, shards in whole.items()}


def _shards_in(folder: Path) -> Iterator[_ShardFolder]:
    """The run in a folder, or those of several tasks in folders of it."""
    places = [folder] if (folder / RECORD).exists() else sorted(path.parent for path in folder.glob(f"*/{RECORD}"))
    if not places:
        raise MissingFile(f"{folder}: holds no {RECORD} of a run")
    for place in places:
        path = place / RECORD
        record = read_record(RunRecord, file_content(path), path, "the record of a run", ParticipantFault)
        if record.shard is None:
            raise UsageFault(f"{place}: is a run of all notes and no shard (run --shard makes those)")
        if record.outcome is not Outcome.FINISHED:
            fault = InfrastructureFault if record.outcome.ours else ParticipantFault
            raise fault(f"{place}: shard {record.shard.number} did not finish ({record.outcome}): {record.reason}")
        yield _ShardFolder(place, record, record.shard)


def _complete(shards: Sequence[_ShardFolder]) -> tuple[_ShardFolder, ...]:
    """Every shard once, in their order, all of the same run."""
    first, by_number = shards[0], {one.shard.number: one for one in shards}
    for one in shards:
        _require_same(first, one)
        if by_number[one.shard.number] is not one:
            raise UsageFault(f"{by_number[one.shard.number].path} and {one.path} are both shard {one.shard.number}")
    missing = [str(number) for number in range(1, first.shard.of + 1) if number not in by_number]
    if missing:
        named = ", ".join(missing[:_NAMED]) + (", …" if len(missing) > _NAMED else "")
        raise MissingFile(f"of {first.shard.of} shards of {first.record.task} these are missing: {named}")
    return tuple(by_number[number] for number in sorted(by_number))


def _require_same(first: _ShardFolder, one: _ShardFolder) -> None:
    differing = [name for name in _SAME if getattr(first.record, name) != getattr(one.record, name)]
    if (first.shard.of, first.shard.notes) != (one.shard.of, one.shard.notes):
        differing.insert(0, "number of shards")
    if _image(first.record) != _image(one.record):
        differing.append("image")
    if differing:
        raise UsageFault(f"{first.path} and {one.path} are no shards of one run: they differ in {differing[0]}")


def _image(record: RunRecord) -> str | None:
    return (record.image.digest or record.image.id) if record.image else None


def _write(shards: Sequence[_ShardFolder], place: Path) -> RunRecord:
    held = [one.entries() for one in shards]
    record = gathered_record([one.record for one in shards])
    clear(place)
    with writing(place):
        write_file(place / LOG, _logs(shards), sync=True)
        write_file(place / PREDICTIONS, _interleaved(held, shards[0].shard.of), sync=True)
        write_file(place / RECORD, (record.model_dump_json(indent=2) + "\n").encode(), sync=True)
    return record


def _interleaved(held: Sequence[Sequence[msgspec.Raw]], of: int) -> Iterator[bytes]:
    """The entries in the order of the notes, as one run writes them."""
    for place in range(sum(map(len, held))):
        yield b",\n" if place else b"[\n"
        yield bytes(held[place % of][place // of])
    yield b"\n]\n"


def _logs(shards: Sequence[_ShardFolder]) -> Iterator[bytes]:
    for one in shards:
        log = (one.path / LOG).read_bytes() if (one.path / LOG).exists() else b""
        yield f"== shard {one.shard.number} of {one.shard.of} ==\n".encode() + log
        yield b"" if log.endswith(b"\n") or not log else b"\n"


def gathered_record(records: Sequence[RunRecord]) -> RunRecord:
    """Sums where shards add up, the most of times and memory; what only a shard can know is left to its own record."""
    seconds = {name: _most(getattr(one.seconds, name) for one in records) for name in Seconds.model_fields}
    added: dict[str, Any] = {name: sum(getattr(one, name) for one in records) for name in _ADDED}
    alike = {name: _alike([getattr(one, name) for one in records]) for name in _ALIKE}
    logs = {name: sum(getattr(one.log, name) for one in records) for name in LogTail.model_fields}
    used = [one.cpu_seconds for one in records if one.cpu_seconds is not None]
    return records[0].model_copy(
        update=added
        | alike
        | {
            "shard": None,
            "shards": len(records),
            "started": min((one.started for one in records if one.started), default=None),
            "seconds": Seconds(**seconds),
            "latency": None,
            "notes_per_second": None,
            "cpu_seconds": sum(used) if used else None,
            "peak_memory_bytes": _most(one.peak_memory_bytes for one in records),
            "determinism": _checked([one.determinism for one in records]),
            "robustness": _checked([one.robustness for one in records]),
            "warnings": tuple(dict.fromkeys(warning for one in records for warning in one.warnings)),
            "log": LogTail(**logs),
        }
    )


_ADDED = ("notes", "retried_notes", "resumed_notes")
_ALIKE = ("tool", "engine", "kernel_limits", "limits_in_force")


def _most(values: Iterable[float | None]) -> Any:
    known = [value for value in values if value is not None]
    return max(known) if known else None


def _alike(values: Sequence[Any]) -> Any:
    return values[0] if all(value == values[0] for value in values) else None


def _checked(checks: Sequence[Check | None]) -> Check | None:
    """The first that failed; none unless every shard was checked."""
    made = [check for check in checks if check is not None]
    failed = next((check for check in made if not check.passed), None)
    return failed or (made[0] if made and len(made) == len(checks) else None)
