"""The report: what it shows of a card, with the notes and without them."""

from pathlib import Path
from typing import Any

import pytest
from board_samples import Sample, card
from published_pages import document

from sandscore.records.document import Annotation, Document
from sandscore.records.scorecard import Scorecard
from sandscore.site.submission_report import MOST_LABELS, MOST_NOTES, SubmissionReport, report_of, write_report


def scored(**changes: Any) -> Scorecard:
    return Scorecard.model_validate(card(1, Sample("mine", 0.7)) | changes)


def report(*documents: Document, allow_text: bool = True) -> SubmissionReport:
    return report_of(scored(), documents, allow_text=allow_text)


def test_confusion_counts_the_same_place_only() -> None:
    found = report(document("n")).confusion
    assert found is not None
    assert list(found.labels) == ["city", "other", "room", "state", "street", "zip", "nothing"]
    counts = {
        (a, b): n
        for a, row in zip(found.labels, found.matrix, strict=True)
        for b, n in zip(found.labels, row, strict=True)
        if n
    }
    assert counts == {
        ("city", "city"): 1,
        ("state", "zip"): 1,
        ("street", "nothing"): 1,
        ("nothing", "street"): 1,
        ("other", "nothing"): 1,
        ("nothing", "room"): 1,
    }


def test_rare_labels_share_a_row() -> None:
    marks = [Annotation(i, 1, "x", f"kind {i:02}") for i in range(40) for _ in range(1 + (i < 30))]
    found = report_of(scored(task="phi"), [Document("n", "x" * 40, tuple(marks), tuple(marks))]).confusion
    assert found is not None
    assert len(found.labels) == MOST_LABELS + 2
    assert found.labels[-2:] == ["10 other labels", "nothing"]
    assert sum(map(sum, found.matrix)) == len(marks)
    assert found.matrix[-2][-2] == 10


def test_worst_notes_come_first_and_lead_to_the_explorer() -> None:
    names = list(scored().per_note)
    found = report(document(names[3]))
    errors = [one.counts.fp + one.counts.fn for one in found.worst]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] == max(fp + fn for _, fp, fn in (row["instance_strict"] for row in scored().per_note.values()))
    assert [one.note for one in found.worst if one.sheet] == [names[3]] * any(
        one.note == names[3] for one in found.worst
    )


def test_only_notes_with_errors_are_explored_and_only_as_many_as_a_page_can_bear() -> None:
    clean = Document("clean", "a", (Annotation(0, 1, "a", "zip"),), (Annotation(0, 1, "a", "zip"),))
    found = report(clean, *[document(f"n{i}") for i in range(MOST_NOTES + 3)])
    assert len(found.sheets) == MOST_NOTES
    assert found.left_out == 3
    assert "clean" not in {sheet.note for sheet in found.sheets}


def test_without_notes_there_is_still_a_report(tmp_path: Path) -> None:
    write_report(scored(), None, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Label by label" in page
    assert "What was taken for what" not in page
    assert "licence" not in page


def test_a_card_of_another_scorer_without_kinds_of_error(tmp_path: Path) -> None:
    bare: dict[str, Any] = {
        "errors": None,
        "per_label": {},
        "note_leak": None,
        "confidence": None,
        "per_note": {},
        "units": {},
    }
    measures = {"strict": {"precision": 0.5, "recall": 0.25, "f1": None, "f_beta": 0.4, "reason": "no <b>"}}
    other = Scorecard.model_validate(scored().model_dump() | bare | {"measures": measures, "profile": "semeval"})
    write_report(other, None, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "f beta 0.400" in page
    assert "no &lt;b&gt;" in page
    assert "hardest notes" not in page


def test_the_same_card_makes_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        write_report(scored(), [document()], tmp_path / name, allow_text=True)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_published_card_names_no_note(tmp_path: Path) -> None:
    write_report(scored(), [document("ward-7-note-3")], tmp_path / "report.html")
    assert "ward-7-note-3" not in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", [None, ""])
def test_a_note_without_text_is_not_explored(text: str | None) -> None:
    assert len(report(Document("n", text, (), ())).sheets) == 0
