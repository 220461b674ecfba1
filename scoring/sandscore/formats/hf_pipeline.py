"""Hugging Face's token classification: what a pipeline returns, aggregated or token by token, as JSON or JSON Lines."""

from sandscore.formats.corpus import Corpus, LossJournal, Mark
from sandscore.formats.file_format import FileFormat, Glance
from sandscore.formats.item_lists import ItemList
from sandscore.formats.json_fields import JsonObject
from sandscore.formats.note_naming import more_of, score_fields

ITEMS = ItemList(
    "hf",
    ("entities", "predictions", "outputs", "output", "ner", "results"),
    ("entity_group", "entity"),
    frozenset({"word", "index"}),
)


def write(corpus: Corpus, journal: LossJournal) -> bytes:
    """As ``pipeline(..., aggregation_strategy="simple")`` gives them, beside the note's name and text."""
    return ITEMS.write(corpus, journal, _item)


def _item(mark: Mark) -> JsonObject:
    span = mark.annotation
    kind = {"entity_group": span.label or ""} | score_fields(span.confidence)
    return kind | {"word": span.text, "start": span.start, "end": span.end} | more_of(mark)


class HfFormat(FileFormat):
    """Items of a token classification pipeline."""

    name = "hf"
    description = "items of a Hugging Face token classification pipeline, JSON or JSON Lines"
    source = "transformers 5, TokenClassificationPipeline"
    reads = staticmethod(ITEMS.read)
    writes = staticmethod(write)
    suffixes = (".jsonl", ".json")
    whole = True

    @classmethod
    def recognises(cls, glance: Glance) -> bool:
        return ITEMS.is_begun(glance.item)
