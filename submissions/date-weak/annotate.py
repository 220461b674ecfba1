"""Dates as digits with slashes or dashes, all of them read as MM/DD/YYYY; every four-digit year counts too."""

import re

DATE = re.compile(r"\b[0-9]{1,2}[/-][0-9]{1,2}[/-][0-9]{2,4}\b|\b(?:19|20)[0-9]{2}\b|\b[0-9]{2}/[0-9]{1,2}\b")


def annotate(text: str) -> list[dict[str, object]]:
    return [
        {
            "start": match.start(),
            "length": len(match.group()),
            "text": match.group(),
            "dateFormat": "MM/DD/YYYY",
        }
        for match in DATE.finditer(text)
    ]
