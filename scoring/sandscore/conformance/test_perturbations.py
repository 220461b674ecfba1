"""The perturbation suite: on drawn notes every gold text stands, what is promised stays, and the seed says it all."""

import json
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from sandscore.base.byte_sources import NamedBytes
from sandscore.perturbation import PERTURBATIONS
from sandscore.perturbation.paired_copy import JsonRecord, PairedCopy, paired_copy, read_original
from sandscore.task_table.task import TASKS

_TASKS = ("person-name", "date", "phi")
_WORDS = (
    *("Mr. Okafor", "SMITH, JOHN Q.", "José García-Reyes", "J. O'Brien's", "Zoë", "van den Berg", "Nguyễn", "III"),
    *("3/14/2021", "14 Mar 2021", "2020-02-29", "June 7th", "12/31", "Friday", "0/0/0000", "1999", "31.12.1999"),
    *(
        "HPI:",
        "Labs\n",
        "Plan:",
        "\r\n",
        "\t",
        "ß",
        "İ",
        "ﬁ",
        "👩‍⚕️",
        "e\u0301",
        "rn",
        "cl",
        "O0l1",
        "MRN 10000-0",
        "ΣΑΣ",
    ),
)


def drawn(seed: int, notes: int, folder: Path) -> None:
    """Notes of words that go wrong easily, with annotations anywhere, across tasks on top of one another."""
    draw = Random(seed)  # noqa: S311
    written: list[JsonRecord] = []
    gold: dict[str, list[JsonRecord]] = {name: [] for name in _TASKS}
    for number in range(notes):
        text, spans = "", list[tuple[int, int]]()
        for _ in range(draw.randint(0, 24)):
            word = draw.choice(_WORDS)
            spans.append((len(text), len(text) + len(word)))
            text += word + draw.choice((" ", "", ", ", "\n"))
        written.append({"identifier": f"n{number}", "patientId": f"p{number % 7}", "type": "t", "text": text})
        for name, entries in gold.items():
            task = TASKS[name]
            chosen = draw.sample(spans, min(len(spans), draw.randint(0, 5)))
            if text and draw.random() < 0.3:
                start = draw.randrange(len(text))
                chosen.append((start, draw.randint(start + 1, min(len(text), start + 9))))
            rows = [{"start": a, "length": b - a, "text": text[a:b]} for a, b in dict.fromkeys(chosen)]
            labels = {"phi": ("type", ("PATIENT", "DATE", "AGE")), "date": (task.label, ("MM/DD/YYYY", "odd"))}
            for row in rows:
                if name in labels and (name == "phi" or draw.random() < 0.7):
                    row[str(labels[name][0])] = draw.choice(labels[name][1])
            entries.append({"annotationSource": {"resourceSource": {"name": f"n{number}"}}, task.array: rows})
    folder.mkdir(exist_ok=True)
    for name, value in (("notes", written), *gold.items()):
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")


def copied(name: str, folder: Path, seed: int) -> PairedCopy:
    row = PERTURBATIONS.find(name)
    return paired_copy(read_original(folder / "notes.json", folder), [row(row.sample)], seed)


def texts_and_spans(files: dict[str, bytes]) -> list[tuple[JsonRecord, dict[str, list[JsonRecord]]]]:
    """Each note with its annotations by task."""
    read = {name: json.loads(files[f"{name}.json"]) for name in ("notes", *_TASKS)}
    rows = ({name: read[name][at][TASKS[name].array] for name in _TASKS} for at in range(len(read["notes"])))
    return list(zip(read["notes"], rows, strict=True))


def outside(text: str, tasks: dict[str, list[JsonRecord]]) -> str:
    """What no annotation covers."""
    covered = {
        at for rows in tasks.values() for row in rows for at in range(row["start"], row["start"] + row["length"])
    }
    return "".join(letter for at, letter in enumerate(text) if at not in covered)


@pytest.mark.parametrize("seed", range(20))
def test_gold_stands_and_nothing_is_lost(perturbation: str, seed: int, tmp_path: Path) -> None:
    drawn(seed, 30, tmp_path)
    before = {f"{name}.json": (tmp_path / f"{name}.json").read_bytes() for name in ("notes", *_TASKS)}
    after = copied(perturbation, tmp_path, seed).files
    row = PERTURBATIONS.find(perturbation)
    for (note, tasks), (new, theirs) in zip(texts_and_spans(before), texts_and_spans(after), strict=True):
        assert {**new, "text": ""} == {**note, "text": ""}
        for name in _TASKS:
            assert len(tasks[name]) == len(theirs[name])
            for old, one in zip(tasks[name], theirs[name], strict=True):
                assert new["text"][one["start"] : one["start"] + one["length"]] == one["text"] != ""
                kept = set(old) - {"start", "length", "text", "dateFormat"}
                assert {key: one[key] for key in kept} == {key: old[key] for key in kept}
                assert set(one) == set(old)
        if row.writes == "inside":
            assert outside(note["text"], tasks) == outside(new["text"], theirs)
        if row.writes == "outside":
            assert [one["text"] for rows in tasks.values() for one in rows] == [
                one["text"] for rows in theirs.values() for one in rows
            ]
        order = [
            (one["start"], other["start"])
            for name in _TASKS
            for one, other in zip(tasks[name], theirs[name], strict=True)
        ]
        assert all((a < c) == (b < d) for (a, b), (c, d) in pairwise(sorted(order)))


def test_the_seed_says_all(perturbation: str, tmp_path: Path) -> None:
    drawn(1, 40, tmp_path)
    assert copied(perturbation, tmp_path, 5).files == copied(perturbation, tmp_path, 5).files


def test_a_patient_is_copied_alike_whoever_else_is_there(perturbation: str, tmp_path: Path) -> None:
    drawn(2, 28, tmp_path / "all")
    few = tmp_path / "few"
    few.mkdir()
    for name in ("notes", *_TASKS):
        value = json.loads((tmp_path / "all" / f"{name}.json").read_bytes())
        (few / f"{name}.json").write_text(json.dumps(value[::7]), encoding="utf-8")
    whole = texts_and_spans(copied(perturbation, tmp_path / "all", 3).files)
    assert texts_and_spans(copied(perturbation, few, 3).files) == whole[::7]


def test_it_changes_the_example(perturbation: str) -> None:
    from sandscore.base.bundled_content import example_gold

    row = PERTURBATIONS.find(perturbation)
    original = read_original(NamedBytes("notes", (example_gold() / "notes.json").read_bytes()), example_gold())
    made = paired_copy(original, [row(row.sample)], 1)
    assert (made.notes, made.annotations) == (72, 2573)
    assert made.changed > 100
