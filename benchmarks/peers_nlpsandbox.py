"""Our ``nlpsandbox-client`` profile beside nlpsandbox-client 4.3.0, from two files to the printed numbers.

Run: ``python benchmarks/peers_nlpsandbox.py`` (the first time it makes the original's environment).
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import corpus
from beside import Beside, Round, measured, must_agree, original, report, timed

from sandscore.measuring.profiles import nlpsandbox_client
from sandscore.measuring.profiles.decoding import decoded
from sandscore.measuring.profiles.result import ProfileInput, ProfileResult
from sandscore.tasks import find_task

REQUIRED = 20
LOCATION = find_task("location")


def ours(files: dict[str, Path]) -> ProfileResult:
    gold, predictions = (decoded(files[role].read_bytes()) for role in ("gold", "predictions"))
    given = ProfileInput(LOCATION, None, gold, predictions)
    return nlpsandbox_client.evaluate(given, {"release": "4.3.0"})


def as_locations(file: Path) -> Any:
    """The address corpus under the names that this release knows; the file is rewritten."""
    text = file.read_text(encoding="utf-8").replace("textPhysicalAddressAnnotations", LOCATION.array)
    file.write_text(text.replace("addressType", str(LOCATION.label)), encoding="utf-8")
    return json.loads(file.read_bytes())


def compare(documents: int = 1_000, rounds: int = 3) -> list[Beside]:
    with TemporaryDirectory() as folder:
        files = corpus.write(Path(folder), documents)
        case = {"task": "location"} | {role: as_locations(files[role]) for role in ("gold", "predictions")}
        ours(files)
        return [
            measured(
                "nlpsandbox-client 4.3.0",
                f"{documents:,} notes of 20, files read",
                REQUIRED,
                [one_round(files, case) for _ in range(rounds)],
            )
        ]


def one_round(files: dict[str, Path], case: dict[str, Any]) -> Round:
    (answer,) = original("nlpsandbox-client", "tests/peers/nlpsandbox_original.py", {"cases": [case]})
    found, seconds = timed(lambda: ours(files))
    must_agree("the output", answer["output"], found.details)
    return Round(answer["seconds"], seconds)


if __name__ == "__main__":
    sys.exit(report(compare()))
