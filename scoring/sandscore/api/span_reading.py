"""Spans as other programs hand them over: dicts or objects, brought into the form of our annotation files.

A span says ``start`` and ``length``, or ``start`` and an exclusive ``end``, or ``start_char`` and ``end_char``. Its
type is the task's own label, or a foreign one (``entity_group``, ``entity``, ``entity_type``, ``label_``, ``label``)
that the type map of the task translates. ``confidence`` counts to 100, a ``score`` to 1.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from sandscore.base.errors import OrganiserFault, ParticipantFault, SandscoreError
from sandscore.base.terminal_text import one_line
from sandscore.formats.type_maps import TypeMap, vocabulary
from sandscore.task_table.task import Task

FAULTS: dict[str, type[SandscoreError]] = {"predictions": ParticipantFault}
"""Whose fault a wrong span is: the organiser's where nobody else is named."""
_FOREIGN_TYPES = ("entity_group", "entity", "entity_type", "label_")
_READ = frozenset({"note", "start", "length", "end", "start_char", "end_char", "text", "confidence", "score", "label"})
_TOLD_BY_TOOLS = frozenset({"word", "index", "analysis_explanation", "recognition_metadata", *_FOREIGN_TYPES})
_TOKEN = re.compile(r"([BIES])-(.+)", re.DOTALL)
_FULL = 1 + 1e-6
"""The largest score: single precision rounds 1 up."""
_NAMED = 5


def fault_of(role: str) -> type[SandscoreError]:
    """The exception for wrong content of this input."""
    return FAULTS.get(role, OrganiserFault)


def plain(value: Any) -> Any:
    """A value without the wrapping of numpy and pandas; None where nothing is there (None, NaN, NA)."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if type(value).__name__ in {"NAType", "NaTType"}:
        return None
    if not isinstance(value, float) and hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    return None if isinstance(value, float) and math.isnan(value) else value


def whole_number(value: Any) -> int | None:
    """The number, where it is a whole one; a table that lacks some has written the others as floats."""
    value = plain(value)
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) else None


def kind_of(value: object) -> str:
    """What a value is, in a sentence that does not repeat it."""
    return "nothing" if value is None else f"a value of type {type(value).__name__}"


class SpanReader(Struct):
    """Reads the spans of one input of a task, and keeps account of what the result should say about them."""

    task: Task
    role: str
    types: TypeMap
    read: int = 0
    ends: int = 0
    joined: int = 0
    strange_types: Counter[str] = field(default_factory=Counter)
    strange_fields: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, task: Task, role: str) -> "SpanReader":
        return cls(task, role, vocabulary("presidio", task))

    def annotations(self, spans: Iterable[Any], note: str, text: str | None, *, texts: bool) -> list[dict[str, Any]]:
        """The spans of a note in our form; ``text`` is the note's, ``texts`` whether notes were given at all."""
        made = []
        for number, span in enumerate(self._whole_words(spans)):
            annotation = self._annotation(
                span, f"{self.role}, note {one_line(note)!r}, span {number}", text, texts=texts
            )
            if annotation is not None:
                made.append(annotation)
        return made

    def remarks(self) -> list[str]:
        """What was understood one way and might have been meant another; refuses an input nothing of which was."""
        left_out = sum(self.strange_types.values())
        if left_out and left_out == self.read:
            raise fault_of(self.role)(
                f"{self.role}: no span has a type that {self.task.id} knows: found {_most(self.strange_types)}; "
                f"known are {', '.join(sorted(self.types.reads))}"
            )
        said = []
        if self.ends:
            said.append(f"{self.role}: 'length' is missing, so 'end' was taken as exclusive ({self.ends:,} spans)")
        if self.joined:
            said.append(f"{self.role}: tokens marked I- or E- were joined to the token before ({self.joined:,} tokens)")
        if left_out:
            kinds = _most(self.strange_types)
            said.append(f"{self.role}: {left_out:,} spans of types that {self.task.id} does not know: {kinds}")
        if self.strange_fields:
            said.append(f"{self.role}: fields that nothing reads: {_most(self.strange_fields)}")
        return said

    def _whole_words(self, spans: Iterable[Any]) -> list[Any]:
        words: list[Any] = []
        for item in spans:
            marked = _TOKEN.fullmatch(item["entity"]) if _is_token(item) else None
            if marked is None:
                words.append(item)
            elif marked[1] in "IE" and words and _follows(words[-1], item, marked[2]):
                words[-1]["tokens"].append(item)
                self.joined += 1
            else:
                words.append({"entity_group": marked[2], "start": item.get("start"), "tokens": [item]})
        return [_word(word) if isinstance(word, dict) and "tokens" in word else word for word in words]

    def _annotation(self, span: Any, where: str, text: str | None, *, texts: bool) -> dict[str, Any] | None:
        if span is None or isinstance(span, str | bytes | int | float | list | tuple | set):
            raise self._fault(where, kind_of(span), "a dict or an object with start and length")
        fields = _Fields(span)
        self.read += 1
        if isinstance(span, Mapping):
            own = {self.task.label, self.task.second_label}
            self.strange_fields.update(sorted(str(name) for name in span.keys() - _READ - _TOLD_BY_TOOLS - own))
        kept, label = self._label(fields)
        if not kept:
            return None
        start, length = self._place(fields, where)
        annotation = {
            "start": start,
            "length": length,
            "text": self._text(fields, where, (start, length), text, texts=texts),
            "confidence": self._confidence(fields, where),
            self.task.label: label,
            self.task.second_label: fields.get(self.task.second_label) if self.task.second_label else None,
        }
        return {name: value for name, value in annotation.items() if name is not None and value is not None}

    def _place(self, fields: "_Fields", where: str) -> tuple[int, int]:
        by_characters = fields.get("start_char") is not None
        start = self._number(fields, "start_char" if by_characters else "start", where)
        last = "end_char" if by_characters else "end"
        length = None if by_characters else fields.get("length")
        end = fields.get(last)
        if length is None and end is None:
            raise self._fault(where, "neither 'length' nor 'end'", "one of them, a whole number")
        if length is None:
            self.ends += not by_characters
            return start, self._number(fields, last, where) - start
        size = self._number(fields, "length", where)
        if end is not None and self._number(fields, last, where) != start + size:
            raise self._fault(where, f"start {start}, length {size} and another end", "end = start + length, or no end")
        return start, size

    def _number(self, fields: "_Fields", name: str, where: str) -> int:
        value = fields.get(name)
        number = whole_number(value)
        if number is None:
            told = str(value) if isinstance(value, float) else kind_of(value)
            raise self._fault(where, f"{told} as '{name}'", "a whole number of characters")
        return number

    def _text(self, fields: "_Fields", where: str, place: tuple[int, int], text: str | None, *, texts: bool) -> object:
        given = fields.get("text")
        if given is None and not texts:
            given = fields.get("word")
        if given is not None:
            return given
        if not texts:
            raise self._fault(where, "no 'text'", "a text, or notes from which to take it")
        first, last = max(0, place[0]), max(0, sum(place))
        return (text or "")[first:last]

    def _confidence(self, fields: "_Fields", where: str) -> object:
        given = fields.get("confidence")
        score = fields.get("score")
        if given is not None or score is None:
            return given
        if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= _FULL:
            told = str(score) if isinstance(score, int | float) else kind_of(score)
            raise self._fault(where, f"{told} as 'score'", "a number from 0 to 1 ('confidence' counts to 100)")
        return 100 * min(score, 1.0)

    def _label(self, fields: "_Fields") -> tuple[bool, object]:
        """Whether the task has a use for the span, and its label."""
        own = fields.get(self.task.label) if self.task.label else None
        if own is not None:
            return True, own
        foreign = next((kind for name in _FOREIGN_TYPES if (kind := fields.get(name)) is not None), None)
        label = fields.get("label") if foreign is None else None
        kind = label if foreign is None else foreign
        if kind is None:
            return True, None
        if isinstance(kind, str) and self.types.means(kind):
            return True, self.types.label(kind)
        if foreign is None and self.task.label:
            return True, kind
        self.strange_types[str(kind)] += 1
        return False, None

    def _fault(self, where: str, found: str, expected: str) -> SandscoreError:
        return fault_of(self.role)(f"{where}: found {found}; expected {expected}")


class _Fields(Struct):
    """The fields of a span, whatever holds them."""

    span: Any

    def get(self, name: str) -> Any:
        if isinstance(self.span, Mapping):
            return plain(self.span.get(name))
        return plain(getattr(self.span, name, None))


def _is_token(item: Any) -> bool:
    return isinstance(item, Mapping) and isinstance(item.get("entity"), str) and item.get("entity_group") is None


def _follows(word: Any, item: Mapping[str, Any], kind: str) -> bool:
    """Whether a token goes on with this word: the next by number, else the next by place."""
    if not isinstance(word, dict) or "tokens" not in word or word["entity_group"] != kind:
        return False
    before = word["tokens"][-1]
    last, here = whole_number(before.get("index")), whole_number(item.get("index"))
    if last is not None and here is not None:
        return here == last + 1
    end, start = whole_number(before.get("end")), whole_number(item.get("start"))
    return end is not None and start is not None and start - end <= 1


def _word(word: dict[str, Any]) -> dict[str, Any]:
    """The tokens of a word as one item: from the first to the last, with their mean score."""
    tokens = word.pop("tokens")
    word["end"] = tokens[-1].get("end")
    scores = [plain(token.get("score")) for token in tokens]
    if all(isinstance(score, int | float) for score in scores):
        word["score"] = sum(scores) / len(scores)
    if len(tokens) == 1 and "word" in tokens[0]:
        word["word"] = tokens[0]["word"]
    return word


def _most(counted: Counter[str]) -> str:
    """The most frequent words and how often each was there."""
    words = [f"{one_line(word)} ({count:,})" for word, count in counted.most_common(_NAMED)]
    return ", ".join(words) + (", …" if len(counted) > _NAMED else "")
