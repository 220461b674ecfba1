"""Notes and gold, read as they are written, perturbed, proven, and written again: ids, order and properties stay.

Nothing is handed on before it is proven: gold fits the new notes as it fitted the old ones, every annotation of the
copy says what stands there, and what a perturbation promises to leave alone is as it was.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from msgspec import Struct

from sandscore import __version__
from sandscore.annotations.input_files import Inputs, load_files
from sandscore.base.byte_sources import InputFile, NamedBytes, opened
from sandscore.base.errors import OrganiserFault, SandscoreError, UsageFault
from sandscore.base.strict_json import JsonFault, values
from sandscore.perturbation.text_edits import Draw, GoldMention, GoldNote, Perturbation, Rewritten, rewritten
from sandscore.task_table.task import TASKS, Task

JsonRecord = dict[str, Any]
"""An entry of somebody's file, which goes over property by property."""
NOTES = "notes.json"
CHANGES = "changes.json"
_NAME = ("annotationSource", "resourceSource", "name")


class NotProven(SandscoreError):
    """A copy that is not what it should be; nothing of it was written."""


class Original(Struct, frozen=True):
    """Notes and gold as they are written, and what they say."""

    notes: list[JsonRecord]
    gold: dict[str, list[JsonRecord]]
    """By task: the entries of its file."""
    tasks: dict[str, Task]
    known: tuple[GoldNote, ...]
    entries: dict[str, list[int]]
    """By task: the place of the note that each entry is about."""
    sha256: dict[str, str]


class PairedCopy(Struct, frozen=True):
    """The files of a copy by name, and what became of it."""

    files: dict[str, bytes]
    notes: int
    annotations: int
    changed: int
    """Edits that were made."""
    left_out: int
    """Edits that were not made: they would have split an annotation, or left nothing of it."""


def read_original(notes: InputFile, gold: Path, own: Mapping[str, Task] | None = None) -> Original:
    """The notes and every file in the folder ``gold`` that is called as a task is; organisers' faults are told."""
    known = TASKS | dict(own or {})
    if not gold.is_dir():
        raise UsageFault(f"{gold} is not a folder; gold is a folder with one file for each task, as date.json")
    files = {name: gold / f"{name}.json" for name in known if (gold / f"{name}.json").is_file()}
    if not files:
        raise UsageFault(f"{gold} has no file that is called as a task is; the tasks are {', '.join(known)}")
    hashes: dict[str, str] = {}
    for name, file in files.items():
        loaded = load_files(known[name], Inputs(gold=file, notes=notes), want_tokens=False)
        if loaded.faulty("notes", "gold"):
            raise OrganiserFault(f"{file} or the notes are not valid; sandscore validate {name} says where")
        hashes[f"{name}.json"] = loaded.sha256["gold"]
    written, hashes[NOTES] = _written(notes)
    names = _names(written)
    entries = {name: _written(file)[0] for name, file in files.items()}
    places = {name: [_place(entry, names, len(written)) for entry in listed] for name, listed in entries.items()}
    mentions: list[list[GoldMention]] = [[] for _ in written]
    for name, listed in entries.items():
        for place, entry in zip(places[name], listed, strict=True):
            mentions[place] += _mentions(known[name], entry)
    said = tuple(
        GoldNote(place, str(note.get("patientId") or note["identifier"]), note["text"], tuple(mentions[place]))
        for place, note in enumerate(written)
    )
    return Original(written, entries, {name: known[name] for name in files}, said, places, hashes)


def _written(file: InputFile) -> tuple[list[JsonRecord], str]:
    with opened(file) as source:
        digest, data = source.sha256(), bytes(source.data)
    try:
        return [*values(data)], digest
    except JsonFault as fault:
        raise OrganiserFault(f"{file}: {fault}") from None


def _names(notes: Iterable[JsonRecord]) -> dict[str, int]:
    """Places of notes by their names, and by what follows the last slash where that tells them apart."""
    whole = {str(note.get("note_name", note["identifier"])): place for place, note in enumerate(notes)}
    short = {name.rpartition("/")[2]: place for name, place in whole.items()}
    return short | whole if len(short) == len(whole) else whole


def _place(entry: Mapping[str, Any], names: Mapping[str, int], notes: int) -> int:
    value: Any = entry
    for key in _NAME:
        value = value.get(key) if isinstance(value, Mapping) else None
    if value is None and notes == 1:
        return 0
    name = str(value)
    return names[name] if name in names else names[name.rpartition("/")[2]]


def _mentions(task: Task, entry: Mapping[str, Any]) -> Iterable[GoldMention]:
    for row, one in enumerate(entry[task.array]):
        label = one.get(task.label) if task.label else None
        yield GoldMention(one["start"], one["start"] + one["length"], task, row, label)


def paired_copy(
    original: Original,
    perturbations: Sequence[Perturbation],
    seed: int,
    progress: Callable[[int], object] = lambda _: None,
) -> PairedCopy:
    """All of them one after the other, each proven; ``progress`` is told of notes that are done."""
    if not perturbations:
        raise UsageFault("name at least one perturbation, as in --swap names:nigeria")
    notes = original.known
    records: list[dict[str, object]] = []
    changed = left_out = 0
    for number, perturbation in enumerate(perturbations):
        done = _perturbed(notes, perturbation, seed, number)
        for before, after in zip(notes, done, strict=True):
            _prove_untouched(before, after, perturbation)
            progress(1)
        notes = tuple(one.note for one in done)
        changed += sum(len(one.edits) for one in done)
        left_out += sum(one.left_out for one in done)
        records.append(_record(original, perturbation, done))
    files = _files(original, notes)
    _prove(original, notes, files)
    told = {
        "sandscore": __version__,
        "seed": seed,
        "sources": original.sha256,
        "copies": {name: sha256(content).hexdigest() for name, content in files.items()},
        "perturbations": records,
    }
    files[CHANGES] = json.dumps(told, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
    annotations = sum(len(note.mentions) for note in notes)
    return PairedCopy(files, len(notes), annotations, changed, left_out)


def _perturbed(notes: Sequence[GoldNote], perturbation: Perturbation, seed: int, number: int) -> list[Rewritten]:
    """Patient by patient, so that no patient's copy depends on who else is there."""
    patients: dict[str, list[GoldNote]] = {}
    for note in notes:
        patients.setdefault(note.patient, []).append(note)
    done: dict[int, Rewritten] = {}
    for patient, theirs in patients.items():
        draw = Draw(seed, str(number), perturbation.name, patient)
        for note, edits in zip(theirs, perturbation.edits(theirs, draw), strict=True):
            done[note.place] = rewritten(note, edits)
    return [done[note.place] for note in notes]


def _record(original: Original, perturbation: Perturbation, done: Sequence[Rewritten]) -> dict[str, object]:
    """What changed: [start, end, length afterwards] by note. Texts stand in the copies."""
    changes = {
        str(original.notes[one.note.place]["identifier"]): [
            [edit.start, edit.end, len(edit.text)] for edit in one.edits
        ]
        for one in done
        if one.edits
    }
    return {
        "name": perturbation.name,
        "value": perturbation.value,
        **perturbation.told,
        "changed": sum(len(one.edits) for one in done),
        "left_out": sum(one.left_out for one in done),
        "notes": changes,
    }


def _files(original: Original, notes: Sequence[GoldNote]) -> dict[str, bytes]:
    """The files again, with the new texts and places."""
    new = [note | {"text": told.text} for note, told in zip(original.notes, notes, strict=True)]
    files = {NOTES: _json(new)}
    for name, entries in original.gold.items():
        task = original.tasks[name]
        said = {(note.place, one.row): (note, one) for note in notes for one in note.mentions if one.task.id == task.id}
        listed = []
        for place, entry in zip(original.entries[name], entries, strict=True):
            rows = [_annotation(row, *said[place, at]) for at, row in enumerate(entry[task.array])]
            listed.append(entry | {task.array: rows})
        files[f"{name}.json"] = _json(listed)
    return files


def _annotation(row: Mapping[str, Any], note: GoldNote, one: GoldMention) -> JsonRecord:
    new = dict(row) | {"start": one.start, "length": one.end - one.start, "text": note.text[one.start : one.end]}
    if one.task.label and one.label is not None:
        new[one.task.label] = one.label
    return new


def _json(entries: Iterable[Mapping[str, Any]]) -> bytes:
    """An entry a line."""
    lines = (json.dumps(entry, ensure_ascii=False) for entry in entries)
    return b"[\n" + ",\n".join(lines).encode("utf-8", "surrogatepass") + b"\n]\n"


def _prove_untouched(before: GoldNote, after: Rewritten, perturbation: Perturbation) -> None:
    """Between its edits a text is what it was, and edits lie where the perturbation may write."""
    covered = [(one.start, one.end) for one in before.mentions]
    at, new = 0, 0
    for edit in after.edits:
        kept = before.text[at : edit.start]
        if after.note.text[new : new + len(kept) + len(edit.text)] != kept + edit.text:
            raise NotProven(f"{perturbation.name}: note {before.place} is not what its edits make of it")
        inside = any(start <= edit.start and edit.end <= end for start, end in covered)
        apart = all(edit.end <= start or end <= edit.start for start, end in covered)
        if (perturbation.writes == "inside" and not inside) or (perturbation.writes == "outside" and not apart):
            raise NotProven(f"{perturbation.name}: an edit of note {before.place} is not {perturbation.writes} gold")
        at, new = edit.end, new + len(kept) + len(edit.text)
    if after.note.text[new:] != before.text[at:]:
        raise NotProven(f"{perturbation.name}: the end of note {before.place} changed")


def _prove(original: Original, notes: Sequence[GoldNote], files: Mapping[str, bytes]) -> None:
    """The files are read again as anybody's are: every text stands, and no annotation, note or order is lost."""
    copy = _read_again(original, files)
    for name, task in original.tasks.items():
        gold = NamedBytes(f"{name}.json of the copy", files[f"{name}.json"])
        loaded = load_files(task, Inputs(gold=gold, notes=NamedBytes(NOTES, files[NOTES])), want_tokens=False)
        if loaded.faulty("notes", "gold"):
            raise NotProven(f"the copy's gold of the task {name} does not fit the copy's notes; nothing was written")
        pairs = zip(original.gold[name], copy[name], strict=True)
        if any(len(one[task.array]) != len(other[task.array]) for one, other in pairs):
            raise NotProven(f"annotations of the task {name} were lost; nothing was written")
    if [note["identifier"] for note in copy["notes"]] != [note["identifier"] for note in original.notes]:
        raise NotProven("notes of the copy are in another order; nothing was written")
    for before, after in zip(original.known, notes, strict=True):
        if not _same_order(before, after):
            raise NotProven(f"annotations of note {before.place} stand in another order; nothing was written")


def _read_again(original: Original, files: Mapping[str, bytes]) -> dict[str, list[JsonRecord]]:
    told = {"notes": files[NOTES], **{name: files[f"{name}.json"] for name in original.tasks}}
    return {name: [*values(content)] for name, content in told.items()}


def _same_order(before: GoldNote, after: GoldNote) -> bool:
    """What began before something still does, and what began together still does."""
    starts = sorted((one.start, other.start) for one, other in zip(before.mentions, after.mentions, strict=True))
    return all((a < b) == (new_a < new_b) for (a, new_a), (b, new_b) in pairwise(starts))
