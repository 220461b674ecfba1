"""From patients to notes: which note is written when, and the filling of its template."""

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.make_example.clinical import numbers, prose, tables
from tools.make_example.dice import Dice
from tools.make_example.markup import Span, unmark
from tools.make_example.world import Slots, Visit, content, days, people, places

SEED = "sandscore example challenge 1"
NOTES_PER_PATIENT = 4
_TEMPLATES = Path(__file__).parent / "templates"
LOINC = {
    "ed": "34111-5",
    "discharge": "18842-5",
    "progress": "11506-3",
    "phone": "34748-4",
    "consult": "11488-4",
    "radiology": "18748-4",
}


@dataclass(frozen=True, slots=True)
class Note:
    identifier: str
    patient: str
    loinc: str
    text: str
    spans: tuple[Span, ...]

    @property
    def name(self) -> str:
        return f"dataset/example/fhirStores/evaluation/fhir/Note/{self.identifier}"


def make_notes() -> Iterator[Note]:
    dice = Dice(SEED)
    kinds = tuple(LOINC)
    for patient, row in enumerate(content("people")["patient"]):
        date: datetime.date = row["seen"]
        for turn in range(NOTES_PER_PATIENT):
            number = patient * NOTES_PER_PATIENT + turn
            kind = kinds[number % len(kinds)]
            variant = "ab"[number // len(kinds) % 2]
            text, spans = unmark(_fill(f"{kind}-{variant}", Visit(row, patient, number, date), dice))
            yield Note(f"{101 + patient}-{turn + 1:02}", str(101 + patient), LOINC[kind], text, tuple(spans))
            date += datetime.timedelta(dice.number(3, 45))


def _fill(template: str, visit: Visit, dice: Dice) -> str:
    slots: Slots = days(visit, dice) | people(visit) | places(visit, dice)
    slots |= prose(visit, dice) | numbers(visit, dice)
    slots |= tables(visit, dice, slots)
    text = (_TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
    while "{" in text:
        text = text.format_map(slots)
    return text
