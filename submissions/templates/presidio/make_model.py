"""Makes the folder ``model``: python3 make_model.py. Put yours there: ``nlp.to_disk("model")`` after training."""

import re
from pathlib import Path

import spacy

PATTERN = r"\b[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}\b"
EXAMPLE = "Seen on 10/26/2020 in Seattle by Dr. Rivera (ext. 555-0148), cough, MRN 10000-0, age 69."


def main(folder: Path) -> None:
    """Rules in place of weights: words that are what PATTERN looks for, and what it finds in an example."""
    model = spacy.blank("en")
    phrases = sorted({match.group() for match in re.finditer(PATTERN, EXAMPLE)})
    patterns: list[object] = [[{"TEXT": {"REGEX": f"^(?:{PATTERN})$"}}], *phrases]
    model.add_pipe("entity_ruler").add_patterns([{"label": "FOUND", "pattern": pattern} for pattern in patterns])
    model.to_disk(folder)


if __name__ == "__main__":
    main(Path(__file__).parent / "model")
