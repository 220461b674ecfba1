"""Every change costs what CONTRIBUTING says: each is made in a copy of the checkout, works, and touches these files."""

from pathlib import Path

import pytest
from checkout_copy import CheckoutCopy

pytestmark = pytest.mark.slow

GENERATED_ROWS = {"pyproject.toml", "scoring/sandscore/base/own_rows.py"}
"""``python -m tools.make_rows`` writes them."""
EXAMPLE = ("--gold", "gold/example/address.json", "--notes", "gold/example/notes.json")
SCORE = ("score", "address", *EXAMPLE, "--predictions", "submissions/address-weak/predictions.json")

MEASURE = '''
"""``same_start``: annotations of both sides that begin at one place."""

from sandscore.measures.measure import Components, DocumentMeasure, Settings
from sandscore.records.document import Document


class SameStart(DocumentMeasure):
    """One-to-one by their first character."""

    name = "same_start"
    description = "annotations that begin at one place"
    source = "this test"

    @staticmethod
    def count(document: Document, settings: Settings) -> Components:
        gold, predicted = ({a.start for a in side} for side in (document.gold, document.predictions))
        return {"tp": len(gold & predicted), "fp": len(predicted - gold), "fn": len(gold - predicted)}
'''
FORMAT = '''
"""Starts as lines: a note and where an annotation in it begins."""

from sandscore.formats.corpus import Corpus, LossJournal
from sandscore.formats.file_format import TYPES_ONLY, FileFormat


class StartsFormat(FileFormat):
    """One line an annotation; nothing can be read back."""

    name = "starts"
    description = "one line an annotation: note and start"
    source = "this test"
    suffixes = (".starts",)
    cannot_hold = TYPES_ONLY

    @staticmethod
    def reads(paths, journal, notes, /):
        return Corpus(())

    @staticmethod
    def writes(corpus: Corpus, journal: LossJournal, /) -> bytes:
        lines = [f"{e.note.id}\\t{mark.annotation.start}\\n" for e in corpus.entries for mark in e.marks]
        return "".join(lines).encode()
'''
PROFILE = '''
"""A scorer that knows one number."""

from sandscore.profiles.profile import OriginalScorer, ProfileInput, ProfileResult


class CountingScorer(OriginalScorer):
    """Counts the records of both sides."""

    name = "counting"
    description = "how many records there are"
    source = "this test"

    @staticmethod
    def evaluate(given: ProfileInput, settings: object, /) -> ProfileResult:
        same = len(given.gold) == len(given.predictions)
        ratio = 1.0 if same else 0.0
        return ProfileResult({"records": {"precision": ratio, "recall": ratio, "f1": ratio}}, table="all there")
'''
TASK = """
[tasks.medication]
array = "textMedicationAnnotations"
kind = "medication"
follows = "ours"
label = "route"
labels = ["oral", "iv"]
types = ["MEDICATION"]
"""
OWN_TASK = """
[tasks.medication]
array = "textMedicationAnnotations"
label = "route"
labels = ["oral", "iv"]
"""


@pytest.fixture
def copy(tmp_path: Path) -> CheckoutCopy:
    return CheckoutCopy(tmp_path / "copy")


def listed_anew(copy: CheckoutCopy) -> None:
    made = copy.ran("-m", "tools.make_rows")
    assert made.returncode == 0, made.stderr[-2000:]


def test_a_measure_is_one_module(copy: CheckoutCopy) -> None:
    copy.package("measures/same_start.py").write_text(MEASURE.lstrip())
    listed_anew(copy)
    assert copy.touched() == GENERATED_ROWS | {"scoring/sandscore/measures/same_start.py"}
    assert '"same_start"' in copy.says(*SCORE, "--measure", "same_start", "--format", "json")


def test_a_format_is_one_module(copy: CheckoutCopy, tmp_path: Path) -> None:
    copy.package("formats/start_lines.py").write_text(FORMAT.lstrip())
    listed_anew(copy)
    assert copy.touched() == GENERATED_ROWS | {"scoring/sandscore/formats/start_lines.py"}
    written = tmp_path / "address.starts"
    copy.says("convert", "--from", "ours", "--to", "starts", "gold/example", "-o", str(written))
    assert len(written.read_text().splitlines()) > 10


def test_a_profile_is_one_package(copy: CheckoutCopy) -> None:
    folder = copy.package("profiles/counting")
    folder.mkdir()
    (folder / "__init__.py").write_text('"""A profile of this test."""\n')
    (folder / "counting_profile.py").write_text(PROFILE.lstrip())
    listed_anew(copy)
    own = {f"scoring/sandscore/profiles/counting/{name}.py" for name in ("__init__", "counting_profile")}
    assert copy.touched() == GENERATED_ROWS | own
    assert "all there" in copy.says(*SCORE, "--profile", "counting")


MEDICATION = (
    '[{"annotationSource": {"resourceSource": {"name": "%s"}}, "textMedicationAnnotations": '
    '[{"start": 0, "length": 1, "text": "%s", "confidence": 90, "route": "oral"}]}]'
)


def medication(copy: CheckoutCopy, folder: Path) -> tuple[str, str]:
    """Predictions with one annotation, and the notes they are about."""
    notes = folder / "notes.json"
    notes.write_text('[{"identifier": "n1", "patientId": "p1", "text": "Aspirin."}]')
    predictions = folder / "medication.json"
    predictions.write_text(MEDICATION % ("n1", "A"))
    return str(predictions), str(notes)


def test_a_task_is_one_table(copy: CheckoutCopy, tmp_path: Path) -> None:
    table = copy.package("task_table/tasks.toml")
    table.write_text(table.read_text() + TASK)
    made = copy.ran("tools/make_schemas.py")
    assert made.returncode == 0, made.stderr[-2000:]
    generated = {"schemas/medication.schema.json", "schemas/submission.schema.json"}
    assert copy.touched() == generated | {
        f"scoring/sandscore/task_table/{name}" for name in ("tasks.toml", "tasks.json")
    }
    predictions, notes = medication(copy, tmp_path)
    copy.says("validate", "medication", predictions, "--notes", notes)
    assert "route" in copy.says("score", "medication", "--gold", predictions, "--predictions", predictions)


def test_an_organisers_own_task_is_no_code(copy: CheckoutCopy, tmp_path: Path) -> None:
    own = tmp_path / "tasks.toml"
    own.write_text(OWN_TASK)
    predictions, notes = medication(copy, tmp_path)
    copy.says("validate", "medication", predictions, "--notes", notes, "--task-file", str(own))
    assert copy.touched() == set()
