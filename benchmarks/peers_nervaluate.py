"""Our ``semeval`` profile beside nervaluate on 1,000 documents of about 20 annotations: CPU time, one run.

Run: ``python benchmarks/peers_nervaluate.py``. Both start from decoded data and compute all four schemas,
overall and per type, with the indices; the results are compared before the ratio is
printed. A run on ten documents comes first, so that neither pays for first calls.
"""

import random
import sys
from collections.abc import Callable
from time import process_time
from typing import Any

from nervaluate.evaluator import Evaluator

from sandscore.measuring.profiles import semeval
from sandscore.measuring.profiles.result import ProfileInput, ProfileResult
from sandscore.tasks import find_task

DOCUMENTS, ANNOTATIONS, REQUIRED = 1_000, 20, 10
LABELS = ("AGE", "CONTACT", "DATE", "ID", "LOCATION", "NAME", "ORGANIZATION", "PROFESSION")
PHI = find_task("phi")

Side = list[list[dict[str, Any]]]


def corpus(rng: random.Random, documents: int) -> tuple[Side, Side]:
    """Gold in text order; predictions mostly right, some moved, mislabelled, cut in two or invented."""
    gold, predictions = [], []
    for _ in range(documents):
        offset, true, found = 0, [], []
        for _ in range(rng.randint(ANNOTATIONS - 5, ANNOTATIONS + 5)):
            offset += rng.randint(5, 60)
            length = rng.randint(2, 18)
            label = rng.choice(LABELS)
            true.append(annotation(offset, length, label))
            if rng.random() < 0.9:
                shift = rng.choice((0, 0, 0, 0, 1, 3))
                kind = label if rng.random() < 0.9 else rng.choice(LABELS)
                found.append(annotation(offset + shift, length, kind))
            if rng.random() < 0.03:
                found[-1:] = [annotation(offset, length // 2, label), annotation(offset + length // 2, length, label)]
            if rng.random() < 0.1:
                found.append(annotation(offset + length + 2, 3, rng.choice(LABELS)))
            offset += length
        gold.append(true)
        predictions.append(found)
    return gold, predictions


def annotation(start: int, length: int, label: str) -> dict[str, Any]:
    return {"start": start, "length": length, "text": "x" * length, "type": label}


def ours(given: ProfileInput) -> ProfileResult:
    return semeval.evaluate(given, {p.name: p.default for p in semeval.DEFINITION.parameters})


def theirs(gold: Side, predictions: Side) -> dict[str, Any]:
    found: dict[str, Any] = Evaluator(gold, predictions, tags=list(LABELS), loader="dict").evaluate()
    return found


def records(side: Side) -> list[dict[str, Any]]:
    """As our files hold them."""
    return [
        {"annotationSource": {"resourceSource": {"name": f"dataset/d/fhirStores/s/fhir/Note/{n}"}}}
        | {PHI.array: annotations}
        for n, annotations in enumerate(side)
    ]


def entities(side: Side) -> Side:
    """As nervaluate's dict loader takes them, the end being the last unit covered."""
    return [
        [{"label": a["type"], "start": a["start"], "end": a["start"] + a["length"] - 1} for a in document]
        for document in side
    ]


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = process_time()
    result = work()
    return result, process_time() - started


def run(documents: int) -> tuple[float, float]:
    """CPU seconds of theirs and of ours, which must agree."""
    gold, predictions = corpus(random.Random(20261118), documents)
    given = ProfileInput(PHI, None, records(gold), records(predictions))
    true, found = entities(gold), entities(predictions)
    mine, our_time = timed(lambda: ours(given))
    original, their_time = timed(lambda: theirs(true, found))
    for schema, row in original["overall"].items():
        if vars(row).items() - mine.measures[schema].items():
            raise SystemExit(f"the two disagree on {schema}")
    return their_time, our_time


def main() -> int:
    run(documents=10)
    their_time, our_time = run(DOCUMENTS)
    ratio = their_time / our_time
    print(f"nervaluate {their_time:.3f} s, ours {our_time:.3f} s: {ratio:.1f} times (required {REQUIRED})")
    return 0 if ratio >= REQUIRED else 1


if __name__ == "__main__":
    sys.exit(main())
