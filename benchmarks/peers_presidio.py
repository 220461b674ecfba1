"""Our ``presidio`` profile beside presidio-evaluator 0.3.2, both passes, from tagged tokens.

Run: ``python benchmarks/peers_presidio.py`` (the first time it makes the original's environment). Sparse: one
token in eight is tagged, as in clinical notes. Dense: seven in ten.
"""

import random
import sys
from typing import Any

from beside import Beside, Round, measured, must_agree, original, report, timed
from peers.presidio_corpus import documents as tagged_documents

from sandscore.profiles.presidio.presidio_evaluation import EvaluationOptions, evaluate_tags
from sandscore.profiles.presidio.presidio_spans import TaggedDocument

REQUIRED = 20
TAGGED = {"sparse": {"tagged": 0.12, "noise": 0.04}, "dense": {}}


def compare(documents: int = 3_000, rounds: int = 1) -> list[Beside]:
    return [compare_one(kind, shares, documents, rounds) for kind, shares in TAGGED.items()]


def compare_one(kind: str, shares: dict[str, float], documents: int, rounds: int) -> Beside:
    given = tagged_documents(random.Random(20261118), documents, words=50, **shares)
    return measured(
        "presidio-evaluator 0.3.2",
        f"{documents:,} texts of 50 tokens, {kind}",
        REQUIRED,
        [one_round(given) for _ in range(rounds)],
    )


def one_round(given: list[dict[str, Any]]) -> Round:
    request = {"documents": given, "runs": [{}]}
    (answer,) = original("presidio", "tests/peers/presidio_original.py", request)["runs"]
    notes = [TaggedDocument(str(i), d["tokens"], d["starts"], d["gold"], d["predicted"]) for i, d in enumerate(given)]
    found, seconds = timed(lambda: evaluate_tags(notes, EvaluationOptions()))
    must_agree("the matrix", [answer["labels"], answer["rows"]], list(found.matrix()))
    must_agree("the number of errors", len(answer["errors"]), len(found.errors))
    return Round(answer["seconds"], seconds)


if __name__ == "__main__":
    sys.exit(report(compare()))
