"""Places by one key word each; what has no key word is a city."""

import re

PATTERNS = {
    "hospital": r"\b[A-Z][a-z]+ (?:[A-Z][a-z]+ ){0,3}Hospital",
    "department": r"[A-Z][a-z]+ (?:Clinic|Department|Unit)|Department of [A-Z][a-z]+",
    "room": r"(?:[A-Z][a-z]+ )?Room\b(?: [0-9]+)?",
    "street": r"[0-9]+ (?:[A-Z][a-z]+ )+(?:Street|Road|Avenue|Drive|Lane)",
    "zip": r"\b[0-9]{5}\b",
    "state": r"(?<= )[A-Z]{2}(?= [0-9]{5})",
    "city": r"[A-Z][a-z]+(?= [A-Z]{2}\b|, [A-Z]{2}\b|, [A-Z][a-z]+)",
}


def annotate(text: str) -> list[dict[str, object]]:
    return [
        {
            "start": match.start(),
            "length": len(match.group()),
            "text": match.group(),
            "confidence": 40,
            "addressType": kind,
        }
        for kind, pattern in PATTERNS.items()
        for match in re.finditer(pattern, text)
    ]
