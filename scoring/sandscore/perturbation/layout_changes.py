"""The same words set otherwise: in capitals or small letters, with other blanks, under other headings."""

import re
from itertools import pairwise

from sandscore.base.errors import UsageFault
from sandscore.perturbation.text_edits import CharacterPerturbation, Draw, Edit, GoldNote

_BLANK_RATE = 0.1
_BLANKS = {" ": ("  ", "\t", "\u00a0", "\u2009"), "\n": ("\r\n", " \n", "\n\n"), "\t": (" ", "    ")}
_HEADINGS = (
    ("Chief Complaint", "Reason for Visit", "Presenting Complaint", "CC"),
    ("History of Present Illness", "Present Illness", "HPI"),
    ("Past Medical History", "Medical History", "PMH", "PMHx"),
    ("Past Surgical History", "Surgical History", "PSH"),
    ("Social History", "Social", "SH", "SocHx"),
    ("Family History", "Family", "FH", "FamHx"),
    ("Allergies", "Allergies and Intolerances", "Drug Allergies"),
    ("Medications", "Current Medications", "Home Medications", "Meds"),
    ("Review of Systems", "Systems Review", "ROS"),
    ("Vital Signs", "Vitals", "VS"),
    ("Physical Exam", "Physical Examination", "Exam", "PE"),
    ("Labs", "Laboratory Data", "Laboratory Results", "Pertinent Labs"),
    ("Imaging", "Radiology", "Imaging Studies"),
    ("Assessment and Plan", "Impression and Plan", "A/P", "A&P"),
    ("Assessment", "Impression", "Diagnostic Impression"),
    ("Plan", "Recommendations", "Plan of Care"),
    ("Hospital Course", "Brief Hospital Course", "Course in Hospital"),
    ("Medical Decision Making", "Decision Making", "MDM"),
    ("Disposition", "Dispo"),
    ("Procedures", "Procedures Performed"),
    ("Discharge Medications", "Medications at Discharge"),
    ("Discharge Diagnosis", "Final Diagnosis", "Diagnosis at Discharge"),
    ("Admission Diagnosis", "Diagnosis on Admission"),
    ("Follow-up", "Follow Up", "Followup Instructions"),
    ("Subjective", "Interval History", "S"),
    ("Objective", "Findings", "O"),
)
"""Headings that mean the same, as clinical notes have them."""
_GROUP_OF = {heading.casefold(): group for group in _HEADINGS for heading in group}
_HEADING = re.compile(r"(?m)^[ \t]*([A-Za-z][A-Za-z /&-]{0,40}?)[ \t]*(?=:|$)")


class LetterCase(CharacterPerturbation):
    """All in capitals, or all in small letters."""

    name = "case"
    description = "everything in capitals (upper) or small letters (lower)"
    source = "docs/perturbation.md"
    metavar = "upper|lower"
    sample = "upper"

    def __init__(self, value: str) -> None:
        super().__init__(value)
        if value not in {"upper", "lower"}:
            raise UsageFault(f"found '{value}'; expected upper or lower")

    def edits_of(self, note: GoldNote, draw: Draw) -> list[Edit]:
        """From one border of gold to the next, so that letters may become two."""
        inner = {place for one in note.mentions for place in (one.start, one.end)}
        places = sorted({0, len(note.text), *inner})
        cased = str.upper if self.value == "upper" else str.lower
        return [Edit(a, b, cased(note.text[a:b])) for a, b in pairwise(places)]


class WhiteSpaceChanges(CharacterPerturbation):
    """Blanks and line ends as other programs write them."""

    name = "whitespace"
    description = "10 % of blanks, tabs and line ends become others: doubled, no-break, thin, Windows'"
    source = "docs/perturbation.md"

    def edits_of(self, note: GoldNote, draw: Draw) -> list[Edit]:
        hits = re.finditer(r"(?<!\r)\n|[ \t]", note.text)
        return [Edit(*hit.span(), draw.one_of(_BLANKS[hit[0]])) for hit in hits if draw.chance(_BLANK_RATE)]


class HeadingChanges(CharacterPerturbation):
    """Headings of sections in other words."""

    name = "headings"
    description = "headings of sections become others that mean the same"
    source = "docs/perturbation.md"
    writes = "outside"

    def edits_of(self, note: GoldNote, draw: Draw) -> list[Edit]:
        covered = [False] * len(note.text)
        for one in note.mentions:
            covered[one.start : one.end] = [True] * (one.end - one.start)
        found = []
        for match in _HEADING.finditer(note.text):
            group = _GROUP_OF.get(match[1].casefold())
            if group is None or any(covered[match.start(1) : match.end(1)]):
                continue
            others = [one for one in group if one.casefold() != match[1].casefold()]
            found.append(Edit(*match.span(1), _as_cased(draw.one_of(others), match[1])))
        return found


def _as_cased(heading: str, model: str) -> str:
    if model.isupper() and len(model) > 4:
        return heading.upper()
    return heading.lower() if model.islower() else heading
