"""General measures of a whole data set, note by note.

The general measures, by name.
"""

from typing import Any

from msgspec import Struct

from sandscore.annotations.input_files import Loaded
from sandscore.measures import iou, overlap_credit, semeval_schemas
from sandscore.measures.document_measure import GeneralMeasure, add_up
from sandscore.measures.measure_syntax import Named
from sandscore.measures.note_documents import documents_of

GENERAL: dict[str, GeneralMeasure] = {
    row.MEASURE.definition.name: row.MEASURE for row in (iou, overlap_credit, semeval_schemas)
}


_COUNTS = ("tp", "fp", "fn")


class CountedGeneral(Struct, frozen=True):
    """Components of all notes together; ``per_note`` where they are tp, fp and fn, so that they can be ranked."""

    measure: Named
    components: dict[str, Any]
    per_note: list[tuple[int, int, int]] | None
    warnings: tuple[str, ...]


def count_general(measures: list[Named], loaded: Loaded) -> list[CountedGeneral]:
    """Every general measure that was asked for."""
    documents = documents_of(loaded)
    found = []
    for measure in measures:
        row = GENERAL[measure.name]
        settings = row.definition.settle(measure)
        notes = [row.count(document, settings) for document in documents]
        components = row.score(add_up(notes), settings)
        whole = all(name in components for name in _COUNTS)
        ranked = [_counts(row.score(note, settings)) for note in notes] if whole else None
        found.append(CountedGeneral(measure, components, ranked, row.warn(documents, settings)))
    return found


def _counts(score: dict[str, Any]) -> tuple[int, int, int]:
    return score["tp"], score["fp"], score["fn"]
