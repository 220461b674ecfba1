"""Your annotator: a Hugging Face model for token classification, as ONNX in the folder ``model``."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

TYPES: tuple[str, ...] = ("FOUND",)
"""Of the types that the model finds, those that count here; B- and I- are left out."""
LABELS: dict[str, str] = {"dateFormat": "MM/DD/YYYY"}
WINDOW, OVERLAP = 512, 64
"""Tokens that the model reads at once, and how many of them it reads again at the beginning of the next."""


class Model:
    """Weights, tokenizer and the names of labels, read once."""

    def __init__(self, folder: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
        self._wanted = {one.name for one in self._session.get_inputs()}
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(WINDOW, stride=OVERLAP)
        names = json.loads((folder / "config.json").read_text(encoding="utf-8"))["id2label"]
        self._names = [names[str(number)] for number in range(len(names))]

    def tokens(self, text: str) -> list[tuple[int, int, str, float]]:
        """Start, end, label and score of each token; of one that two windows hold, as the one sees it that has more
        around it."""
        best: dict[tuple[int, int], tuple[int, str, float]] = {}
        whole = self._tokenizer.encode(text)
        for window in (whole, *whole.overflowing):
            if not window.ids:
                continue
            fed = {"input_ids": window.ids, "attention_mask": window.attention_mask, "token_type_ids": window.type_ids}
            arrays = {name: np.array([values], dtype=np.int64) for name, values in fed.items() if name in self._wanted}
            logits = np.asarray(self._session.run(["logits"], arrays)[0])[0]
            shares = np.exp(logits - logits.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            for place, (start, end) in enumerate(window.offsets):
                around = min(place, len(window.ids) - 1 - place)
                if window.special_tokens_mask[place] or start == end or best.get((start, end), (-1,))[0] >= around:
                    continue
                label = int(shares[place].argmax())
                best[start, end] = (around, self._names[label], float(shares[place, label]))
        return [(*span, label, score) for span, (_, label, score) in sorted(best.items())]


MODEL = Model(Path(__file__).parent / "model")


def annotate(text: str) -> list[dict[str, object]]:
    """Offsets count characters of the note; ``text`` is exactly what stands there."""
    tokens = [token for token in MODEL.tokens(text) if token[2].rpartition("-")[2] in TYPES]
    begins = [
        not (label.startswith("I-") and label[2:] == before.rpartition("-")[2] and not text[end:start].strip())
        for (_, end, before, _), (start, _, label, _) in pairwise(tokens)
    ]
    spans: list[list[tuple[int, int, str, float]]] = []
    for token, new in zip(tokens, [True, *begins], strict=False):
        if new:
            spans.append([])
        spans[-1].append(token)
    return [_annotation(text, span[0][0], span[-1][1], min(score for *_, score in span)) for span in spans]


def _annotation(text: str, start: int, end: int, score: float) -> dict[str, object]:
    confidence = round(100 * score, 3)
    return {"start": start, "length": end - start, "text": text[start:end], "confidence": confidence, **LABELS}
