"""Our ``semeval`` profile beside nervaluate 1.2.1: four schemas, overall and per type, with the indices.

Run: ``python benchmarks/peers_nervaluate.py`` (the first time it makes the original's environment). Both start
from decoded data.
"""

import random
import sys
from typing import Any

from beside import Beside, Round, measured, must_agree, original, report, timed

from sandscore.profiles.profile import ProfileInput, ProfileResult
from sandscore.profiles.semeval import semeval_profile
from sandscore.task_table.task import find_task

ANNOTATIONS, REQUIRED = 20, 10
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
    return semeval_profile.evaluate(given, {p.name: p.default for p in semeval_profile.NervaluateScorer.parameters})


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


def compare(documents: int = 1_000, rounds: int = 3) -> list[Beside]:
    gold, predictions = corpus(random.Random(20261118), documents)
    given = ProfileInput(PHI, None, records(gold), records(predictions))
    request = {"gold": entities(gold), "predictions": entities(predictions), "tags": LABELS}
    ours(ProfileInput(PHI, None, given.gold[:10], given.predictions[:10]))
    return [
        measured(
            "nervaluate 1.2.1",
            f"{documents:,} notes of {ANNOTATIONS}, decoded",
            REQUIRED,
            [one_round(given, request) for _ in range(rounds)],
        )
    ]


def one_round(given: ProfileInput, request: dict[str, Any]) -> Round:
    answer = original("nervaluate", "benchmarks/nervaluate_original.py", request)
    found, seconds = timed(lambda: ours(given))
    for schema, row in answer["overall"].items():
        must_agree(schema, row, {name: found.measures[schema][name] for name in row})
    return Round(answer["seconds"], seconds)


if __name__ == "__main__":
    sys.exit(report(compare()))
