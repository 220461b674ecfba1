"""Person names as ASCII capitalised words after a title or before a credential; takes "Ms." into the name."""

import re

NAME = re.compile(
    r"Ms\. [A-Z][a-z]+|(?<=[DM]r\. )[A-Z][a-z]+|(?<=[a-z]/)[A-Z][a-z]+"
    r"|[A-Z][a-z]+ (?:[A-Z]\. )?[A-Z][a-z]+(?=, (?:MD|RN|NP))"
    r"|(?<=: )[A-Z]+, [A-Z]+|(?<=\n)[A-Z][a-z]+ [A-Z][a-z]+(?=\n)|(?<= )[A-Z][a-z]+(?='s)"
)


def annotate(text: str) -> list[dict[str, object]]:
    return [
        {"start": match.start(), "length": len(match.group()), "text": match.group(), "confidence": 60}
        for match in NAME.finditer(text)
    ]
