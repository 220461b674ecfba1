"""Person names by their surroundings (titles, credentials, header fields, kinship), then wherever they recur."""

import re

WORD = r"[^\W\d_a-z][^\W\d_]*(?:[-’'][^\W\d_]+)*(?<!['’]s)"
INITIAL = r"(?:[A-Z]\.?)"
PARTICLE = r"(?:van der|van|von|de la|de|del|di|le)"
NAME = rf"{WORD}(?: (?:{INITIAL} |{PARTICLE} )?{WORD}){{0,2}}"
SURNAME_FIRST = rf"(?:{PARTICLE.upper()} )?{WORD}, {WORD}(?: [A-Z]\b)?"
FIELD = r"(?:Patient(?: Name)?|PATIENT|NAME|Name|Pt|ATTENDING|Attending(?: Physician)?|ORDERING|Caller|Provider|RE|PCP)"
KIN = r"(?:[Ww]ife|[Hh]usband|[Ss]on|[Dd]aughter|[Bb]rother|[Ss]ister|[Mm]other|[Ff]ather)"
TITLE = r"(?:Dr|Mr|Mrs|Ms)\."
CUE = r"(?:called by|cc:|Signed:|Resident:|c/o|Report to:|Ref:)"

CONTEXTS = [
    (rf"\b{TITLE} ({INITIAL} )?({PARTICLE} )?{WORD}(?: {WORD})?", 95),
    (rf"(?<![\w.]){NAME}(?=, (?:MD|M\.D\.|RN|NP|PA-C|DO)\b)", 97),
    (rf"\b{FIELD}: +{SURNAME_FIRST}", 96),
    (rf"\b{FIELD}: +{NAME}", 90),
    (rf"\b{KIN},? {NAME}", 85),
    (rf"\b{CUE} *{NAME}", 75),
]
PREFIX = re.compile(rf"{TITLE} |{FIELD}: +|{KIN},? |{CUE} *")
FIRST_NAMES = (
    "James|John|Robert|Michael|William|David|Richard|Joseph|Thomas|Charles|Daniel|Matthew|"
    "Anthony|Mark|Steven|Paul|Andrew|Joshua|Kevin|Brian|George|Timothy|Ronald|Jason|Edward|"
    "Jeffrey|Ryan|Jacob|Gary|Nicholas|Eric|Jonathan|Stephen|Larry|Justin|Scott|Brandon|"
    "Samuel|Gregory|Patrick|Jack|Dennis|Victor|Walter|Peter|Henry|Kyle|Mary|Patricia|"
    "Jennifer|Linda|Elizabeth|Barbara|Susan|Jessica|Sarah|Karen|Lisa|Nancy|Betty|Sandra|"
    "Margaret|Ashley|Kimberly|Emily|Donna|Michelle|Carol|Amanda|Melissa|Deborah|Stephanie|"
    "Rebecca|Laura|Helen|Sharon|Cynthia|Kathleen|Amy|Angela|Shirley|Anna|Ruth|Brenda|"
    "Pamela|Nicole|Katherine|Samantha|Christine|Emma|Catherine|Virginia|Rachel|Janet|Maria|"
    "Heather|Diane|Julie|Joyce|Victoria|Kelly|Christina|Joan|Evelyn|Lauren|Judith|Olivia|"
    "Martha|Cheryl|Hannah|Jacqueline|Ann|Gloria|Jean|Alice|Teresa|Sara|Janice|Doris|Julia|"
    "Grace|Judy|Rosa|Elena|José|Luis"
)
NOT_NAMES = (
    "Hospital|Clinic|Center|Medical|Department|Division|Unit|Report|Date|Time|Admission|"
    "Visit|Allergies|Home|The|He|She|His|Her|Last|Seen|Plan|Study|Exam|Results|Data|"
    "Current|Medications|Discharge|In|On|MRN|DOB|MD|RN|Emergency|Room|Signed|Transcribed|"
    "Age|Sex|Street|Avenue|Road|Lane"
)


def spans(text: str) -> dict[tuple[int, int], int]:
    """Where context says that a name stands, with our confidence; the prefix is cut off."""
    found: dict[tuple[int, int], int] = {}
    taken: set[int] = set()
    first = rf"(?<!St\. )\b(?:{FIRST_NAMES})\b(?: (?:{INITIAL} )?{WORD})?"
    for pattern, confidence in [*CONTEXTS, (first, 60)]:
        for match in re.finditer(pattern, text):
            prefix = PREFIX.match(match.group())
            start = match.start() + (prefix.end() if prefix else 0)
            name = text[start : match.end()]
            if taken.isdisjoint(range(start, match.end())) and not re.search(rf"\b(?:{NOT_NAMES})\b", name):
                found[start, match.end()] = confidence
                taken.update(range(start, match.end()))
    return found


def annotate(text: str) -> list[dict[str, object]]:
    found = spans(text)
    taken = {place for start, end in found for place in range(start, end)}
    parts = {part for start, end in found for part in re.findall(WORD, text[start:end]) if len(part) > 2}
    known = "|".join(sorted(map(re.escape, parts), key=len, reverse=True)) or r"(?!)"
    for match in re.finditer(rf"\b(?:{known})(?: (?:{known}))*\b", text):
        if taken.isdisjoint(range(*match.span())):
            found[match.span()] = 55
    return [
        {"start": start, "length": end - start, "text": text[start:end], "confidence": confidence}
        for (start, end), confidence in sorted(found.items())
    ]
