"""Documents with their annotators' entities, and the masks to be judged, as the benchmark reads its two JSON files.

Where the original's reader ends with an exception, so do we, and say which: gold is the organiser's, masks are the
participant's.
"""

from collections.abc import Mapping
from itertools import chain
from operator import itemgetter, lt
from typing import Any

from msgspec import Struct

from sandscore.base.errors import OrganiserFault, ParticipantFault, SandscoreError

DIRECT, QUASI, NO_MASK = "DIRECT", "QUASI", "NO_MASK"
_NEEDED = {DIRECT: True, QUASI: True, NO_MASK: False}
_KEYS = ("entity_id", "identifier_type", "start_offset", "end_offset")
_BEYOND = 1 << 62
_OWN_KEYS = {"doc_id", "annotations"}


class AnnotatorMarks(Struct, frozen=True):
    """What one annotator marked: a row a mention, in file order, and what is said of each entity.

    An entity's type and directness are those of its first mention. ``needed`` says which mentions have to be masked.
    """

    kinds: list[str]
    direct: list[bool]
    start: list[int]
    end: list[int]
    needed: list[bool]
    entity: list[int]


class MaskedDocument(Struct, frozen=True):
    """A document: its text, and what each of its annotators marked."""

    identifier: str
    text: str
    annotators: tuple[AnnotatorMarks, ...]


class MaskedCorpus(Struct, frozen=True):
    """The documents by name; of two with one name the last one holds. ``read`` is how many were listed."""

    documents: Mapping[str, MaskedDocument]
    read: int


def is_corpus(gold: Any) -> bool:
    """Whether decoded gold is the benchmark's own, and not a file of ours."""
    return isinstance(gold, list) and any(isinstance(one, dict) and one.keys() & _OWN_KEYS for one in gold)


def read_corpus(gold: Any) -> MaskedCorpus:
    """The corpus in decoded gold."""
    if not isinstance(gold, list):
        raise _stopped(OrganiserFault, "RuntimeError", "the annotated corpus must be a JSON list of documents")
    documents = [_document(one) for one in gold]
    return MaskedCorpus({one.identifier: one for one in documents}, len(documents))


def read_masks(masks: Any) -> dict[str, list[tuple[int, int]]]:
    """The masks in decoded predictions, in the order in which documents are named."""
    if not isinstance(masks, dict):
        raise _stopped(
            ParticipantFault,
            "RuntimeError",
            "masks must be a JSON object from document identifiers to lists of masked spans",
        )
    return {name: _spans(_listed(name, spans)) for name, spans in masks.items()}


def _spans(listed: list[Any]) -> list[tuple[int, int]]:
    plain = {*map(type, listed)} <= {list} and {*map(len, listed)} <= {2} and {*map(type, chain(*listed))} <= {int}
    if plain and max(map(abs, chain(*listed)), default=0) <= _BEYOND:
        return [(start, end) for start, end in listed]
    return [_span(one) for one in listed]


def _listed(name: str, spans: Any) -> list[Any]:
    if not isinstance(spans, list):
        raise _stopped(
            ParticipantFault, "RuntimeError", f"the masked spans of document '{name}' must be a list of [start, end]"
        )
    return spans


def _span(span: Any) -> tuple[int, int]:
    if not isinstance(span, list | str | dict) or len(span) != 2:
        raise _stopped(ParticipantFault, "ValueError", "a masked span must be [start, end]")
    if not isinstance(span, list) or not all(_whole(offset) for offset in span):
        raise _stopped(ParticipantFault, "TypeError", "the offsets of a masked span must be whole numbers")
    return _within(span[0]), _within(span[1])


def _document(written: Any) -> MaskedDocument:
    for key in ("doc_id", "text", "annotations", "dataset_type"):
        if not isinstance(written, dict) or key not in written:
            raise _stopped(
                OrganiserFault, "RuntimeError", f"Annotated document is not well formed: missing variable {key}"
            )
    name, text, annotations = written["doc_id"], written["text"], written["annotations"]
    if not isinstance(name, str) or not isinstance(text, str) or not isinstance(annotations, dict):
        raise _stopped(OrganiserFault, "TypeError", "doc_id and text must be strings, annotations an object")
    used: set[Any] = set()
    annotators = []
    for annotator in annotations.values():
        names, marks = _marks(annotator, text)
        if (twice := next((entity for entity in names if entity in used), None)) is not None:
            raise _stopped(OrganiserFault, "RuntimeError", f"Entity ID {twice} already used by another annotator")
        used |= names.keys()
        annotators.append(marks)
    return MaskedDocument(name, text, tuple(annotators))


def _marks(annotator: Any, text: str) -> tuple[dict[Any, int], AnnotatorMarks]:
    """An annotator's entities by name, and mentions; what is not as it should be is looked at once more, slowly."""
    if not isinstance(annotator, dict) or "entity_mentions" not in annotator:
        raise _stopped(OrganiserFault, "RuntimeError", "an annotator has no entity_mentions")
    mentions = annotator["entity_mentions"]
    try:
        rows = [*map(_FIELDS, mentions)]
        names: dict[Any, int] = {}
        entity = [names.setdefault(row[0], len(names)) for row in rows]
        first = dict(zip(reversed(entity), reversed(range(len(rows))), strict=True))
        marks = AnnotatorMarks(
            [str(mentions[first[at]]["entity_type"]) for at in range(len(names))],
            [rows[first[at]][1] == DIRECT for at in range(len(names))],
            [row[2] for row in rows],
            [row[3] for row in rows],
            [_NEEDED[row[1]] for row in rows],
            entity,
        )
    except (TypeError, LookupError):
        marks = None
    if marks is None or not _within_text(marks, len(text)):
        return _marks_slowly(mentions, text)
    return names, marks


_FIELDS = itemgetter("entity_id", "identifier_type", "start_offset", "end_offset")


def _within_text(marks: AnnotatorMarks, size: int) -> bool:
    ends = marks.start, marks.end
    if not {*map(type, chain(*ends))} <= {int}:
        return False
    return min(marks.start, default=0) >= 0 and max(marks.end, default=0) <= size and all(map(lt, *ends))


def _marks_slowly(mentions: Any, text: str) -> tuple[dict[Any, int], AnnotatorMarks]:
    """One mention after the other, up to that which the original's reader ends with."""
    names: dict[Any, int] = {}
    marks = AnnotatorMarks([], [], [], [], [], [])
    for written in mentions:
        _refuse_mention(written, text)
        at = names.setdefault(written["entity_id"], len(names))
        if at == len(marks.kinds):
            if "entity_type" not in written:
                raise _stopped(OrganiserFault, "KeyError", "'entity_type'")
            marks.kinds.append(str(written["entity_type"]))
            marks.direct.append(written["identifier_type"] == DIRECT)
        marks.start.append(int(written["start_offset"]))
        marks.end.append(int(written["end_offset"]))
        marks.needed.append(_NEEDED[written["identifier_type"]])
        marks.entity.append(at)
    return names, marks


def _refuse_mention(written: Any, text: str) -> None:
    """Says what the original's reader would end with, where it is this mention that it ends at."""
    for key in _KEYS:
        if not isinstance(written, dict) or key not in written:
            raise _stopped(OrganiserFault, "RuntimeError", f"Unspecified key in entity mention: {key}")
    start, end, identifier = written["start_offset"], written["end_offset"], written["identifier_type"]
    if not _whole(start) or not _whole(end):
        raise _stopped(OrganiserFault, "TypeError", "the offsets of an entity mention must be whole numbers")
    if start < 0 or end > len(text) or start >= end:
        raise _stopped(OrganiserFault, "RuntimeError", f"Invalid character offsets: [{start}-{end}]")
    if not isinstance(identifier, str) or identifier not in _NEEDED:
        raise _stopped(OrganiserFault, "RuntimeError", f"Unspecified or invalid identifier type: {identifier}")
    if isinstance(written["entity_id"], dict | list):
        raise _stopped(OrganiserFault, "TypeError", "an entity_id must be a string")


def _within(offset: int) -> int:
    """The offset itself, or one as far beyond any text."""
    return max(-_BEYOND, min(int(offset), _BEYOND))


def _whole(number: Any) -> bool:
    return isinstance(number, int)


def _stopped(fault: type[SandscoreError], kind: str, why: str) -> SandscoreError:
    return fault(f"the original stops here with {kind}: {why}")
