"""Our ``presidio`` profile beside presidio-evaluator 0.3.2 on 1,000 documents of about 50 tokens, CPU time, one run.

One token in eight is tagged, as in clinical notes.

Run: ``python benchmarks/peers_presidio.py`` (the first time it makes the original's environment). Both start
from tagged tokens and do both passes; the results are compared before the ratio is printed.
"""

import json
import random
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

from sandscore.measuring.profiles.presidio.evaluation import Options, evaluate_tags
from sandscore.measuring.profiles.presidio.spans import TaggedDocument

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS, REQUIRED = 1_000, 20


def theirs(given: list[dict[str, Any]]) -> dict[str, Any]:
    """The original's answer, with the CPU seconds it took without starting up."""
    ready = import_module("peer_env").ready
    script = ROOT / "tests" / "peers" / "presidio_original.py"
    request = json.dumps({"documents": given, "runs": [{}]})
    done = subprocess.run(
        [str(ready("presidio")), str(script)], input=request, capture_output=True, text=True, check=True
    )
    answer: dict[str, Any] = json.loads(done.stdout)["runs"][0]
    return answer


def main() -> int:
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]
    corpus = import_module("peers.presidio_corpus")
    given = corpus.documents(random.Random(20261118), DOCUMENTS, words=50, tagged=0.12, noise=0.04)
    tagged = [TaggedDocument(str(i), d["tokens"], d["starts"], d["gold"], d["predicted"]) for i, d in enumerate(given)]
    answer = theirs(given)
    started = process_time()
    found = evaluate_tags(tagged, Options())
    seconds = process_time() - started
    labels, rows = found.matrix()
    if [answer["labels"], answer["rows"]] != [labels, rows] or len(answer["errors"]) != len(found.errors):
        raise SystemExit("the two disagree")
    ratio = answer["seconds"] / seconds
    print(
        f"presidio-evaluator {answer['seconds']:.2f} s, ours {seconds:.2f} s: {ratio:.0f} times (required {REQUIRED})"
    )
    return 0 if ratio >= REQUIRED else 1


if __name__ == "__main__":
    sys.exit(main())
