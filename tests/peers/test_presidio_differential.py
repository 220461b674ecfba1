"""Beside the original itself, on random documents: presidio-evaluator 0.3.2 and the tokeniser it takes tokens from.

The original lives in an environment of its own, which ``tools/peer_env.py`` makes where it is missing.
"""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import astuple
from peers.presidio_cases import as_listed, options_of
from peers.presidio_corpus import TYPES, documents

from sandscore.base.bundled_content import example_gold
from sandscore.profiles.presidio.presidio_evaluation import Score, SpanEvaluation, evaluate_tags
from sandscore.profiles.presidio.presidio_profile import printed
from sandscore.profiles.presidio.presidio_spans import ScoredSpan, TaggedDocument, tag
from sandscore.profiles.presidio.presidio_tokens import tokens_of

pytestmark = pytest.mark.peer

ROOT = Path(__file__).resolve().parents[2]
SEED = 20261118
RUNS: tuple[dict[str, Any], ...] = (
    {},
    {"iou_threshold": 0.5, "skip_words": []},
    {"iou_threshold": 0.0, "beta": 1},
    {"iou_threshold": 1.0, "skip_words": ["the", "of", "\n", ""]},
    {"char_based": False, "iou_threshold": 0.6, "beta": 0.5},
    {"char_based": False, "iou_threshold": 0.3, "skip_words": []},
)


def random_spans(rng: random.Random, number: int) -> list[dict[str, Any]]:
    """Up to six spans that overlap, touch, are empty or run past the end of a text."""
    text = "Anna Maria (Lopez)  saw Dr. O'Neil at St. Mary's on 3/4/21, twice."
    return [
        {"text": text, "spans": [random_span(rng, len(text)) for _ in range(rng.randint(0, 6))]} for _ in range(number)
    ]


def random_span(rng: random.Random, size: int) -> dict[str, Any]:
    start = rng.randint(0, size)
    return {
        "start": start,
        "end": start + rng.randint(0, 20),
        "type": rng.choice(TYPES),
        "score": rng.choice((0.4, 0.5, 0.85)),
    }


DOCUMENTS = documents(random.Random(SEED), 200)
SPANS = random_spans(random.Random(SEED), 500)
TEXTS = [note["text"] for note in json.loads((example_gold() / "notes.json").read_text(encoding="utf-8"))]


def original_python() -> str:
    """The interpreter that has the original; made ready first."""
    made = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "peer_env.py"), "presidio"], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    """What the original says to everything asked below, in one go: starting it takes seconds."""
    request = {"documents": DOCUMENTS, "runs": RUNS, "spans": SPANS, "texts": TEXTS}
    script = str(Path(__file__).with_name("presidio_original.py"))
    finished = subprocess.run(
        [original_python(), script], input=json.dumps(request), capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr
    answer: dict[str, Any] = json.loads(finished.stdout)
    return answer


def tagged(given: list[dict[str, Any]]) -> list[TaggedDocument]:
    return [TaggedDocument(str(i), d["tokens"], d["starts"], d["gold"], d["predicted"]) for i, d in enumerate(given)]


def test_random_documents_score_the_same(answers: dict[str, Any]) -> None:
    for params, answer in zip(RUNS, answers["runs"], strict=True):
        options = options_of(params, "0.3.2")
        found = evaluate_tags(tagged(DOCUMENTS), options)
        ours = as_answered(found, options.release) | {"printed": printed(found, options)}
        assert ours == {name: answer[name] for name in ours}, params


def as_answered(found: SpanEvaluation, release: str) -> dict[str, Any]:
    labels, rows = found.matrix()
    return {
        "per_type": {name: row(score) for name, score in found.per_type.items()},
        "pii": row(found.pii),
        "labels": labels,
        "rows": rows,
        "errors": [list(as_listed(error, release).values()) for error in found.errors],
    }


def row(score: Score) -> list[Any]:
    return [*astuple(score.counts), score.precision, score.recall, score.f_beta]


def test_random_spans_become_the_same_tags(answers: dict[str, Any]) -> None:
    for one, answer in zip(SPANS, answers["tags"], strict=True):
        spans = [ScoredSpan(s["start"], s["end"], s["type"], s["score"]) for s in one["spans"]]
        assert tag(tokens_of(one["text"]), spans) == answer, one


def test_the_example_notes_are_cut_into_the_same_tokens(answers: dict[str, Any]) -> None:
    for text, answer in zip(TEXTS, answers["tokens"], strict=True):
        found = tokens_of(text)
        assert [[*token] for token in zip(found.words, found.starts, strict=True)] == answer
