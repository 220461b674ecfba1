"""Every recorded run of Presidio's evaluators comes out again: counts, ratios, NaN, confusion, errors, spans."""

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict
from peers.presidio_cases import as_listed, case_files, load, options_of, runs, tagged_documents

from sandscore.base.errors import UsageFault
from sandscore.formats.tag_schemes import Scheme, encode
from sandscore.profiles.presidio.presidio_evaluation import (
    EvaluationOptions,
    Score,
    SpanEvaluation,
    document_spans,
    evaluate_tags,
)
from sandscore.profiles.presidio.presidio_spans import OUTSIDE, ScoredSpan, TaggedDocument, TokenSpan, tag
from sandscore.profiles.presidio.presidio_tokens import TextTokens
from sandscore.profiles.span_labels.span_labels_profile import LabelledSpan, SpanVerdict, VerdictTable, judge

SCHEMES: dict[str, Scheme] = {"BIO": "bio", "IOB": "bio", "BILUO": "biluo", "BILOU": "biluo"}


def named(path: Path) -> str:
    return path.stem


def printed(value: float | None) -> float | str:
    return "NaN" if value is None else value


# --- A: the span evaluator -------------------------------------------------------------------------------


@pytest.mark.parametrize("path", case_files("A", "*.json"), ids=named)
def test_span_evaluator(path: Path) -> None:
    case = load(path)
    documents = tagged_documents(case)
    for run in runs(case):
        for release, expected in run["expected"].items():
            options = options_of(run.get("params", {}), release)
            check_run(documents, options, expected)


def check_run(documents: list[TaggedDocument], options: EvaluationOptions, expected: dict[str, Any]) -> None:
    found = evaluate_tags(documents, options)
    assert summary(found, options) == {name: expected[name] for name in summary(found, options)}
    labels, rows = found.matrix()
    assert expected["confusion_matrix"] == {"labels": labels, "rows": rows}
    check_errors(found, options, expected["errors"])
    if "spans" in expected:
        assert spans_as_recorded(documents, options, expected["spans"]) == expected["spans"]
    for document, alone in zip(documents, expected.get("each_document_alone", ()), strict=False):
        assert brief(evaluate_tags([document], options)) == alone


def summary(found: SpanEvaluation, options: EvaluationOptions) -> dict[str, Any]:
    return {
        "per_type": {name: per_type_row(score) for name, score in found.per_type.items()},
        "pii": pii_row(found.pii),
        "n": None if options.old else sum(s.counts.annotated for s in found.per_type.values()),
        "confusion": [[*pair, n] for pair, n in found.confusion.items()],
    }


def per_type_row(score: Score) -> dict[str, Any]:
    counts = score.counts
    return {
        "tp": counts.tp,
        "fp": counts.fp,
        "fn": counts.fn,
        "num_predicted": counts.predicted,
        "num_annotated": counts.annotated,
        "precision": printed(score.precision),
        "recall": printed(score.recall),
        "f_beta": printed(score.f_beta),
    }


def pii_row(score: Score) -> dict[str, Any]:
    return asdict(score.counts) | {
        "precision": printed(score.precision),
        "recall": printed(score.recall),
        "f": printed(score.f_beta),
    }


def brief(found: SpanEvaluation) -> dict[str, Any]:
    return {
        "per_type": {name: five(score) for name, score in found.per_type.items()},
        "pii": five(found.pii),
    }


def five(score: Score) -> list[int]:
    counts = score.counts
    return [counts.tp, counts.fp, counts.fn, counts.predicted, counts.annotated]


def check_errors(found: SpanEvaluation, options: EvaluationOptions, expected: Any) -> None:
    errors = [as_listed(error, options.release) for error in found.errors]
    if isinstance(expected, list):
        assert errors == expected
        return
    assert len(errors) == expected["n"]
    kinds = Counter((e["type"], e["annotation"], e["prediction"]) for e in errors)
    assert sorted([*kind, n] for kind, n in kinds.items()) == sorted(expected["counts"])
    fields = ("type", "annotation", "prediction", "full_text", "token", "explanation", "start", "end")
    lines = "\n".join("|".join(str(e.get(field, "")) for field in fields) for e in errors)
    assert sha256(lines.encode()).hexdigest() == expected["sha256"]


def spans_as_recorded(
    documents: list[TaggedDocument], options: EvaluationOptions, expected: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    return [
        {
            "sentence_id": recorded["sentence_id"],
            "gold": [span_row(s) for s in spans.gold],
            "pred": [span_row(s) for s in spans.predicted],
            "global_gold": [[s.start, s.end] for s in spans.untyped_gold],
            "global_pred": [[s.start, s.end] for s in spans.untyped_predicted],
        }
        for (_, spans), recorded in zip(document_spans(documents, options), expected, strict=True)
    ]


def span_row(span: TokenSpan) -> dict[str, Any]:
    return {
        "entity_type": span.type,
        "entity_value": span.value,
        "start_position": span.start,
        "end_position": span.end,
        "normalized_tokens": list(span.words),
        "normalized_start_index": span.inner_start,
        "normalized_end_index": span.inner_end,
        "token_start": span.first,
        "token_end": span.stop,
    }


# --- B: six labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", case_files("B", "*.json"), ids=named)
def test_span_labels(path: Path) -> None:
    case = load(path)
    for run in runs(case):
        expected = run["expected"]["six_label_ea019d5_fixline"]
        kept = kept_types(case, run["params"])
        if "span_output" not in expected:
            with pytest.raises(UsageFault):
                verdicts_of(case, kept, run["params"])
            continue
        verdicts = verdicts_of(case, kept, run["params"])
        table = VerdictTable()
        for of_document in verdicts:
            table.add(of_document)
        check_label_table(table, expected, kept)
        for recorded in (expected.get("labels"), run["expected"].get("labels")):
            if recorded is not None:
                check_labels(case, verdicts, recorded, kept)
        if "outputs" in expected:
            assert [output_row(v) for of_document in verdicts for v in of_document] == expected["outputs"]


def kept_types(case: dict[str, Any], params: dict[str, Any]) -> set[str] | None:
    """The types compared; None where neither the run nor its model names any."""
    if params.get("entities_to_keep") is not None:
        return set(params["entities_to_keep"])
    if "entities_to_keep" in params:
        return set(params["model_entities"]) if params.get("model_entities") is not None else None
    return {span["type"] for document in case["documents"] for span in (*document["gold"], *document["pred"])}


def verdicts_of(case: dict[str, Any], kept: set[str] | None, params: dict[str, Any]) -> list[list[SpanVerdict]]:
    if kept is None:
        raise UsageFault("no types to keep")
    return [
        judge(
            kept_spans(document, "gold", kept),
            kept_spans(document, "pred", kept),
            params.get("overlap_threshold", 0.5),
        )
        for document in case["documents"]
    ]


def kept_spans(document: dict[str, Any], side: str, kept: set[str]) -> list[LabelledSpan]:
    return [labelled(document, span) for span in document[side] if span["type"] in kept]


def labelled(document: dict[str, Any], span: dict[str, Any]) -> LabelledSpan:
    text = document["text"][span["start"] : span["end"]]
    return LabelledSpan(span["type"], span.get("value", text), span["start"], span["end"])


def check_label_table(table: VerdictTable, expected: dict[str, Any], kept: set[str] | None) -> None:
    empty = VerdictTable().total
    rows = {"global": table.total} | {name: table.per_type.get(name, empty) for name in kept or ()}
    counts = {name: asdict(row) | {"actual": row.actual, "possible": row.possible} for name, row in rows.items()}
    assert counts == expected["span_output"]
    assert {name: row.ratios() for name, row in rows.items()} == expected["metrics"]


def check_labels(
    case: dict[str, Any], verdicts: list[list[SpanVerdict]], recorded: list[list[Any]], kept: set[str] | None
) -> None:
    for document, of_document, rows in zip(case["documents"], verdicts, recorded, strict=True):
        gold = [labelled(document, span) for span in document["gold"]]
        remaining = iter(of_document)
        for position, (span, row) in enumerate(zip(document["pred"], rows, strict=True)):
            if span["type"] not in (kept or ()):
                assert row == [None, None, None]
                continue
            verdict = next(remaining)
            index = None if verdict.gold is None else gold.index(verdict.gold)
            found: Any = [verdict.label, index, verdict.score]
            if isinstance(row, dict):
                found = dict(zip(("label", "gold", "overlap_score"), found, strict=True)) | {"pred": position}
            assert found == row


def output_row(verdict: SpanVerdict) -> dict[str, Any]:
    sides = {"gold": verdict.gold, "pred": verdict.prediction}
    return {"label": verdict.label, "overlap_score": verdict.score} | {
        name: span and [span.type, span.start, span.end] for name, span in sides.items()
    }


# --- T: spans to tags ------------------------------------------------------------------------------------


def with_prefixes(tags: Sequence[str], scheme: Scheme) -> list[str]:
    """IO tags in another scheme; neighbouring spans of one type are one run."""
    runs, stop = [], 0
    for name, group in groupby(tags):
        first, stop = stop, stop + sum(1 for _ in group)
        if name != OUTSIDE:
            runs.append((first, stop, name))
    return encode(len(tags), runs, scheme)


@pytest.mark.parametrize("path", case_files("T", "*.json"), ids=named)
def test_tags(path: Path) -> None:
    case = load(path)
    tokens = TextTokens(case["tokens"], case["start_indices"])
    spans = [ScoredSpan(s["start"], s["end"], s["type"], s.get("score", 0.5)) for s in case["spans"]]
    tags = tag(tokens, spans)
    if case["scheme"] != "IO":
        tags = with_prefixes(tags, SCHEMES[case["scheme"]])
    assert tags == case["expected"]["tags"]
