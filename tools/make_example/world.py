"""Who is in a note, when and where: the slots that templates may name."""

import datetime
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.make_example.dice import Dice
from tools.make_example.entities import Day, Person, Place

_CONTENT = Path(__file__).parent / "content"
HOUSE_STYLES = ("MM/DD/YYYY", "M/D/YY", "YYYY-MM-DD", "DD MMM YYYY", "MM-DD-YYYY", "DD.MM.YYYY")
LONG_STYLES = ("MMMM D, YYYY", "D MMMM YYYY", "MMM D, YYYY", "MMMM Do, YYYY")
ROLES = ("attending", "resident", "consultant", "pcp", "nurse")
CHILD = 16

Slots = dict[str, Any]
"""What a slot may be: a day, a person, a place or plain text."""


def content(name: str) -> dict[str, Any]:
    return tomllib.loads((_CONTENT / f"{name}.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Visit:
    """The note to be written: the patient's row, which patient and which of all notes it is."""

    row: dict[str, Any]
    patient: int
    note: int
    date: datetime.date

    @property
    def age(self) -> int:
        born: datetime.date = self.row["born"]
        return self.date.year - born.year - ((self.date.month, self.date.day) < (born.month, born.day))

    @property
    def is_child(self) -> bool:
        return self.age < CHILD


def days(visit: Visit, dice: Dice) -> Slots:
    styles = {"house": dice.pick(HOUSE_STYLES), "long": dice.pick(LONG_STYLES)}
    today = Day(visit.date, styles)
    admit = today.after(-dice.number(3, 6))
    following = today.after(dice.number(8, 16))
    return {
        "visit": today,
        "signed": today.after(dice.number(0, 2)),
        "yesterday": today.after(-1),
        "tomorrow": today.after(1),
        "admit": admit,
        "discharged": today.after(-2),
        "hospital_day": str((visit.date - admit.date).days + 1),
        "onset": admit.after(-dice.number(5, 12)),
        "onset2": admit.after(-dice.number(1, 4)),
        "next": following,
        "before_next": following.after(-1),
        "next2": following.after(dice.number(14, 40)),
        "prior": today.after(-dice.number(90, 400)),
        "year": today.after(-dice.number(900, 2400 if visit.is_child else 6000)),
        "birth": Day(visit.row["born"], styles),
    }


def people(visit: Visit) -> Slots:
    row = visit.row
    title = "Mr." if row["sex"] == "m" else "Ms."
    relation, kin_first, kin_last = row["kin"].split("|")
    staff = [name.split("|") for name in content("people")["staff"]["names"]]
    turn = visit.patient * len(ROLES) + visit.note % 2
    slots: Slots = {
        role: Person(first, last, middle)
        for place, role in enumerate(ROLES)
        for first, middle, last in [staff[(turn + place) % len(staff)]]
    }
    return slots | {
        "patient": Person(row["first"], row["last"], row["middle"], row.get("nick", ""), title),
        "kin": Person(kin_first, kin_last),
        "relation": relation,
        "relation_cap": relation.capitalize(),
    }


def places(visit: Visit, dice: Dice) -> Slots:
    """Patients keep their home, country and hospital from note to note."""
    lists = content("places")
    homes = lists["homes"]
    sites = [site for site in lists["hospital"] if site.get("for_children", False) == visit.is_child]
    here = sites[visit.patient % len(sites)]
    elsewhere = [site for site in lists["hospital"] if not site.get("for_children", False)]
    there = dice.pick([site for site in elsewhere if site is not here])
    town, state, zip_code = homes["towns"][visit.patient % len(homes["towns"])].split("|")
    school = "Orchard Hill Elementary School"
    retreat = "Bright Acorn Day Care" if visit.is_child else dice.pick(homes["homes_for_aged"])
    return {
        "hospital": Place("hospital", here["name"], here["short"]),
        "other_hospital": Place("hospital", there["name"], there["short"]),
        **_site("h", here),
        **_site("o", there),
        "street": Place("street", homes["streets"][visit.patient]),
        "city": Place("city", town),
        "state": Place("state", state),
        "state_name": Place("state", _state_name(state)),
        "o_state_name": Place("state", _state_name(there["state"])),
        "zip": Place("zip", zip_code),
        "country": Place("country", homes["countries"][visit.patient]),
        "organization": Place("organization", dice.pick(homes["organizations"])),
        "destination": Place("organization", retreat),
        "school": Place("organization", school),
        "landmark": Place("other", dice.pick(homes["landmarks"])),
        **_rooms(visit, dice),
    }


def _site(prefix: str, site: dict[str, str]) -> Slots:
    return {f"{prefix}_{kind}": Place(kind, site[kind]) for kind in ("street", "city", "state", "zip")}


def _state_name(code: str) -> str:
    names: dict[str, str] = dict(pair.split("|") for pair in content("places")["homes"]["state_names"])
    return names[code]


def _rooms(visit: Visit, dice: Dice) -> Slots:
    specialty = content("cases")[visit.row["case"]]["specialty"]
    number = f"{dice.number(2, 9)}{dice.number(1, 40):02}{dice.pick(['', '-A', '-B', ''])}"
    wards = ("4 West Medical Unit", "Ward 6B", "Step-Down Unit", "Medical Intensive Care Unit", "5 North")
    clinic = dice.pick((f"Department of {specialty}", f"{specialty} Clinic", f"Division of {specialty}"))
    return {
        "room": Place("room", dice.pick((f"Room {number}", f"Rm {number}", f"Bed {number}")), number),
        "ward": Place("department", dice.pick(wards)),
        "clinic": Place("department", clinic),
        "ed": Place("department", dice.pick(("Emergency Department", "Emergency Room"))),
        "radiology": Place("department", dice.pick(("Department of Radiology", "Diagnostic Imaging Center"))),
    }
