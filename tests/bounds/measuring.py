"""A process that reads files for others to measure: each in a child of its own, by the reader that is asked for.

    python -m bounds.measuring FOLDER    # one JSON object a line in, one out; FOLDER holds notes.json

Only what is measured is in its memory, so that the most a child ever held is the reader's doing.
"""

import json
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema  # noqa: F401 (what explains problems is no part of what is measured)
import zstandard  # noqa: F401

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.api.validation_calls import validate_file
from sandscore.base.errors import SandscoreError
from sandscore.challenges.challenge_reading import read_challenge
from sandscore.formats import FORMATS
from sandscore.formats.corpus import CorpusNote, LossJournal
from sandscore.ranking.card_reading import read_card
from sandscore.task_table.task import find_task
from sandscore.verification.board_verification import verify

MOST_SECONDS = 20
MOST_MEMORY = 8 << 30
DATE = find_task("date")
NOTE = (CorpusNote("n0", "seen 01/02/2020"),)


def predictions(file: Path, notes: Path) -> None:
    assert validate_file("date", str(file), notes=str(notes)).problems is not None


def gold(file: Path, notes: Path) -> None:
    found = load_files(DATE, Inputs(gold=file, notes=notes)).findings["gold"]
    assert found.problems is not None


def noted(file: Path, _: Path) -> None:
    found = load_files(DATE, Inputs(notes=file)).findings["notes"]
    assert found.problems is not None


def foreign(name: str, ending: str = "") -> Callable[[Path, Path], None]:
    """A directory of one file where the format is one."""

    def read(file: Path, _: Path) -> None:
        place = file
        if ending:
            place = file.parent / "folder"
            place.mkdir(exist_ok=True)
            (place / f"1-1{ending}").unlink(missing_ok=True)
            os.link(file, place / f"1-1{ending}")
            if ending == ".ann":
                (place / "1-1.txt").write_text("seen 01/02/2020")
        FORMATS.find(name).reads([place], LossJournal(), NOTE)

    return read


READERS: dict[str, Callable[[Path, Path], Any]] = {
    "predictions": predictions,
    "gold": gold,
    "notes": noted,
    "card": lambda file, _: read_card(file),
    "board": lambda file, _: verify(file),
    "challenge": lambda file, _: read_challenge(file),
    "ours": foreign("ours"),
    "presidio": foreign("presidio"),
    "nlpsandbox-list": foreign("nlpsandbox-list"),
    "nlpsandbox-bundle": foreign("nlpsandbox-bundle"),
    "neleval": foreign("neleval"),
    "conll": foreign("conll"),
    "hf": foreign("hf"),
    "presidio-results": foreign("presidio-results"),
    "doccano": foreign("doccano"),
    "label-studio": foreign("label-studio"),
    "tab": foreign("tab"),
    "csv": foreign("csv"),
    "spacy": foreign("spacy"),
    "uima-cas": foreign("uima-cas"),
    "uima-xmi": foreign("uima-cas", ".xmi"),
    "brat": foreign("brat", ".ann"),
    "i2b2": foreign("i2b2", ".xml"),
}


def measured(reader: str, file: Path, notes: Path) -> dict[str, float]:
    """Seconds of a processor, the most megabytes that were held, and how it ended."""
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        os._exit(_end(reader, file, notes))
    _, status, used = os.wait4(child, 0)
    return {
        "end": os.waitstatus_to_exitcode(status),
        "seconds": used.ru_utime + used.ru_stime,
        "megabytes": used.ru_maxrss / 1024,
    }


def _end(reader: str, file: Path, notes: Path) -> int:
    try:
        READERS[reader](file, notes)
    except SandscoreError as fault:
        return fault.exit_code
    except BaseException as fault:
        print(f"{reader} of {file}: {type(fault).__name__}: {str(fault)[:200]}", file=sys.stderr)
        return 70
    return 0


def main(folder: Path) -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(measured(asked["reader"], Path(asked["file"]), folder / "notes.json")), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
