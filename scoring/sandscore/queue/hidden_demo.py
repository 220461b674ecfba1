"""A challenge whose notes nobody may see, drawn from a seed: small, of dates, with two teams' predictions for it."""

import json
from pathlib import Path
from random import Random

from msgspec import Struct, to_builtins

from sandscore.base.whole_files import write_file
from sandscore.task_table.task import TASKS

_SENTENCES = ("Seen on {}.", "Admitted {} by ambulance.", "Last visit was {}, without findings.", "Due back {}.")
_NOTES, _DATES = 12, 4
_CHALLENGE = """challenge = "hidden-demo"
title = "A challenge with hidden notes"

[data]
notes = "hidden"
gold = "hidden"
practice = {practice}

[[phases]]
name = "final"
"""


class _Span(Struct, frozen=True):
    """A date in a note."""

    start: int
    length: int
    text: str


class HiddenDemo(Struct, frozen=True):
    """The files of the challenge, and two submissions: one that misses dates, one that counts from 1."""

    challenge: Path
    weak: Path
    shifted: Path


def make_hidden_demo(folder: Path, practice: Path, seed: int = 8) -> HiddenDemo:
    """Notes and gold in the folder; the teams practise on other notes."""
    draw = Random(seed)  # noqa: S311 (nobody's secret)
    made = [_note(draw) for _ in range(_NOTES)]
    texts = {f"hidden-{number}": text for number, (text, _) in enumerate(made)}
    gold = {f"hidden-{number}": spans for number, (_, spans) in enumerate(made)}
    weak = {name: [span for span in spans if draw.random() < 0.7] for name, spans in gold.items()}
    shifted = {name: [_Span(span.start + 1, span.length, span.text) for span in spans] for name, spans in gold.items()}
    notes = [{"identifier": name, "patientId": name[-1], "text": text} for name, text in texts.items()]
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / "challenge.toml", _CHALLENGE.format(practice=json.dumps(str(practice.resolve()))).encode())
    write_file(folder / "notes.json", json.dumps(notes, indent=1).encode())
    for name, spans in (("date", gold), ("weak", weak), ("shifted", shifted)):
        write_file(folder / f"{name}.json", json.dumps([_entry(*one) for one in spans.items()], indent=1).encode())
    return HiddenDemo(folder / "challenge.toml", folder / "weak.json", folder / "shifted.json")


def _note(draw: Random) -> tuple[str, list[_Span]]:
    text, spans = "", list[_Span]()
    for _ in range(_DATES):
        date = f"{draw.randint(1, 12):02}/{draw.randint(1, 28):02}/{draw.randint(1990, 2025)}"
        before, _, after = draw.choice(_SENTENCES).partition("{}")
        spans.append(_Span(len(text) + len(before), len(date), date))
        text += f"{before}{date}{after} "
    return text.rstrip(), spans


def _entry(note: str, spans: list[_Span]) -> dict[str, object]:
    return {"annotationSource": {"resourceSource": {"name": note}}, TASKS["date"].array: to_builtins(spans)}
