"""Our ``nlpsandbox-client`` profile, and our own measures, beside nlpsandbox-client 4.3.0: two files to numbers.

The profile decodes the two files, or, as every scoring with notes does, reads all three into columns and checks every
text on the way. Our own measures answer the same question by other rules, with every text looked up in its note; so
there it is the price of an answer that is compared, not the answer.

Run: ``python benchmarks/peers_nlpsandbox.py [DOCUMENTS]`` (the first time it makes the original's environment).
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import corpus
from beside import Beside, Round, measured, must_agree, original, report, timed

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.original_scores.profile_cards import decoded
from sandscore.profiles.nlpsandbox import nlpsandbox_profile
from sandscore.profiles.profile import ProfileInput, ProfileResult
from sandscore.records.scorecard import Scorecard
from sandscore.scoring.card_building import Question, score
from sandscore.task_table.task import find_task

REQUIRED = {"profile": 20, "profile on columns": 40, "own measures": 60}
LOCATION = find_task("location")


def ours(files: dict[str, Path]) -> ProfileResult:
    gold, predictions = (decoded(files[role].read_bytes()) for role in ("gold", "predictions"))
    given = ProfileInput(LOCATION, None, gold, predictions)
    return nlpsandbox_profile.evaluate(given, {"release": "4.3.0"})


def on_columns(files: dict[str, Path]) -> ProfileResult:
    loaded = load_files(LOCATION, Inputs(files["gold"], files["predictions"], files["notes"]), want_hashes=False)
    found = nlpsandbox_profile.evaluate_columns(LOCATION, loaded, {"release": "4.3.0"})
    if found is None:
        raise SystemExit("these files were not scored on columns")
    return found


def own_measures(files: dict[str, Path]) -> Scorecard:
    inputs = Inputs(files["gold"], files["predictions"], files["notes"])
    loaded = load_files(LOCATION, inputs, want_hashes=False)
    loaded.sha256.update(gold="", predictions="")
    return score(Question(LOCATION, (), load_hipaa_map()), loaded)


def as_locations(file: Path) -> Any:
    """The address corpus under the names that this release knows; the file is rewritten."""
    text = file.read_text(encoding="utf-8").replace("textPhysicalAddressAnnotations", LOCATION.array)
    file.write_text(text.replace("addressType", str(LOCATION.label)), encoding="utf-8")
    return json.loads(file.read_bytes())


def compare(documents: int = 10_000, rounds: int = 3) -> list[Beside]:
    with TemporaryDirectory() as folder:
        files = corpus.write(Path(folder), documents)
        case = {"task": "location"} | {role: as_locations(files[role]) for role in ("gold", "predictions")}
        ours(files)
        on_columns(files)
        own_measures(files)
        found = [one_round(files, case) for _ in range(rounds)]
        corpus_name = f"{documents:,} notes of 20, files read, "
        return [
            measured("nlpsandbox-client 4.3.0", corpus_name + kind, REQUIRED[kind], [row[kind] for row in found])
            for kind in REQUIRED
        ]


def one_round(files: dict[str, Path], case: dict[str, Any]) -> dict[str, Round]:
    (answer,) = original("nlpsandbox-client", "tests/peers/nlpsandbox_original.py", {"cases": [case]})
    decoding, columns = timed(lambda: ours(files)), timed(lambda: on_columns(files))
    for found, _ in (decoding, columns):
        must_agree("the output", answer["output"], found.details)
    spent = {"profile": decoding, "profile on columns": columns, "own measures": timed(lambda: own_measures(files))}
    return {kind: Round(answer["seconds"], seconds) for kind, (_, seconds) in spent.items()}


if __name__ == "__main__":
    sys.exit(report(compare(*map(int, sys.argv[1:]))))
