"""Runs nlpsandbox-client in its own environment: a JSON request on standard input, its answers on standard output.

Not imported by any test. Each case is a task and two files; the answer is the client's output and the CPU
seconds it took from opening the files, or the exception it died of.
"""

import contextlib
import io
import json
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

CLASSES = {
    "date": "DateEvaluation",
    "person-name": "PersonNameEvaluation",
    "location": "LocationEvaluation",
    "id": "IdEvaluation",
    "contact": "ContactEvaluation",
}


def main() -> None:
    request = json.load(sys.stdin)
    with TemporaryDirectory() as folder:
        answers = [answer(case, Path(folder)) for case in request["cases"]]
    json.dump(answers, sys.stdout)


def answer(case: dict[str, Any], folder: Path) -> dict[str, Any]:
    files = {role: folder / f"{role}.json" for role in ("predictions", "gold")}
    for role, file in files.items():
        file.write_text(json.dumps(case[role]), encoding="utf-8")
    evaluation = getattr(import_module("nlpsandboxclient.evaluation"), CLASSES[case["task"]])()
    printed = io.StringIO()
    started = process_time()
    try:
        with contextlib.redirect_stdout(printed):
            evaluation.convert_dict(str(files["predictions"]), str(files["gold"]))
            output = evaluation.eval()
    except Exception as death:
        return {"error": f"{type(death).__name__}: {death}"}
    return {"seconds": process_time() - started, "output": output, "printed": printed.getvalue()}


if __name__ == "__main__":
    main()
