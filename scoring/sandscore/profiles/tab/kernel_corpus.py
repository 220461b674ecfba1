"""The benchmark's two files as they are written, read and counted by the compiled kernel, by the rules of 2022.

Whatever the kernel does not take, files with a mistake among it, is left to those who decode them.
"""

import re
import string
from ctypes import byref, sizeof
from functools import cache
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.kernel.kernel_library import (
    ENTITY_SLOTS,
    LONGER_WORD,
    NOT_PASSING,
    PASSING,
    QUOTE,
    TAKEN,
    WORD_SIGN,
    Key,
    TabAnnotator,
    TabCorpus,
    TabCounting,
    TabEntity,
    TabMask,
    TabMasked,
    TabMention,
    TabName,
    TabShare,
    TabText,
    address,
    kernel,
)
from sandscore.profiles.tab.stretch_cover import CHARACTERS, LENGTHENED, PLAIN_WORDS_2022, QUOTES
from sandscore.profiles.tab.tab_measures import MaskPrecision, Recalls, Share, Shares

_LARGEST = 1 << 30
_TEXT, _ANNOTATOR, _MENTION, _MASKED, _MASK = 48, 16, 64, 6, 6
"""Bytes that one takes in JSON at the least."""
_ASCII, _CODE_POINTS = 128, 0x110000
_WORD_SIGN, _LETTER = re.compile(r"\w"), re.compile("[a-z]", re.IGNORECASE)


class MaskCounts(Struct, frozen=True):
    """What the masks come to, and the texts that they are in."""

    recalls: Recalls
    tokens: MaskPrecision
    mentions: MaskPrecision
    names: tuple[str, ...]
    known: int
    read: int
    marked: int
    masks: int


def count_written(gold: memoryview, masks: memoryview) -> MaskCounts | None:
    """What the kernel makes of gold and masks; None where it does not take them, or there is none."""
    library = kernel()
    if library is None or not gold or not masks or len(gold) + len(masks) > _LARGEST:
        return None
    corpus, rooms = _corpus(len(gold), len(masks))
    for read, file in ((library.read_tab_gold, gold), (library.read_tab_masks, masks)):
        if read(address(file), len(file), byref(corpus)) != TAKEN:
            return None
    counting = TabCounting(word_count=len(PLAIN_WORDS_2022))
    longest, most = corpus.longest, corpus.most_mentions
    sizes = {"codes": longest, "lower": 2 * longest, "free": 2 * longest, "open": 4 * (longest + 1)}
    counted: dict[str, NDArray[Any]] = {
        "classes": _classes(library, corpus, rooms["texts"]),
        "words": np.frombuffer(b"".join(word.encode().ljust(8, b"\0") for word in PLAIN_WORDS_2022), np.uint64),
        **{name: np.empty(size + 1, np.uint8) for name, size in sizes.items()},
        **{name: np.empty(most * sizeof(Key) + 1, np.uint8) for name in ("keys", "spare")},
    }
    _tell(counting, counted)
    library.count_tab(byref(corpus), byref(counting))
    return _counts(corpus, counting, rooms)


def _corpus(gold: int, masks: int) -> tuple[TabCorpus, dict[str, NDArray[Any]]]:
    """Room for all that so many bytes of either can hold."""
    texts, mentions, masked = gold // _TEXT + 1, gold // _MENTION + 1, masks // _MASKED + 1
    limits = {
        "text_slot_room": 1 << (2 * texts).bit_length(),
        "text_room": texts,
        "annotator_room": gold // _ANNOTATOR + 1,
        "mention_room": mentions,
        "masked_room": masked,
        "mask_room": masks // _MASK + 1,
    }
    corpus = TabCorpus(**limits)
    sizes = {
        "texts": gold,
        "names": gold + masks,
        "text_names": texts * sizeof(TabName),
        "entity_names": mentions * sizeof(TabName),
        "text": texts * sizeof(TabText),
        "annotator": limits["annotator_room"] * sizeof(TabAnnotator),
        "mention": mentions * sizeof(TabMention),
        "entity": mentions * sizeof(TabEntity),
        "masked": masked * sizeof(TabMasked),
        "mask": limits["mask_room"] * sizeof(TabMask),
    }
    rooms: dict[str, NDArray[Any]] = {name: np.empty(size, np.uint8) for name, size in sizes.items()}
    rooms["seen"] = np.zeros(texts, np.uint8)
    rooms["text_slots"] = np.zeros(limits["text_slot_room"], np.uint32)
    rooms["entity_slots"] = np.zeros(ENTITY_SLOTS, np.uint32)
    _tell(corpus, rooms)
    return corpus, rooms


def _tell(structure: TabCorpus | TabCounting, rooms: dict[str, NDArray[Any]]) -> None:
    for name, room in rooms.items():
        setattr(structure, name, address(room))


@cache
def _ascii() -> NDArray[np.uint8]:
    return np.array([sign_class(chr(point)) for point in range(_ASCII)], np.uint8)


def _classes(library: Any, corpus: TabCorpus, texts: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """What each character of the texts is, by its number."""
    used = texts[: corpus.used]
    if not len(used) or used.max() < _ASCII:
        return _ascii()
    classes = np.zeros(_CODE_POINTS, np.uint8)
    library.meet_characters(byref(corpus), address(classes))
    met = np.flatnonzero(classes)
    classes[met] = [sign_class(chr(point)) for point in met.tolist()]
    classes[:_ASCII] = _ascii()
    return classes


def _counts(corpus: TabCorpus, counting: TabCounting, rooms: dict[str, NDArray[Any]]) -> MaskCounts:
    names = rooms["names"]
    kinds = {}
    for at in counting.kind_order[: counting.kinds_seen]:
        name = corpus.kind_names[at]
        kinds[str(names[name.begin : name.begin + name.size].data, "utf-8")] = at
    masked = str(names[corpus.masks_named : corpus.named - 1].data, "utf-8").split("\0")
    return MaskCounts(
        recalls=Recalls(
            entities=_parts(counting.entities),
            mentions=_parts(counting.mentions),
            words=_parts(counting.tokens),
            mentions_by_type={name: _share(counting.kind_mentions[at]) for name, at in kinds.items()},
            words_by_type={name: _share(counting.kind_tokens[at]) for name, at in kinds.items()},
        ),
        tokens=_precision(counting.mask_tokens),
        mentions=_precision(counting.mask_mentions),
        names=tuple(masked),
        known=corpus.texts_known,
        read=corpus.listed,
        marked=_marked(corpus, rooms),
        masks=corpus.masks,
    )


def _marked(corpus: TabCorpus, rooms: dict[str, NDArray[Any]]) -> int:
    """How many mentions the masked texts have."""
    masked = rooms["masked"].view(np.int64).reshape(-1, 3)[: corpus.masked_texts, 0]
    texts = rooms["text"].view(np.int64).reshape(-1, 5)[masked, 3:]
    before = np.concatenate(([0], rooms["annotator"].view(np.int64).reshape(-1, 4)[: corpus.annotators, 1].cumsum()))
    return int((before[texts.sum(1)] - before[texts[:, 0]]).sum())


def _precision(share: TabShare) -> MaskPrecision:
    return MaskPrecision(float(share.hits), float(share.total))


def _share(share: TabShare) -> Share:
    return Share(share.hits, share.total)


def _parts(shares: Any) -> Shares:
    quasi, direct = shares
    both = Share(quasi.hits + direct.hits, quasi.total + direct.total)
    return {"all": both, "direct": _share(direct), "quasi": _share(quasi)}


def sign_class(sign: str) -> int:
    """What a character is to release ``2022``, as the kernel is told: a letter of its words is that letter."""
    if sign == LENGTHENED:
        return LONGER_WORD
    if sign in CHARACTERS:
        return QUOTE if sign in QUOTES else PASSING
    if not _WORD_SIGN.match(sign):
        return NOT_PASSING
    lower = sign.lower()
    if not _LETTER.fullmatch(lower):
        return WORD_SIGN
    return next(ord(one) for one in string.ascii_lowercase if re.fullmatch(one, lower, re.IGNORECASE))
