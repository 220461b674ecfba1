"""Places by type: a pattern for each, the surer ones first."""

import re

CAP = r"\b[A-Z][\w’']{0,24}\.?"
CAPS = rf"{CAP}(?: (?:of |del )?{CAP}){{0,3}}"
STATES = (
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|"
    "Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|"
    "Massachusetts|Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|"
    "New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|"
    "Oregon|Pennsylvania|Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|"
    "Virginia|Washington|West Virginia|Wisconsin|Wyoming"
)
CODES = (
    "A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY]"
)
COUNTRIES = (
    "Argentina|Australia|Brazil|Canada|Chile|China|Colombia|Cuba|Denmark|Egypt|England|"
    "Ethiopia|France|Germany|Ghana|Guatemala|Haiti|India|Iran|Iraq|Ireland|Israel|Italy|"
    "Japan|Kenya|Mexico|Nigeria|Norway|Pakistan|Peru|Poland|Russia|Somalia|Spain|Sweden|"
    "Turkey|Ukraine|Vietnam"
)
STREET = r"Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Court|Ct|Blvd|Boulevard|Parkway|Way|Place|Terrace|Square"
UNIT = r"(?:,? (?:Apt|Unit|Suite|Building|#) ?\w+)?"

PATTERNS = [
    ("hospital", rf"(?:St\. )?{CAPS} (?:Hospital|Medical Center)\b", 95),
    ("hospital", rf"{CAP} {CAP} Rehabilitation\b", 72),
    ("hospital", r"\b[A-Z][A-Z.'’ ]{1,40} (?:HOSPITAL|MEDICAL CENTER)\b", 94),
    ("department", r"\b(?:Department|Division) of [A-Z][a-z]+", 97),
    ("department", r"\b[A-Z][a-z]+ (?:Clinic|Service|Imaging Center)\b", 88),
    ("department", r"\b(?:Emergency (?:Department|Room)|(?:Medical )?Intensive Care Unit|Ward \w+)", 86),
    ("room", r"\b(?:Room|Rm|Bed) [0-9]{3,4}(?:-[AB])?", 93),
    ("street", rf"\b[0-9]{{1,5}} (?:[NSEW]\.? |[NS][EW] )?(?:{CAP} |[0-9]+th ){{1,3}}(?:{STREET})\b\.?{UNIT}", 92),
    ("organization", rf"{CAPS} (?:School|College|Church|Co\.|LLP|Inc\.|Authority|Care|Shipping|Foods)", 82),
    ("other", r"\b(?:Lake|Mount) [A-Z][a-z]+|\b[A-Z][a-z]+ (?:Bridge|Park|Lighthouse)\b|P\.O\. Box [0-9]+", 78),
    ("zip", r"(?<=[A-Z][A-Z] )[0-9]{5}(?:-[0-9]{4})?\b", 98),
    ("city", rf"(?:(?<=\n)|(?<=, )|(?<=\()|(?<=  )|(?<=in )){CAP}(?: {CAP}){{0,2}}(?=, (?:{CODES})\b)", 90),
    ("state", rf"(?<=, )(?:{CODES})\b(?!-| *\n)(?<!MD)", 94),
    ("state", rf"\b(?:{STATES})\b", 84),
    ("country", rf"\b(?:{COUNTRIES})\b", 87),
    ("city", rf"(?<=home in ){CAP}(?: {CAP})?|(?<=woman of ){CAP}(?: {CAP})?", 70),
    ("hospital", r"\b(?!INH|TSH|WITH)[A-Z]{1,2}[A-Z]H\b", 50),
    ("organization", r"(?<=orks for )[A-Z]\w+(?: [A-Z]\w+)*|(?<=Insured through )[A-Z]\w+ [A-Z]\w+", 65),
]


def annotate(text: str) -> list[dict[str, object]]:
    taken: set[int] = set()
    found = []
    for kind, pattern, confidence in PATTERNS:
        for match in re.finditer(pattern, text):
            place = range(*match.span())
            if match.group() and taken.isdisjoint(place):
                taken.update(place)
                found.append((match.start(), match.group(), kind, confidence))
    return [
        {
            "start": start,
            "length": len(name),
            "text": name,
            "confidence": confidence,
            "addressType": kind,
        }
        for start, name, kind, confidence in sorted(found)
    ]
