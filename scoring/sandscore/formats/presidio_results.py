"""Presidio Analyzer's results: lists of RecognizerResult as JSON, by note, in order, or beside the text."""

from sandscore.formats.corpus import Corpus, LossJournal, Mark
from sandscore.formats.file_format import FileFormat, Glance
from sandscore.formats.item_lists import ItemList
from sandscore.formats.json_fields import JsonObject
from sandscore.formats.note_naming import as_confidence, as_score, more_of

ITEMS = ItemList(
    "presidio-results",
    ("recognizer_results", "results", "entities", "analyzer_results"),
    ("entity_type",),
    frozenset({"analysis_explanation", "recognizer_name", "recognizer_identifier", "is_score_enhanced_by_context"}),
    within="recognition_metadata",
)


def write(corpus: Corpus, journal: LossJournal) -> bytes:
    """As ``RecognizerResult.to_dict`` gives them; its metadata hold what it has no field for."""
    return ITEMS.write(corpus, journal, _item)


def _item(mark: Mark) -> JsonObject:
    span = mark.annotation
    score = 1.0 if span.confidence is None else as_score(span.confidence)
    exact = span.confidence is not None and as_confidence(score, "") == span.confidence
    more = more_of(mark) | ({} if exact else {"confidence": span.confidence})
    return {
        "entity_type": span.label or "",
        "start": span.start,
        "end": span.end,
        "score": score,
        "analysis_explanation": None,
        "recognition_metadata": more,
    }


class PresidioResultsFormat(FileFormat):
    """Results of the analyzer."""

    name = "presidio-results"
    description = "what Presidio's analyzer found, RecognizerResult as JSON"
    source = "presidio-analyzer 2.2, RecognizerResult"
    reads = staticmethod(ITEMS.read)
    writes = staticmethod(write)
    suffixes = (".jsonl", ".json")
    whole = True

    @classmethod
    def recognises(cls, glance: Glance) -> bool:
        return ITEMS.is_begun(glance.item)
