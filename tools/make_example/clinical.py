"""The medical part of a note: prose of the patient's case, tables, vital signs."""

from collections.abc import Sequence
from typing import Any

from tools.make_example.dice import Dice
from tools.make_example.markup import mark, width
from tools.make_example.world import Slots, Visit, content

_MALE = {"he": "he", "He": "He", "his": "his", "him": "him"}
_FEMALE = {"he": "she", "He": "She", "his": "her", "him": "her"}


def prose(visit: Visit, dice: Dice) -> Slots:
    case = content("cases")[visit.row["case"]]
    phrases = content("phrases")
    male = visit.row["sex"] == "m"
    adult = "man" if male else "woman"
    child = "boy" if male else "girl"
    texts: Slots = {name: value for name, value in case.items() if isinstance(value, str)}
    for name in ("history", "course", "exam", "call"):
        texts[name], *others = dice.shuffled(case[name])
        texts[f"{name}2"] = " ".join(others)
    for name in ("family", "aside"):
        texts[name] = dice.pick(phrases[name])
    return texts | {
        **(_MALE if male else _FEMALE),
        "sex": visit.row["sex"].upper(),
        "man": child if visit.is_child else adult,
        "age": str(visit.age),
        "social": dice.pick(phrases["social_child" if visit.is_child else "social"]),
        "aside": visit.row.get("aside") or texts["aside"],
        "allergy": dice.pick(phrases["allergies"]),
        "diagnosis": case["diagnoses"][0],
        "diagnoses_line": "; ".join(case["diagnoses"]),
        "study_short": case["study"].split(",")[0].split(" WITH")[0],
        "diagnoses": _numbered(case["diagnoses"]),
        "findings": "\n".join(case["findings"]),
        "impression": _numbered(case["impression"]),
        "plan": "\n".join(f"- {line}" for line in case["plan"]),
        "holiday": mark("date", dice.pick(phrases["holidays"])),
    }


def _numbered(lines: Sequence[str]) -> str:
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))


def tables(visit: Visit, dice: Dice, slots: Slots) -> Slots:
    case = content("cases")[visit.row["case"]]
    headings = [
        "",
        format(slots["onset2"], "M/D"),
        format(slots["visit"], "M/D"),
        "Units",
        "Ref",
    ]
    labs = [headings, *(_lab(row, dice) for row in case["labs"])]
    medications = [["Drug", "Dose", "Route", "Freq"], *(row.split("|") for row in case["meds"])]
    return {"labs": _table(labs), "meds": _table(medications)}


def _lab(row: str, dice: Dice) -> list[str]:
    name, lowest, highest, places, unit, reference = row.split("|")
    values = [dice.decimal(float(lowest), float(highest), int(places)) for _ in range(2)]
    return [name, *values, unit, reference]


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(width(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell + " " * (wide - width(cell)) for cell, wide in zip(row, widths, strict=True)) for row in rows
    )
    return "\n".join(f"  {line}".rstrip() for line in lines)


def numbers(visit: Visit, dice: Dice) -> dict[str, Any]:
    """Vital signs and identifiers; some look like dates or ZIP codes, as they do in real notes."""
    systolic = dice.number(96, 112) if visit.is_child else dice.number(104, 168)
    return {
        "bp": f"{systolic}/{systolic - dice.number(34, 58)}",
        "hr": str(dice.number(64, 128)),
        "rr": str(dice.number(14, 30)),
        "temp": dice.decimal(36.4, 39.2, 1),
        "spo2": str(dice.number(86, 98)),
        "pain": str(dice.number(1, 9)),
        "clock": f"{dice.number(7, 12):02}:{dice.number(0, 59):02}",
        "clock2": f"{dice.number(13, 21)}{dice.number(0, 59):02}",
        "mrn": f"{10000 + visit.patient * 371}-{visit.patient % 10}",
        "phone": f"({dice.number(201, 989)}) 555-01{dice.number(0, 99):02}",
        "pager": f"{dice.number(10000, 99999)}",
    }
