"""Runs the original in its own environment: a JSON request on standard input, its answer on standard output.

Not imported by any test; ``test_presidio_differential`` starts it with the interpreter that has
presidio-evaluator. Undefined ratios are printed as null.
"""

import json
import math
import sys
from functools import cache
from importlib import import_module
from time import process_time
from typing import Any


def main() -> None:
    request = json.load(sys.stdin)
    answer = {
        "tokens": [tokens(text) for text in request.get("texts", ())],
        "tags": [tags(one) for one in request.get("spans", ())],
        "runs": [run(request["documents"], params) for params in request.get("runs", ())],
    }
    json.dump(answer, sys.stdout)


def tokens(text: str) -> list[list[Any]]:
    return [[token.text, token.idx] for token in tokenised(text)]


def tags(one: dict[str, Any]) -> list[str]:
    spans = one["spans"]
    found: list[str] = import_module("presidio_evaluator").span_to_tag(
        scheme="IO",
        text=one["text"],
        starts=[span["start"] for span in spans],
        ends=[span["end"] for span in spans],
        tags=[span["type"] for span in spans],
        scores=[span["score"] for span in spans],
        tokens=tokenised(one["text"]),
    )
    return found


def tokenised(text: str) -> Any:
    return tokeniser()(text)


@cache
def tokeniser() -> Any:
    return import_module("spacy.lang.en").English().tokenizer


def run(documents: list[dict[str, Any]], params: dict[str, Any]) -> dict[str, Any]:
    settings = dict(params)
    beta = settings.pop("beta", 2)
    evaluator = import_module("presidio_evaluator.evaluation").SpanEvaluator(model=None, **settings)
    frame = table(documents)
    started = process_time()
    result = evaluator.calculate_score_on_df(results_df=frame, beta=beta, level="both")
    seconds = process_time() - started
    labels, rows = result.to_confusion_matrix()
    return {
        "seconds": seconds,
        "per_type": {name: counts(one) for name, one in result.per_type.items()},
        "pii": [
            *(result.pii_true_positives, result.pii_false_positives, result.pii_false_negatives),
            *(result.pii_predicted, result.pii_annotated),
            *map(defined, (result.pii_precision, result.pii_recall, result.pii_f)),
        ],
        "labels": labels,
        "rows": rows,
        "errors": [
            [e.error_type.value, e.annotation, e.prediction, e.full_text, e.token, e.explanation, e.start, e.end]
            for e in result.model_errors
        ],
        "printed": str(result) if result.per_type else "",
    }


def table(documents: list[dict[str, Any]]) -> Any:
    names = ("token", "annotation", "prediction", "start_indices")
    rows = [
        (number, *row)
        for number, document in enumerate(documents)
        for row in zip(document["tokens"], document["gold"], document["predicted"], document["starts"], strict=True)
    ]
    return import_module("pandas").DataFrame(rows, columns=["sentence_id", *names])


def counts(one: Any) -> list[Any]:
    return [
        *(one.true_positives, one.false_positives, one.false_negatives, one.num_predicted, one.num_annotated),
        *map(defined, (one.precision, one.recall, one.f_beta)),
    ]


def defined(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


if __name__ == "__main__":
    main()
