"""Your annotator: the spaCy model in the folder ``model``, which make_model.py makes. A note in, annotations out."""

from pathlib import Path

import spacy

TYPES: tuple[str, ...] = ("FOUND",)
"""Of the entities that the model finds, those that count here."""
LABELS: dict[str, str] = {"dateFormat": "MM/DD/YYYY"}
MODEL = spacy.load(Path(__file__).parent / "model")


def annotate(text: str) -> list[dict[str, object]]:
    """Offsets count characters of the note; ``text`` is exactly what stands there."""
    return [
        {"start": found.start_char, "length": len(found.text), "text": found.text, "confidence": 50, **LABELS}
        for found in MODEL(text).ents
        if found.label_ in TYPES
    ]
