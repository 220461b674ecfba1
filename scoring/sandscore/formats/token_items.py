"""Tokens that a model marked one by one, joined to the words they are parts of; and numbers that tables wrap.

A token says ``entity`` with ``B-``, ``I-``, ``E-`` or ``S-`` before its type, as Hugging Face's pipelines give them
without an aggregation.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

_TOKEN = re.compile(r"([BIES])-(.+)", re.DOTALL)
_PARTS = "tokens"
_NEAR = 100
"""How far from where it is said a word is looked for."""


def plain(value: Any) -> Any:
    """A value without the wrapping of numpy and pandas; None where nothing is there (None, NaN, NA)."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if type(value).__name__ in {"NAType", "NaTType"}:
        return None
    if not isinstance(value, float) and hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    return None if isinstance(value, float) and math.isnan(value) else value


def whole_number(value: Any) -> int | None:
    """The number, where it is a whole one; a table that lacks some has written the others as floats."""
    value = plain(value)
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) else None


def whole_words(spans: Iterable[Any]) -> tuple[list[Any], int]:
    """The spans with tokens of one word made one item, and how many tokens were joined to the one before."""
    words: list[Any] = []
    joined = 0
    for item in spans:
        marked = _TOKEN.fullmatch(item["entity"]) if _is_token(item) else None
        if marked is None:
            words.append(item)
        elif marked[1] in "IE" and words and _follows(words[-1], item, marked[2]):
            words[-1][_PARTS].append(item)
            joined += 1
        else:
            words.append({"entity_group": marked[2], "start": item.get("start"), _PARTS: [item]})
    return [_word(word) if isinstance(word, dict) and _PARTS in word else word for word in words], joined


def _is_token(item: Any) -> bool:
    return isinstance(item, Mapping) and isinstance(item.get("entity"), str) and item.get("entity_group") is None


def _follows(word: Any, item: Mapping[str, Any], kind: str) -> bool:
    """Whether a token goes on with this word: the next by number, else the next by place."""
    if not isinstance(word, dict) or _PARTS not in word or word["entity_group"] != kind:
        return False
    before = word[_PARTS][-1]
    last, here = whole_number(before.get("index")), whole_number(item.get("index"))
    if last is not None and here is not None:
        return here == last + 1
    end, start = whole_number(before.get("end")), whole_number(item.get("start"))
    return end is not None and start is not None and start - end <= 1


def _word(word: dict[str, Any]) -> dict[str, Any]:
    """The tokens of a word as one item: from the first to the last, with their mean score."""
    tokens = word.pop(_PARTS)
    word["end"] = tokens[-1].get("end")
    scores = [plain(token.get("score")) for token in tokens]
    if all(isinstance(score, int | float) for score in scores):
        word["score"] = sum(scores) / len(scores)
    if len(tokens) == 1 and "word" in tokens[0]:
        word["word"] = tokens[0]["word"]
    return word


def misplaced(word: Any, text: str, place: tuple[Any, Any]) -> str | None:
    """What the note calls a word that does not stand where it is said, if the note has it elsewhere; else None.

    Words come as tokenizers put them together again, without case, accents or blanks: those make no difference.
    """
    start, end = place
    if not isinstance(word, str) or type(start) is not int or type(end) is not int or not 0 <= start < end:
        return None
    if not word or _letters(word) == _letters(text[start:end]):
        return None
    low = text.lower()
    at = low.find(word.lower(), max(0, start - _NEAR), end + _NEAR) if len(low) == len(text) else text.find(word)
    return text[at : at + len(word)] if at >= 0 and len(word) == end - start else None


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text))).casefold()
