"""Runs nervaluate in its own environment: a JSON request on standard input, its answer on standard output."""

import json
import sys
from importlib import import_module
from time import process_time


def main() -> None:
    request = json.load(sys.stdin)
    evaluator = import_module("nervaluate.evaluator").Evaluator
    sides = request["gold"], request["predictions"]
    evaluator(*(side[:10] for side in sides), tags=request["tags"], loader="dict").evaluate()
    started = process_time()
    found = evaluator(*sides, tags=request["tags"], loader="dict").evaluate()
    seconds = process_time() - started
    overall = {schema: vars(row) for schema, row in found["overall"].items()}
    json.dump({"seconds": seconds, "overall": overall}, sys.stdout)


if __name__ == "__main__":
    main()
