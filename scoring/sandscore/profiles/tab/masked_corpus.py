"""Documents with their annotators' entities, and the masks to be judged, as the benchmark reads its two JSON files.

Where the original's reader ends with an exception, so do we, and say which: gold is the organiser's, masks are the
participant's.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from sandscore.base.errors import OrganiserFault, ParticipantFault, SandscoreError

DIRECT, QUASI, NO_MASK = "DIRECT", "QUASI", "NO_MASK"
_KEYS = ("entity_id", "identifier_type", "start_offset", "end_offset")
_BEYOND = 1 << 62
_OWN_KEYS = {"doc_id", "annotations"}


class MaskMention(Struct, frozen=True):
    """A stretch of the text that an annotator marked, and whether it has to be masked."""

    start: int
    end: int
    needed: bool


class MaskedEntity(Struct, frozen=True):
    """One person, place or thing of one annotator: type and directness are those of its first mention."""

    kind: str
    direct: bool
    mentions: tuple[MaskMention, ...]

    @property
    def needed(self) -> bool:
        """Whether any mention of it has to be masked; else no recall counts it."""
        return any(mention.needed for mention in self.mentions)


class MaskedDocument(Struct, frozen=True):
    """A document: its text, and the entities of each of its annotators."""

    identifier: str
    text: str
    annotators: tuple[tuple[MaskedEntity, ...], ...]

    @property
    def entities(self) -> Iterator[MaskedEntity]:
        for entities in self.annotators:
            yield from entities


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
    return {name: [_span(one) for one in _listed(name, spans)] for name, spans in masks.items()}


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
        entities = _entities(annotator, text)
        if (twice := next((entity for entity in entities if entity in used), None)) is not None:
            raise _stopped(OrganiserFault, "RuntimeError", f"Entity ID {twice} already used by another annotator")
        used |= entities.keys()
        annotators.append(tuple(entities.values()))
    return MaskedDocument(name, text, tuple(annotators))


def _entities(annotator: Any, text: str) -> dict[Any, MaskedEntity]:
    if not isinstance(annotator, dict) or "entity_mentions" not in annotator:
        raise _stopped(OrganiserFault, "RuntimeError", "an annotator has no entity_mentions")
    found: dict[Any, tuple[str, bool, list[MaskMention]]] = {}
    for written in annotator["entity_mentions"]:
        mention = _mention(written, text)
        name = written["entity_id"]
        if name not in found:
            if "entity_type" not in written:
                raise _stopped(OrganiserFault, "KeyError", "'entity_type'")
            found[name] = (str(written["entity_type"]), written["identifier_type"] == DIRECT, [])
        found[name][2].append(mention)
    return {name: MaskedEntity(kind, direct, tuple(mentions)) for name, (kind, direct, mentions) in found.items()}


def _mention(written: Any, text: str) -> MaskMention:
    for key in _KEYS:
        if not isinstance(written, dict) or key not in written:
            raise _stopped(OrganiserFault, "RuntimeError", f"Unspecified key in entity mention: {key}")
    start, end, identifier = written["start_offset"], written["end_offset"], written["identifier_type"]
    if not _whole(start) or not _whole(end):
        raise _stopped(OrganiserFault, "TypeError", "the offsets of an entity mention must be whole numbers")
    if start < 0 or end > len(text) or start >= end:
        raise _stopped(OrganiserFault, "RuntimeError", f"Invalid character offsets: [{start}-{end}]")
    if identifier not in (DIRECT, QUASI, NO_MASK):
        raise _stopped(OrganiserFault, "RuntimeError", f"Unspecified or invalid identifier type: {identifier}")
    if isinstance(written["entity_id"], dict | list):
        raise _stopped(OrganiserFault, "TypeError", "an entity_id must be a string")
    return MaskMention(int(start), int(end), identifier != NO_MASK)


def _within(offset: int) -> int:
    """The offset itself, or one as far beyond any text."""
    return max(-_BEYOND, min(int(offset), _BEYOND))


def _whole(number: Any) -> bool:
    return isinstance(number, int)


def _stopped(fault: type[SandscoreError], kind: str, why: str) -> SandscoreError:
    return fault(f"the original stops here with {kind}: {why}")
