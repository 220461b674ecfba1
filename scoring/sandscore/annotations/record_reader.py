"""A file record by record: whole blocks are offered first, single records next, and what is left is explained."""

import gc
import mmap
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any, Protocol

from sandscore.annotations.decoder import Decoder
from sandscore.annotations.json_blocks import (
    JsonBlock,
    WholeJson,
    array_blocks,
    form_of,
    items,
    line_blocks,
    lines,
    rest_from,
    sure_blocks,
    trimmed,
)
from sandscore.annotations.record_bounds import Bounds
from sandscore.base.byte_sources import forget
from sandscore.base.strict_json import JsonFault

Progress = Callable[[int], object]
Decode = Callable[[memoryview], list[Any] | None]
Split = Callable[[JsonBlock], Iterator[Bounds]]


def quiet(_: int) -> None:
    """Progress nobody looks at."""


class AtOnce(Protocol):
    """Takes a block of records whole, if it can."""

    def __call__(self, data: memoryview, number: int, *, lines: bool) -> int:
        """How many records were taken; 0 where the block must be decoded. ``lines``: one stands on each line."""


def never(data: memoryview, number: int, *, lines: bool) -> int:
    """Takes no block whole."""
    return 0


class Taker(Protocol):
    """What is done with the records of a file, in order; ``number`` counts them from 0."""

    def accept(self, records: list[Any], data: memoryview, number: int) -> bool:
        """Take quickly decoded records; False, with nothing done, where their bytes hold more than was decoded."""

    def explain(self, item: JsonBlock, whole: WholeJson, number: int) -> None:
        """Take one record that was refused, or say what is wrong with it."""

    shortest: int = 0
    """Fewer bytes than these hold no record."""

    def enough(self) -> bool:
        """Whether so many records were wrong that no other is explained."""
        return False

    def count(self, refused: int) -> None:
        """Take note of so many further records that are wrong."""
        return


@contextmanager
def collector_paused() -> Iterator[None]:
    """Decoding makes many objects and no cycles; the cyclic collector would look at them again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def walk(
    data: memoryview,
    decoder: Decoder,
    first_keys: tuple[str, ...],
    taker: Taker,
    progress: Progress = quiet,
    at_once: AtOnce = never,
) -> None:
    """Offer every record of the file to the taker; JsonFault, in lines and columns, where the file breaks."""
    walker = _Walker(data, decoder, taker, progress, at_once)
    with collector_paused():
        form = form_of(data)
        if form == "single":
            taker.explain(JsonBlock(data, 0), WholeJson(data), 0)
        elif form == "lines":
            for block in line_blocks(data):
                walker.quickly(block, decoder.lines, lines)
        else:
            walker.array(first_keys)


class _Walker:
    def __init__(self, data: memoryview, decoder: Decoder, taker: Taker, progress: Progress, at_once: AtOnce) -> None:
        self._at_once = at_once
        self._data, self._decoder, self._taker, self._progress = data, decoder, taker, progress
        self._whole = WholeJson(data)
        self._number = self._forgotten = 0

    def array(self, first_keys: tuple[str, ...]) -> None:
        with closing(array_blocks(self._data, first_keys)) as blocks:
            for block in blocks:
                try:
                    self.quickly(block, self._decoder.array, items)
                except JsonFault:
                    self._all_the_rest(rest_from(block, self._data))
                    return

    def _all_the_rest(self, rest: JsonBlock) -> None:
        try:
            with closing(sure_blocks(rest)) as blocks:
                for block in blocks:
                    self.quickly(block, self._decoder.array, items)
        except JsonFault as fault:
            raise self._whole.fault(fault.what, rest.offset + fault.offset) from None

    def quickly(self, block: JsonBlock, decode: Decode, split: Split) -> None:
        """Take a block, whole if that can be."""
        taken = self._at_once(block.data, self._number, lines=split is lines)
        if taken:
            self._number += taken
            self._done(block)
        else:
            self.block(block, decode, split)

    def block(self, block: JsonBlock, decode: Decode, split: Split) -> None:
        """Take a block; JsonFault, told from the block's beginning, where it cannot even be cut into records."""
        records = decode(block.data)
        if records is not None and self._taker.accept(records, block.data, self._number):
            self._number += len(records)
        else:
            for bounds in split(block):
                self._each(block, bounds)
        self._done(block)

    def _each(self, block: JsonBlock, bounds: Bounds) -> None:
        for place, (begin, end) in enumerate(zip(bounds.begins.tolist(), bounds.ends.tolist(), strict=True)):
            if self._taker.enough():
                self._count(block, bounds.since(place))
                return
            item = trimmed(block.data, begin, end)
            if not self._right(item.data, self._number):
                self._taker.explain(JsonBlock(item.data, block.offset + item.offset), self._whole, self._number)
            self._number += 1

    def _right(self, data: memoryview, number: int) -> bool:
        """Take a record, if it can be taken as it is."""
        record = self._decoder.one(data)
        return record is not None and self._taker.accept([record], data, number)

    def _count(self, block: JsonBlock, bounds: Bounds) -> None:
        """Take the records that are right; most of the others are too short for one."""
        long, first = bounds.longer(self._taker.shortest), self._number
        right = sum(self._right(block.data[begin:end], first + place) for place, begin, end in long)
        self._taker.count(len(bounds) - right)
        self._number += len(bounds)

    def _done(self, block: JsonBlock) -> None:
        self._progress(len(block.data))
        done = max(self._forgotten, (block.offset + len(block.data)) // mmap.PAGESIZE * mmap.PAGESIZE - mmap.PAGESIZE)
        forget(self._data, self._forgotten, done)
        self._forgotten = done
