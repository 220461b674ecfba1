"""The error files equal those of the recorded pipeline, once what is broken in them is mended."""

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import pytest
from peers.presidio_cases import case_files, load, options_of
from spreadsheet_cells import armed

from sandscore.profiles.presidio.presidio_evaluation import evaluate_tags
from sandscore.profiles.presidio.presidio_spans import TaggedDocument
from sandscore.site.error_files.confusion_page import heat_table
from sandscore.site.error_files.error_file_writer import contents, presidio_report, table
from sandscore.site.error_files.error_report import Discarded, EntityAlignment, ErrorReport

SETTINGS: dict[str, Any] = {"skip_words": []}
COMPARED = ("error_type", "annotation", "prediction", "token", "full_text", "explanation")
NOT_OURS = {"timestamp", "config"}
"""A clock and a configuration: ours are given, and described."""

CASES = [path.parents[1] for path in case_files("C", "*/expected/internals.json")]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def documents_of(case: Path) -> tuple[list[TaggedDocument], EntityAlignment]:
    internals, samples = load(case / "expected" / "internals.json"), load(case / "dataset.json")
    discarded = internals["discarded_indices"]
    texts = [sample["full_text"] for i, sample in enumerate(samples) if i not in discarded]
    documents = [
        TaggedDocument(str(i), tags["tokens"], starts_in(text, tags["tokens"]), tags["gold"], tags["pred"])
        for i, (text, tags) in enumerate(zip(texts, internals["token_tags"], strict=True))
    ]
    return documents, EntityAlignment(tuple(Discarded(str(i), "as recorded") for i in discarded))


def starts_in(text: str, tokens: list[str]) -> list[int]:
    """Tokens follow each other with nothing but one blank between them."""
    starts, at = [], 0
    for token in tokens:
        starts.append(text.index(token, at))
        end = starts[-1] + len(token)
        at = end + text.startswith(" ", end)
    return starts


def report_of(case: Path) -> ErrorReport:
    documents, alignment = documents_of(case)
    return presidio_report(documents, options_of(SETTINGS, "0.2.5"), {"release": "0.2.5"}, alignment, None)


@each_case
def test_counts(case: Path) -> None:
    internals = load(case / "expected" / "internals.json")
    found = evaluate_tags(documents_of(case)[0], options_of(SETTINGS, "0.2.5"))
    pii = found.pii.counts
    assert internals["pii"] == {name: getattr(pii, name) for name in ("tp", "fp", "fn", "predicted", "annotated")}
    rows = {name: score.counts for name, score in found.per_type.items()}
    assert internals["per_type"] == {n: [c.tp, c.fp, c.fn, c.predicted, c.annotated] for n, c in rows.items()}
    assert internals["confusion"] == [[*pair, n] for pair, n in found.confusion.items()]
    assert (internals["labels"], internals["z"]) == found.matrix()


@each_case
def test_metrics(case: Path) -> None:
    expected = undefined_as_null(load(case / "expected" / "metrics.json"))
    found = json.loads(contents(report_of(case))["metrics.json"], parse_constant=refuse)
    details, ours = expected.pop("details"), found.pop("details")
    assert found == expected
    assert {key: ours[key] for key in details.keys() - NOT_OURS} == {
        key: value for key, value in details.items() if key not in NOT_OURS
    }
    assert ours.keys() >= details.keys()
    assert [one["reason"] for one in ours["discarded"]] == ["as recorded"] * details["samples_discarded"]


def refuse(constant: str) -> float:
    raise AssertionError(f"{constant} is not strict JSON")


def undefined_as_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: undefined_as_null(one) for key, one in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value


@each_case
@pytest.mark.parametrize("name", ["false_positives.csv", "false_negatives.csv"])
def test_tables(case: Path, name: str) -> None:
    recorded = (case / "expected" / name).read_text(encoding="utf-8")
    report = report_of(case)
    found = table(report.false_positives if name == "false_positives.csv" else report.false_negatives)
    assert found.startswith(",".join(COMPARED[:5]) + ",sample_id,explanation")
    ours = [{key: armed(cell) for key, cell in row.items()} for row in csv.DictReader(io.StringIO(found))]
    assert len({tuple(row.values()) for row in ours}) == len(ours)
    mended = [unswapped(row) for row in csv.DictReader(io.StringIO(recorded, newline=""))]
    assert list(distinct(ours)) == list(distinct(mended))


def distinct(rows: list[dict[str, str]]) -> dict[tuple[str, ...], None]:
    """What is compared of each row, repetitions left out, in order."""
    return dict.fromkeys(tuple(row[column] for column in COMPARED) for row in rows)


def unswapped(row: dict[str, str]) -> dict[str, str]:
    """The types the right way round; predictions that overlap nothing were not swapped."""
    if row["explanation"].startswith("False prediction with no overlap"):
        return row
    return row | {"annotation": row["prediction"], "prediction": row["annotation"]}


@each_case
def test_figure(case: Path) -> None:
    expected = load(case / "expected" / "confusion_figure.json")
    report = report_of(case)
    drawn = heat_table(report.labels, report.matrix)
    assert (expected["x"], expected["y"], expected["z"]) == (drawn.labels, drawn.labels, drawn.matrix)
    assert expected["annotations"] == [str(count) for row in drawn.matrix for count in row]
    assert (expected["xaxis_title"], expected["yaxis_title"]) == ("Predicted", "Actual")
