"""Dates by pattern: the longest reading wins, and fractions that are not dates are told by their context."""

import re

LONG_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
SHORT_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
MONTH = "0?[1-9]|1[0-2]"
DAY = "0?[1-9]|[12][0-9]|3[01]"
YEAR = "(?:19|20)[0-9]{2}"

PATTERNS = [
    (rf"(?:{YEAR})-(?:{MONTH})-(?:{DAY})", "YYYY-MM-DD", 99),
    (rf"(?:{YEAR})/(?:{MONTH})/(?:{DAY})", "YYYY/MM/DD", 97),
    (rf"(?:{MONTH})/(?:{DAY})/(?:{YEAR})", "MM/DD/YYYY", 99),
    (rf"(?:{MONTH})/(?:{DAY})/[0-9]{{2}}", "MM/DD/YY", 93),
    (rf"(?:{MONTH})-(?:{DAY})-(?:{YEAR})", "MM-DD-YYYY", 96),
    (rf"(?:{DAY})\.(?:{MONTH})\.(?:{YEAR})", "DD.MM.YYYY", 90),
    (rf"(?:{LONG_MONTHS}) (?:{DAY}), (?:{YEAR})", "MMMM D, YYYY", 99),
    (rf"(?:{SHORT_MONTHS}) (?:{DAY}), (?:{YEAR})", "MMM D, YYYY", 98),
    (rf"(?:{DAY}) (?:{LONG_MONTHS}) (?:{YEAR})", "D MMMM YYYY", 98),
    (rf"(?:{DAY}) (?:{SHORT_MONTHS}) (?:{YEAR})", "DD MMM YYYY", 98),
    (rf"(?:{LONG_MONTHS}) (?:{DAY})(?:st|nd|rd|th)", "MMMM Do", 88),
    (rf"(?:{LONG_MONTHS}) (?:{DAY})", "MMMM D", 85),
    (rf"(?:{LONG_MONTHS}) (?:{YEAR})", "MMMM YYYY", 92),
    (rf"(?:{MONTH})/(?:{YEAR})", "MM/YYYY", 80),
    (rf"(?:{MONTH})/(?:{DAY})", "M/D", 70),
    (rf"(?:{YEAR})", "YYYY", 45),
]
FRACTION_BEFORE = re.compile(r"(?:pain|strength|recall|commands|pgr|BP|[RL][UL]E|side|in)\s*$", re.IGNORECASE)
FRACTION_AFTER = re.compile(r"\s*(?:up\b|quadrants|systems|bottles|recall|mg|after|each)|-week")


def padded(date_format: str, text: str) -> str:
    """The month-first formats as the writer padded them."""
    if date_format.startswith("MM/DD") and re.search(r"(?<![0-9])[0-9](?=/)", text):
        return date_format.replace("MM/DD", "M/D")
    return date_format


def is_fraction(text: str, start: int, end: int) -> bool:
    return bool(FRACTION_BEFORE.search(text[max(0, start - 12) : start]) or FRACTION_AFTER.match(text, end))


def annotate(text: str) -> list[dict[str, object]]:
    taken = [False] * len(text)
    found = []
    for pattern, date_format, confidence in PATTERNS:
        for match in re.finditer(rf"(?<![\w/.-])(?:{pattern})(?![\w/]|[.-][0-9])", text):
            start, end = match.span()
            if any(taken[start:end]) or (date_format == "M/D" and is_fraction(text, start, end)):
                continue
            taken[start:end] = [True] * (end - start)
            found.append((start, match.group(), confidence, padded(date_format, match.group())))
    return [
        {
            "start": start,
            "length": len(date),
            "text": date,
            "confidence": confidence,
            "dateFormat": date_format,
        }
        for start, date, confidence, date_format in sorted(found)
    ]
