"""Text to tokens, as the English tokeniser cuts it that the original takes its tokens from.

White space is a token wherever it is more than the one blank between two words. Of a word, punctuation
is taken off both ends and then, between letters or digits, out of its middle. These are the rules for
ordinary English; the original's list of several hundred exceptions is cut down to what clinical notes
hold. ``library_tokens`` asks the original's own library instead, where that is installed.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module
from operator import add
from typing import Any

from msgspec import Struct

from sandscore.base.errors import UsageFault

_OPENING = re.compile(r"[\"'`‘’“”«»()\[\]{}<>*&,;:!?…_#§%=—–$£€¥|¿¡]|\.\.+|\+(?!\d)|[^\w\s\x00-\x7f]")
_CLOSING = re.compile(
    r"(?:\):|['’][sS]|\.\.+|[\"'`‘’“”«»()\[\]{}<>*&,;:!?…_#—–|]|(?<=\d)[+$£€¥%]|(?<=\d)°[FfCc]?"
    r"|(?<=[a-zß-ÿ\d%²+\-)\]\"'’”])\.|(?<=[A-Z]{2})\.|%|[^\w\s\x00-\x7f])$"
)
_UNIT = re.compile(
    r"(?<=\d)(?:km|[cmdµn]?m|ha|[kmµ]?g|lb|oz|[kc]m/?s|m/s|mph|hPa|Pa|mbar|mb|MB|kb|KB|gb|GB|tb|TB|T|G|M|K)$"
)
_CLOCK = re.compile(r"(\d{1,2})((?:am|pm|a\.m\.|p\.m\.))", re.ASCII)
_MIDDLE = re.compile(
    r"\.\.+|[…☀-➿🀀-🫿]|(?<=\d)[+\-*^](?=[\d-])|(?<=[a-zß-ÿ\"'’”])\.(?=[A-ZÀ-Þ\"'‘“])|(?<=[^\W\d_]),(?=[^\W\d_])"
    r"|(?<=[^\W_])(?:-|–|—|--|---|~)(?=[^\W\d_])|(?<=[^\W_])[:<>=/](?=[^\W\d_])"
)
_SHORTENED = re.compile(
    r"((?:i|you|he|she|it|we|they|who|what|when|where|why|how|there|that|this)(?=['’]))"
    r"(['’](?:ll|re|ve|d|m))"
    r"|((?:do|does|did|is|are|was|were|has|have|had|ca|could|would|should|might|must|need|wo))(n['’]t)"
    r"|(can)(not)|(got)(ta)|(gon)(na)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:https?://|www\.)\S*[\w/]", re.ASCII)
_ABBREVIATION = re.compile(
    r"(?:Mr|Mrs|Ms|Dr|Drs|Prof|St|Mt|Jr|Sr|Rev|Gen|Gov|Rep|Sen|Co|Corp|Inc|Ltd|Bros|vs|v\.s|e\.g|i\.e|"
    r"E\.g|I\.e|a\.m|p\.m|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|Ph\.D|Adm|Ala|Ariz|Ark|"
    r"Calif|Colo|Conn|Del|D\.C|Fla|Ga|Ia|Id|Ill|Ind|Kan|Kans|Ky|La|Mass|Md|Mich|Minn|Miss|Mo|Mont|"
    r"N\.C|N\.D|N\.H|N\.J|N\.M|N\.Y|Neb|Nebr|Nev|Okla|Ore|Pa|S\.C|Tenn|Va|Wash|Wis|U\.S|o\.k)\."
)


_RUN = re.compile(r"(\S+) ?|\s+")
_WORDS_KEPT = 1 << 16


class TextTokens(Struct, frozen=True):
    """The pieces of a text in order, and where each starts."""

    words: list[str]
    starts: list[int]

    @property
    def ends(self) -> list[int]:
        """Where each is over."""
        return list(map(add, self.starts, map(len, self.words)))


def tokens_of(text: str) -> TextTokens:
    """The text's tokens in order."""
    words: list[str] = []
    starts: list[int] = []
    for run in _RUN.finditer(text):
        word, start = run[1], run.start()
        if word is None:
            words.append(run[0])
            starts.append(start)
            continue
        pieces, begins = _pieces(word)
        words += pieces
        starts += [start + begin for begin in begins] if len(begins) > 1 else (start,)
    return TextTokens(words, starts)


@lru_cache(maxsize=_WORDS_KEPT)
def _pieces(word: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """What a word is cut into, and where in it; the same words come again and again."""
    cuts = [*_word(word)]
    return tuple(word[first:last] for first, last in cuts), tuple(first for first, _ in cuts)


def library_tokens(text: str) -> TextTokens:
    """The tokens of spaCy's English tokeniser."""
    found = [*_library()(text)]
    return TextTokens([token.text for token in found], [token.idx for token in found])


@cache
def _library() -> Any:
    try:
        english = import_module("spacy.lang.en")
    except ImportError:
        raise UsageFault("tokens=spacy needs the package spacy, which is not installed") from None
    return english.English().tokenizer


def _word(word: str) -> Iterator[tuple[int, int]]:
    """Where a word without white space is cut: its opening marks, its middle, its closing marks."""
    first, last = 0, len(word)
    closing: list[tuple[int, int]] = []
    while first < last and not _whole(word[first:last]):
        opened = _OPENING.match(word, first, last)
        if opened:
            yield opened.span()
            first = opened.end()
            continue
        closed = _CLOSING.search(word[first:last]) or _UNIT.search(word[first:last])
        if not closed:
            break
        closing.append((first + closed.start(), last))
        last = first + closed.start()
    yield from ((first + a, first + b) for a, b in _middle(word[first:last]))
    yield from reversed(closing)


def _whole(piece: str) -> bool:
    return bool(
        _ABBREVIATION.fullmatch(piece)
        or _SHORTENED.fullmatch(piece)
        or _CLOCK.fullmatch(piece)
        or _ADDRESS.fullmatch(piece)
    )


def _middle(piece: str) -> Iterator[tuple[int, int]]:
    split = _SHORTENED.fullmatch(piece) or _CLOCK.fullmatch(piece)
    if split:
        yield from (split.span(i) for i in range(1, split.re.groups + 1) if split[i])
        return
    if not piece or _ABBREVIATION.fullmatch(piece) or _ADDRESS.fullmatch(piece):
        if piece:
            yield 0, len(piece)
        return
    at = 0
    for mark in _MIDDLE.finditer(piece):
        if mark.start() > at:
            yield at, mark.start()
        yield mark.span()
        at = mark.end()
    if at < len(piece):
        yield at, len(piece)
