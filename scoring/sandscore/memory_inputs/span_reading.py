"""Spans as other programs hand them over: dicts or objects, brought into the form of our annotation files.

A span says ``start`` and ``length``, or ``start`` and an exclusive ``end``, or ``start_char`` and ``end_char``. Its
type is the task's own label, or a foreign one (``entity_group``, ``entity``, ``entity_type``, ``label_``, ``label``)
that the type map of the task translates. ``confidence`` counts to 100, a ``score`` to 1.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from sandscore.base.errors import OrganiserFault, ParticipantFault, SandscoreError
from sandscore.base.terminal_text import one_line
from sandscore.formats.token_items import misplaced, plain, whole_number, whole_words
from sandscore.formats.type_maps import TypeMap, vocabulary
from sandscore.task_table.task import Task

FAULTS: dict[str, type[SandscoreError]] = {"predictions": ParticipantFault}
"""Whose fault a wrong span is: the organiser's where nobody else is named."""
_FOREIGN_TYPES = ("entity_group", "entity", "entity_type", "label_")
_READ = frozenset({"note", "start", "length", "end", "start_char", "end_char", "text", "confidence", "score", "label"})
_TOLD_BY_TOOLS = frozenset({"word", "index", "analysis_explanation", "recognition_metadata", *_FOREIGN_TYPES})
_FULL = 1 + 1e-6
"""The largest score: single precision rounds 1 up."""
_NAMED = 5


def fault_of(role: str) -> type[SandscoreError]:
    """The exception for wrong content of this input."""
    return FAULTS.get(role, OrganiserFault)


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
        words, joined = whole_words(spans)
        self.joined += joined
        for number, span in enumerate(words):
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
        if given is None:
            word = fields.get("word")
            given = misplaced(word, text or "", (place[0], sum(place))) if texts else word
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


def _most(counted: Counter[str]) -> str:
    """The most frequent words and how often each was there."""
    words = [f"{one_line(word)} ({count:,})" for word, count in counted.most_common(_NAMED)]
    return ", ".join(words) + (", …" if len(counted) > _NAMED else "")
