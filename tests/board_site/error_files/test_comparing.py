"""One error a row, and the numbers that the score card's rules give; counted by hand from the drawings."""

from sandscore.records.document import Annotation, Document
from sandscore.site.error_files.error_file_writer import error_report
from sandscore.site.error_files.error_report import ErrorRatios
from sandscore.task_table.task import find_task

ADDRESS = find_task("address")
TEXT = "Seen at Mercy Hospital, Boston, MA by the night team."


def span(text: str, label: str | None, start: int | None = None) -> Annotation:
    return Annotation(TEXT.index(text) if start is None else start, len(text), text, label)


def note(gold: list[Annotation], predictions: list[Annotation]) -> Document:
    return Document("n1", TEXT, tuple(gold), tuple(predictions))


# gold         |Mercy Hospital|hospital   |Boston|city    |MA|state
# predicted    |Mercy|hospital            |Boston|state                |night team|other
def test_each_kind_of_error_is_one_row() -> None:
    gold = [span("Mercy Hospital", "hospital"), span("Boston", "city"), span("MA", "state")]
    predicted = [span("Mercy", "hospital"), span("Boston", " STATE"), span("night team", "other")]
    report = error_report([note(gold, predicted)], ADDRESS)
    assert [(r.error_type, r.annotation, r.prediction, r.full_text) for r in report.false_positives] == [
        ("WrongEntity", "city", "state", "Boston"),
        ("FP", "O", "hospital", "Mercy"),
        ("FP", "O", "other", "night team"),
    ]
    assert [(r.error_type, r.annotation, r.prediction, r.full_text) for r in report.false_negatives] == [
        ("WrongEntity", "city", "state", "Boston"),
        ("FN", "hospital", "O", "Mercy Hospital"),
        ("FN", "state", "O", "MA"),
    ]
    assert "hospital at 8-13" in report.false_negatives[1].explanation
    assert report.overall == ErrorRatios(1 / 3, 1 / 3)
    assert report.per_type["state"] == ErrorRatios(0.0, 0.0)
    assert report.per_type["other"] == ErrorRatios(0.0, None)


def test_the_matrix_adds_up() -> None:
    gold = [span("Boston", "city"), span("MA", "state")]
    predicted = [span("Boston", "city"), span("night team", "other")]
    report = error_report([note(gold, predicted)], ADDRESS)
    assert list(report.labels) == ["city", "other", "state", "O"]
    assert report.matrix == [[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0]]


def test_a_missing_label_is_no_error() -> None:
    report = error_report([note([span("Boston", None)], [span("Boston", "city")])], ADDRESS)
    assert not report.false_positives
    assert not report.false_negatives
    assert report.overall == ErrorRatios(1.0, 1.0)


def test_repeated_predictions_are_false_positives_once_each() -> None:
    boston = span("Boston", "city")
    report = error_report([note([boston], [boston, boston, boston])], ADDRESS)
    assert [row.full_text for row in report.false_positives] == ["Boston", "Boston"]
    assert report.overall == ErrorRatios(1 / 3, 1.0)


def test_equal_labels_find_each_other_before_others_do() -> None:
    gold = [span("Boston", "city"), span("Boston", "state")]
    report = error_report([note(gold, gold[::-1])], ADDRESS)
    assert not report.false_positives
    assert report.overall == ErrorRatios(1.0, 1.0)


def test_a_task_without_labels_has_one_type() -> None:
    report = error_report([note([span("Boston", None)], [])], find_task("person-name"))
    assert list(report.labels) == ["PERSON_NAME", "O"]
    assert [row.annotation for row in report.false_negatives] == ["PERSON_NAME"]
