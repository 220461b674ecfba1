"""Our ``neleval`` profile beside neleval 3.1.1: all twelve measures, from files to rows.

Run: ``python benchmarks/peers_neleval.py`` (the first time it makes the original's environment).
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import corpus
from beside import Beside, Round, measured, must_agree, original, report, timed

from sandscore.original_scores.profile_cards import decoded
from sandscore.profiles.neleval import neleval_profile
from sandscore.profiles.profile import ProfileInput, ProfileResult
from sandscore.task_table.task import find_task

REQUIRED = 20
ADDRESS = find_task("address")
COLUMNS = {"precis": "precision"}


def ours(files: dict[str, Path]) -> ProfileResult:
    gold, predictions = (decoded(files[role].read_bytes()) for role in ("gold", "predictions"))
    return neleval_profile.evaluate(
        ProfileInput(ADDRESS, None, gold, predictions),
        {p.name: p.default for p in neleval_profile.NelevalScorer.parameters},
    )


def lines(records: Iterable[dict[str, Any]]) -> list[str]:
    """As neleval reads them; the end is the last character covered."""
    return [
        f"{record['annotationSource']['resourceSource']['name'].rpartition('/')[2]}\t{a['start']}"
        f"\t{a['start'] + a['length'] - 1}\tNIL\t1.0\t{a['addressType']}"
        for record in records
        for a in record[ADDRESS.array]
    ]


def compare(documents: int = 1_000, rounds: int = 3) -> list[Beside]:
    with TemporaryDirectory() as folder:
        files = corpus.write(Path(folder), documents)
        case = {role: lines(json.loads(files[role].read_bytes())) for role in ("gold", "predictions")}
        return [
            measured(
                "neleval 3.1.1",
                f"{documents:,} notes of 20, files read",
                REQUIRED,
                [one_round(files, case) for _ in range(rounds)],
            )
        ]


def one_round(files: dict[str, Path], case: dict[str, list[str]]) -> Round:
    found, seconds = timed(lambda: ours(files))
    rows = {
        name: {COLUMNS.get(column, column): value for column, value in row.items()}
        for name, row in found.details["rows"].items()
    }
    request = {"cases": [case | {"measures": list(rows)}]}
    (answer,) = original("neleval", "tests/peers/neleval_original.py", request)
    must_agree("the rows", answer["rows"], rows)
    return Round(answer["seconds"], seconds)


if __name__ == "__main__":
    sys.exit(report(compare()))
