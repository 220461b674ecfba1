"""Answers of annotators, judged as they come. What is said about a bad one quotes nothing of it or of the note."""

import json
import re
import threading
from collections.abc import Collection, Iterator
from typing import Any

from sandscore.annotations.slow_validation import Judge
from sandscore.base.strict_json import JsonFault, loads, pointer
from sandscore.containers.sent_notes import SentNote
from sandscore.records.problem import CODES
from sandscore.records.run_record import Outcome, RunFault, RunLimits
from sandscore.task_table.task import Task

_JUDGED_TOGETHER = 500


class RefusedAnswer(RunFault):
    """An answer that is not valid; ``body`` is the participant's own bytes, for a private file."""

    def __init__(self, note: SentNote, why: str, body: bytes, code: str | None = None) -> None:
        super().__init__(Outcome.INVALID_OUTPUT, f"note {note.name}: {why}", code)
        self.note, self.body = note, body


class Answers:
    """Judges the answers of one task, one at a time so that a large one stands in memory alone."""

    def __init__(self, task: Task, limits: RunLimits) -> None:
        self.task, self.limits = task, limits
        self._judge = Judge(task)
        self._alone = threading.Lock()

    def accepted(self, note: SentNote, body: bytes) -> bytes:
        """The annotations of a valid answer, as they were given, in compact JSON."""
        with self._alone:
            if (parts := parts_in(body)) > (most := self.limits.reply_part_count(len(note.text))):
                raise RefusedAnswer(note, f"the answer holds {parts:,} objects and lists, more than {most:,}", body)
            try:
                value = loads(body)
            except JsonFault as fault:
                told = f"the answer is not JSON we accept: {place_of(fault)}"
                raise RefusedAnswer(note, told, body, "json") from None
            return self.annotations(note, value, body)

    def annotations(self, note: SentNote, value: Any, body: bytes) -> bytes:
        """The annotations of one note's entry, already decoded."""
        given = value.get(self.task.array) if isinstance(value, dict) else None
        if not isinstance(given, list):
            told = f"the answer is not an object with the array {self.task.array}"
            raise RefusedAnswer(note, told, body, "schema")
        wrong: dict[str, str] = {}
        for begin in range(0, len(given), _JUDGED_TOGETHER):
            part = {self.task.array: given[begin : begin + _JUDGED_TOGETHER]}
            for code, why in self._wrong(note, part, begin):
                wrong.setdefault(code, why)
            if "schema" in wrong:
                break
        if (worst := first_code(wrong)) is not None:
            raise RefusedAnswer(note, wrong[worst], body, worst)
        return json.dumps(given, ensure_ascii=False, separators=(",", ":")).encode()

    def _wrong(self, note: SentNote, part: dict[str, Any], begin: int) -> Iterator[tuple[str, str]]:
        judged = self._judge.record(part, named=False)
        if judged.complaints:
            array, place, *rest = judged.complaints[0].path
            where = pointer((array, begin + int(place), *rest))
            yield "schema", f"{where} is not what schemas/{self.task.id}.schema.json asks for"
            return
        for place, annotation in zip(judged.places, judged.annotations, strict=True):
            if found := _misplaced(note.text, annotation):
                code, why = found
                yield code, f"{pointer((self.task.array, begin + place))} {why} ({code})"


def parts_in(body: bytes) -> int:
    """Objects and lists: what takes memory out of proportion once it is decoded."""
    return body.count(b"{") + body.count(b"[")


def _misplaced(text: str, annotation: Any) -> tuple[str, str] | None:
    end = annotation.start + annotation.length
    if end > len(text):
        return "out-of-bounds", f"ends at {end}, past the end of the note, which has {len(text)} characters"
    if annotation.text != text[annotation.start : end]:
        return "text-mismatch", f"has a text that does not stand at {annotation.start} to {end} of the note"
    return None


def first_code(found: Collection[str]) -> str | None:
    """Of several codes of problems the one that is told: the first of the contract's list."""
    return next((code for code in CODES if code in found), None)


def place_of(fault: JsonFault) -> str:
    """Where and of what kind, without the quotation of what was found there."""
    kind = re.split(r', found | ["\']', fault.what)[0]
    return f"line {fault.line}, column {fault.column}: {kind}"
