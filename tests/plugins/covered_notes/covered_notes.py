"""Notes in which every gold character is covered."""

from sandscore.measures.measure import Components, DocumentMeasure, Settings
from sandscore.records.document import Document


class CoveredNotes(DocumentMeasure):
    """The share of notes with gold in which nothing of it can still be read."""

    name = "covered_notes"
    description = "notes in which every gold character is covered"
    formula = "ratio(covered/notes)"

    @staticmethod
    def count(document: Document, settings: Settings) -> Components:
        gold, found = (
            {i for a in side for i in range(a.start, a.end)} for side in (document.gold, document.predictions)
        )
        return {"covered": int(gold <= found), "notes": 1} if gold else {}
