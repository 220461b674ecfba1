"""Runs neleval in its own environment: a JSON request on standard input, its answers on standard output.

Not imported by any test. Each case is two lists of lines and the fields to group by; the answer is the rows and
the CPU seconds from opening the files. neleval was written for interpreters whose ``collections`` still had the
abstract classes, so they are put back before it is imported.
"""

import collections
import json
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any


def main() -> None:
    for name in ("Sequence", "Mapping", "Iterable", "Callable"):
        setattr(collections, name, getattr(collections.abc, name))
    request = json.load(sys.stdin)
    with TemporaryDirectory() as folder:
        answers = [answer(case, Path(folder)) for case in request["cases"]]
    json.dump(answers, sys.stdout)


def answer(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    files = {role: folder / f"{role}.tab" for role in ("gold", "predictions")}
    for role, file in files.items():
        file.write_text("".join(f"{line}\n" for line in case[role]), encoding="utf-8")
    evaluate = import_module("neleval.evaluate").Evaluate
    started = process_time()
    rows = evaluate(
        str(files["predictions"]),
        gold=str(files["gold"]),
        measures=case["measures"],
        group_by=case.get("by"),
        fmt=lambda _, results: results,
    )()
    return {"seconds": process_time() - started, "rows": rows}


if __name__ == "__main__":
    main()
