"""The batch protocol: notes in a read-only folder, predictions out of a small one, nothing else in or out.

The predictions file of a batch submission: every note answered once, each answer judged as a service's would be.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sandscore.annotations.decoder import Decoder, record_type
from sandscore.annotations.json_blocks import JsonBlock, WholeJson
from sandscore.annotations.record_reader import Taker, walk
from sandscore.base.byte_sources import InputFile, NamedBytes
from sandscore.base.strict_json import JsonFault, loads
from sandscore.containers.answers import Answers, first_code, parts_in, place_of
from sandscore.containers.engines.sandbox import Sandbox
from sandscore.containers.sent_notes import SentNote, read_notes
from sandscore.containers.service_protocol import Clock
from sandscore.records.run_record import Outcome, RunFault, RunLimits

_PIECES_PER_PART = 10


def answers_in(data: bytes, notes: Sequence[SentNote], answers: Answers) -> list[bytes]:
    """Each note's annotations as compact JSON, in the order of the notes."""
    _require_moderate(data, notes, answers.limits)
    taker = _Taker(notes, answers)
    task = answers.task
    try:
        walk(memoryview(bytearray(data)), Decoder(lambda: record_type(task)), ("annotationSource", task.array), taker)
    except JsonFault as fault:
        told = f"predictions.json: {place_of(fault)}"
        raise RunFault(Outcome.INVALID_OUTPUT, told, "json") from None
    if missing := [note for note in notes if note.name not in taker.found]:
        told = f"predictions.json has no entry for {len(missing)} of {len(notes)} notes, the first is {missing[0].name}"
        taker.faults.setdefault("missing-note", RunFault(Outcome.INVALID_OUTPUT, told, "missing-note"))
    if (code := first_code(taker.faults)) is not None:
        raise taker.faults[code]
    return [taker.found[note.name] for note in notes]


def _require_moderate(data: bytes, notes: Sequence[SentNote], limits: RunLimits) -> None:
    """Refuse what would take memory out of proportion once it is cut into pieces."""
    most = _PIECES_PER_PART * sum(limits.reply_part_count(len(note.text)) for note in notes)
    pieces = sum(data.count(mark) for mark in (b",", b"\n", b"{", b"["))
    if pieces > most:
        raise RunFault(Outcome.INVALID_OUTPUT, f"predictions.json holds {pieces:,} values, more than {most:,}")


class _Taker(Taker):
    """Takes a file's records one by one; whole names and last segments are both understood."""

    def __init__(self, notes: Sequence[SentNote], answers: Answers) -> None:
        self._answers, self._notes = answers, notes
        self._by_name = {note.name.rpartition("/")[2]: note for note in notes} | {note.name: note for note in notes}
        self.found: dict[str, bytes] = {}
        self.faults: dict[str, RunFault] = {}
        """The first with each code: whichever comes first in the file, the first of the contract's list is told."""
        longest = max(len(note.text) for note in notes)
        self._size = answers.limits.reply_size(longest)
        self._parts = answers.limits.reply_part_count(longest)

    def accept(self, records: list[Any], data: memoryview, number: int) -> bool:
        return False

    def explain(self, item: JsonBlock, whole: WholeJson, number: int) -> None:
        body = bytes(item.data)
        self._require_moderate(body, number)
        value = loads(body)
        try:
            self._take(value, body, number)
        except RunFault as fault:
            if fault.code is None:
                raise
            self.faults.setdefault(fault.code, fault)

    def _take(self, value: Any, body: bytes, number: int) -> None:
        note = self._note(value, number)
        if note.name in self.found:
            told = f"predictions.json: /{number} is a second entry for {note.name}"
            raise RunFault(Outcome.INVALID_OUTPUT, told, "duplicate-note")
        self.found[note.name] = b"[]"
        self.found[note.name] = self._answers.annotations(note, value, body)

    def _require_moderate(self, body: bytes, number: int) -> None:
        """One entry has the limits of one answer to the longest note."""
        if len(body) > self._size or parts_in(body) > self._parts:
            raise RunFault(Outcome.INVALID_OUTPUT, f"predictions.json: /{number} is longer than any answer may be")

    def _note(self, value: Any, number: int) -> SentNote:
        try:
            name = value["annotationSource"]["resourceSource"]["name"]
        except (KeyError, TypeError):
            if len(self._notes) == 1 and isinstance(value, dict) and "annotationSource" not in value:
                return self._notes[0]
            name = None
        if not isinstance(name, str):
            raise RunFault(Outcome.INVALID_OUTPUT, f"predictions.json: /{number} does not name its note", "schema")
        note = self._by_name.get(name) or self._by_name.get(name.rpartition("/")[2])
        if note is None:
            told = f"predictions.json: /{number} is about a note that was not given"
            raise RunFault(Outcome.INVALID_OUTPUT, told, "unknown-note")
        return note


_POLL_SECONDS = 0.1


def notes_file(notes: Sequence[SentNote]) -> bytes:
    """The content of the notes' file, as a batch submission finds it."""
    return json.dumps([note.record() for note in notes], ensure_ascii=False).encode("utf-8", "surrogatepass")


def refused_note(record: Path, notes: str) -> InputFile:
    """The note of a file whose answer ended the run of this record, as such a file; all notes where it is not known."""
    try:
        name = json.loads(record.read_bytes())["note"]
        sent = [one for one in read_notes(notes)[0] if one.name == name]
    except (ValueError, KeyError, TypeError):
        return notes
    return NamedBytes(notes, notes_file(sent)) if sent else notes


def wait_for_end(box: Sandbox, clock: Clock) -> int:
    """Until the container has ended: its exit code, or the reason why it had to."""
    while (state := box.state()).running:
        if box.log.flooded:
            break
        box.measure()
        time.sleep(min(_POLL_SECONDS, clock.left()))
    if state.exit_code == 0 and not state.out_of_memory and not box.log.flooded:
        return 0
    raise box.verdict(state) or RunFault(Outcome.CRASHED, "the container ended by itself")
