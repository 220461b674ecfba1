"""The compiled kernel, if there is one: its structures and functions as ``kernel.h`` has them.

``kernel.h`` declares the structures; those here are compared with it, size by size and offset by offset, before a call.
"""

import os
from ctypes import (
    CDLL,
    POINTER,
    Structure,
    addressof,
    c_char,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
    sizeof,
)
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

from sandscore.base.arrays import Values, np

TAKEN, UNKNOWN_LABEL, UNKNOWN_SECOND = 0, 1, 2
PROPERTIES = 6
MARK_EVERY = 256
BY_TOKEN, BY_SPAN, BY_LABEL = 0, 1, 2
MEASURES, WHOLE_LEVELS, GROUPINGS = 16, 101, 3
SUMMED_COLUMNS = 32
AREA_BITS = 43
CURVE_ROW = 80
SUMMED_WORDS, SUMMED_ROWS = 509, 257
TAB_KINDS, KIND_SLOTS, ENTITY_SLOTS = 128, 512, 1 << 13
NOT_PASSING, PASSING, QUOTE, LONGER_WORD, WORD_SIGN = range(5)
CELL_LIMITS, REPORT_HEAD, REPORT_PARTS = 4, 7, 13
_ROW_COLUMNS = (
    *("start", "length", "label", "confidence", "text", "written", "words", "begin", "size", "per_record"),
    *("names", "decoded"),
)
_SPELLINGS, _SLOTS, _POOL = 256, 1024, 1 << 14
MOST_SPELT = _POOL + _SPELLINGS
"""Bytes of all labels that can be learnt, a zero behind each."""


class Spellings(Structure):
    """Labels by spelling."""

    _fields_ = (
        ("count", c_int32),
        ("growing", c_int32),
        ("codes", c_int32 * _SPELLINGS),
        ("begins", c_int32 * (_SPELLINGS + 1)),
        ("slots", c_uint16 * _SLOTS),
        ("pool", c_uint8 * _POOL),
    )


class KernelForm(Structure):
    """How a task writes its annotations."""

    _fields_ = (
        ("array", c_char_p),
        ("names", c_char_p * PROPERTIES),
        ("array_size", c_int64),
        ("sizes", c_int64 * PROPERTIES),
        ("required", c_uint32),
        ("want_tokens", c_int32),
    )


class Rows(Structure):
    """A block's annotations: rooms, and how much of them is used."""

    _fields_ = (
        *((name, c_void_p) for name in _ROW_COLUMNS),
        *((name, c_int64) for name in ("row_room", "token_room", "record_room")),
        *((name, c_int64) for name in ("rows", "tokens", "records", "named", "label_at", "label_size")),
    )


class Notes(Structure):
    """All texts, and where characters are in them."""

    _fields_ = tuple((name, c_void_p) for name in ("texts", "begin", "chars", "first_mark", "marks"))


class KeptTexts(Structure):
    """Texts of a file's annotations, until their notes are at hand."""

    _fields_ = (
        *((name, c_void_p) for name in ("texts", "bytes", "rows_of", "first_row", "first_byte")),
        *((name, c_int64) for name in ("text_room", "row_room", "notes", "used", "rows")),
    )


class NameTable(Structure):
    """Names of notes, to be found by hashing."""

    _fields_ = (
        *((name, c_void_p) for name in ("names", "begin", "slots")),
        *((name, c_int64) for name in ("count", "slot_room", "whole")),
    )


class NoteRows(Structure):
    """A block's notes: rooms, and how much of them is used."""

    _fields_ = (
        *((name, c_void_p) for name in ("texts", "names", "patients", "has_patient", "sizes", "chars")),
        *((name, c_int64) for name in ("record_room", "used", "named", "patients_used", "records")),
    )


class NoteRuns(Structure):
    """One side's annotations, and the runs of rows that are of one note."""

    _fields_ = (
        *((name, c_void_p) for name in ("start", "length", "label", "words", "begin", "size", "confidence")),
        *((name, c_void_p) for name in ("note", "first", "count", "first_token")),
        *((name, c_int64) for name in ("rows", "tokens", "runs")),
    )


class RunRooms(Structure):
    """Room for those runs, and the most rows and tokens that one of a note has."""

    _fields_ = (
        *((name, c_void_p) for name in ("note", "first", "size", "first_token", "tokens", "keys", "spare")),
        *((name, c_int64) for name in ("room", "most_rows", "most_tokens")),
    )


class AskedMeasure(Structure):
    """A measure to count, and where."""

    _fields_ = (
        *(("kind", c_int32), ("tolerance", c_int32)),
        *((name, c_void_p) for name in ("value", "per_note", "right")),
    )


class CountedMention(Structure):
    """An annotation while its note is counted."""

    _fields_ = (
        *(("token", c_int64), ("confidence", c_double)),
        *((name, c_int32) for name in ("start", "length", "label", "words", "paired", "settled")),
    )


class Key(Structure):
    """What is sorted."""

    _fields_ = (("major", c_uint64), ("minor", c_uint64))


class LabelSums(Structure):
    """How many annotations, and words, carry a label."""

    _fields_ = (("mentions", c_int64), ("words", c_int64))


class OpenRow(Structure):
    """What of a note's gold no mask covers, of a group of labels."""

    _fields_ = tuple(
        (name, c_int32) for name in ("note", "group", "gold", "open", "mentions", "leaking", "whole", "reach")
    )


class OpenGroups(Structure):
    """Labels in groups, and the rows of these."""

    _fields_ = (("value", c_void_p), ("last", c_void_p), ("rows", c_void_p), ("used", c_int64))


class Uncovered(Structure):
    """What no mask covers, and what is masked of each note."""

    _fields_ = (
        ("by", OpenGroups * GROUPINGS),
        *((name, c_void_p) for name in ("masked", "spurious")),
        *((name, c_int64) for name in ("room", "entities", "unsure")),
    )


class Counting(Structure):
    """What is counted of some notes, the rooms that it takes, and what came of it."""

    _fields_ = (
        *((name, c_int64) for name in ("first", "last", "labels", "measures")),
        ("measure", AskedMeasure * MEASURES),
        *((name, c_void_p) for name in ("gold_labels", "predicted_labels", "agreed")),
        *((name, c_void_p) for name in ("gold", "predicted", "spare", "gold_keys", "predicted_keys", "spare_keys")),
        *((name, c_void_p) for name in ("loose", "numbers", "odd", "open")),
        *((name, c_int64) for name in ("mention_room", "key_room", "odd_room")),
        *((name, c_uint32) for name in ("partial", "unused")),
        ("levels", c_int64 * (2 * WHOLE_LEVELS)),
        *((name, c_int64) for name in ("odds", "unsure", "boundary", "leaking", "with_gold", "labelled_pairs")),
    )


class ConfidenceLevels(Structure):
    """Confidences in ascending order, how many predictions have each, and how many of those are right."""

    _fields_ = (*((name, c_void_p) for name in ("confidence", "predictions", "right")), ("levels", c_int64))


class CurveRooms(Structure):
    """Precision and recall at some confidences, the area under all of it in three numbers, and where F1 is best."""

    _fields_ = (
        *((name, c_void_p) for name in ("confidence", "precision", "recall")),
        *((name, c_int64) for name in ("gold", "step", "rows", "best_right", "best_total")),
        ("best", c_double),
        ("area", c_int64 * 3),
    )


class DrawStream(Structure):
    """Where PCG64 is in its stream."""

    _fields_ = tuple((name, c_uint64) for name in ("state_high", "state_low", "step_high", "step_low"))


class TabName(Structure):
    """Where a name stands among others."""

    _fields_ = (("begin", c_int64), ("size", c_int64))


class TabText(Structure):
    """A text of the Text Anonymization Benchmark, and its annotators."""

    _fields_ = tuple((name, c_int64) for name in ("begin", "bytes", "chars", "first_annotator", "annotators"))


class TabAnnotator(Structure):
    """An annotator of a text, by the mentions and entities that are this one's."""

    _fields_ = tuple((name, c_int64) for name in ("first_mention", "mentions", "first_entity", "entities"))


class TabMention(Structure):
    """A mention, and whether it has to be masked."""

    _fields_ = tuple((name, c_int32) for name in ("start", "end", "entity", "needed"))


class TabEntity(Structure):
    """An entity, and whether it has to be masked."""

    _fields_ = tuple((name, c_int32) for name in ("kind", "direct", "needed", "open"))


class TabMasked(Structure):
    """A text and its masks."""

    _fields_ = tuple((name, c_int64) for name in ("text", "first_mask", "masks"))


class TabMask(Structure):
    """A mask as it is written."""

    _fields_ = (("start", c_int64), ("end", c_int64))


class TabCorpus(Structure):
    """Gold and masks of the Text Anonymization Benchmark: rooms, and how much of them is used."""

    _fields_ = (
        *((name, c_void_p) for name in ("texts", "names", "seen", "text_names", "entity_names", "text_slots")),
        *((name, c_void_p) for name in ("entity_slots", "text", "annotator", "mention", "entity", "masked", "mask")),
        *((name, c_int64) for name in ("text_slot_room", "text_room", "annotator_room", "mention_room")),
        *((name, c_int64) for name in ("masked_room", "mask_room", "used", "named", "masks_named", "texts_known")),
        *((name, c_int64) for name in ("annotators", "mentions", "entities", "kinds", "masked_texts", "masks")),
        *((name, c_int64) for name in ("listed", "longest", "most_mentions")),
        ("kind_names", TabName * TAB_KINDS),
        ("kind_slots", c_uint32 * KIND_SLOTS),
    )


class TabShare(Structure):
    """How many of how many."""

    _fields_ = (("hits", c_int64), ("total", c_int64))


class TabCounting(Structure):
    """What counting masks asks and takes, and what came of it."""

    _fields_ = (
        *((name, c_void_p) for name in ("classes", "words", "codes", "lower", "free", "open", "keys", "spare")),
        *((name, c_int64) for name in ("word_count", "kinds_seen")),
        *((name, TabShare * 2) for name in ("entities", "mentions", "tokens")),
        *((name, TabShare) for name in ("mask_tokens", "mask_mentions")),
        *((name, TabShare * TAB_KINDS) for name in ("kind_mentions", "kind_tokens")),
        ("kind_order", c_int64 * TAB_KINDS),
    )


class CellJob(Structure):
    """A file that is read in a process of its own, and what that one has."""

    _fields_ = (
        *((name, c_void_p) for name in ("form", "notes", "names", "labels", "seconds", "rows", "seen", "spelt")),
        *((name, c_void_p) for name in ("numbers", "repeats", "overlaps", "found", "head", "filter")),
        *((name, c_int64) for name in ("instructions", "size")),
        *((name, c_int64 * CELL_LIMITS) for name in ("which", "most")),
        *((name, c_int32) for name in ("given", "report")),
    )


class ReportedRows(Structure):
    """What a report says, of which nothing is believed."""

    _fields_ = (
        *((name, c_void_p) for name in ("note", "start", "length", "label", "confidence", "words", "begin", "size")),
        ("chars", c_void_p),
        *((name, c_int64) for name in ("rows", "tokens", "notes", "labels", "sure")),
    )


_STRUCTURES: tuple[type[Structure], ...] = (
    *(Spellings, KernelForm, Rows, Notes, KeptTexts, NameTable, NoteRows),
    *(NoteRuns, RunRooms, AskedMeasure, CountedMention, Key, LabelSums, OpenRow, OpenGroups, Uncovered, Counting),
    *(ConfidenceLevels, CurveRooms, DrawStream),
    *(TabName, TabText, TabAnnotator, TabMention, TabEntity, TabMasked, TabMask, TabCorpus, TabShare, TabCounting),
    *(CellJob, ReportedRows),
)
_NUMBERS = (
    *(TAKEN, UNKNOWN_LABEL, UNKNOWN_SECOND, PROPERTIES, MARK_EVERY),
    *(BY_TOKEN, BY_SPAN, BY_LABEL, MEASURES, WHOLE_LEVELS, GROUPINGS, SUMMED_COLUMNS, AREA_BITS, CURVE_ROW),
    *(SUMMED_WORDS, SUMMED_ROWS),
    *(TAB_KINDS, KIND_SLOTS, ENTITY_SLOTS, NOT_PASSING, PASSING, QUOTE, LONGER_WORD, WORD_SIGN),
    *(CELL_LIMITS, REPORT_HEAD, REPORT_PARTS),
)
_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "choose_lanes": (c_int32, (c_int32,)),
    "learn_spelling": (c_int32, (POINTER(Spellings), c_char_p, c_int64, c_int32)),
    "read_annotations": (
        c_int32,
        (c_void_p, c_int64, c_int32, POINTER(KernelForm), POINTER(Spellings), POINTER(Spellings), POINTER(Rows)),
    ),
    "learn_names": (c_int32, (POINTER(NameTable),)),
    "join_names": (c_int32, (POINTER(NameTable), POINTER(Rows), c_void_p, c_void_p)),
    "follow_names": (c_int32, (POINTER(NameTable), POINTER(Rows), c_int64, c_void_p, c_void_p)),
    "find_misplaced": (c_int64, (c_void_p, POINTER(Rows), c_void_p, POINTER(Notes), c_void_p)),
    "keep_texts": (c_int32, (c_void_p, POINTER(Rows), c_void_p, POINTER(KeptTexts))),
    "kept_texts_stand": (c_int32, (POINTER(Notes), c_int64, c_int64, POINTER(KeptTexts), c_void_p)),
    "find_clashes": (None, (POINTER(Rows), c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)),
    "pair_near": (None, (c_void_p, c_int64, c_void_p, c_void_p, c_int64, c_void_p)),
    "count_notes": (c_int32, (POINTER(NoteRuns), POINTER(NoteRuns), POINTER(Counting))),
    "find_begins": (c_int32, (c_void_p, c_int64, c_int64, c_void_p)),
    "lay_out_texts": (c_int64, (c_void_p, c_void_p, c_int64, c_void_p, c_void_p)),
    "spread_notes": (None, (c_void_p, c_void_p, c_int64, c_void_p)),
    "see_labels": (c_int32, (c_void_p, c_int64, c_void_p, c_int64)),
    "highest_number": (c_double, (c_void_p, c_int64)),
    "sum_counts": (None, (c_void_p, c_int64, c_void_p)),
    "sum_tables": (c_int64, (c_void_p, c_int64, c_void_p)),
    "sum_ratios": (c_int32, (c_void_p, c_int64, c_void_p)),
    "find_runs": (c_int64, (c_void_p, c_void_p, c_int64, POINTER(RunRooms))),
    "list_levels": (None, (POINTER(Counting), c_void_p, POINTER(ConfidenceLevels))),
    "walk_levels": (c_int32, (POINTER(ConfidenceLevels), POINTER(CurveRooms))),
    "write_curve": (c_int64, (c_void_p, c_void_p, c_void_p, c_int64, c_void_p)),
    "draw_numbers": (None, (POINTER(DrawStream), c_int64, c_void_p)),
    "draw_weights": (None, (POINTER(DrawStream), c_void_p, c_int64, c_int64, c_void_p, c_void_p)),
    "draw_sums": (
        None,
        (POINTER(DrawStream), c_void_p, c_int64, c_int64, c_void_p, c_int64, c_int64, c_void_p),
    ),
    "read_tab_gold": (c_int32, (c_void_p, c_int64, POINTER(TabCorpus))),
    "read_tab_masks": (c_int32, (c_void_p, c_int64, POINTER(TabCorpus))),
    "meet_characters": (None, (POINTER(TabCorpus), c_void_p)),
    "count_tab": (None, (POINTER(TabCorpus), POINTER(TabCounting))),
    "find_report": (c_int32, (POINTER(CellJob), c_void_p, c_void_p)),
    "is_sound": (c_int32, (POINTER(ReportedRows), c_void_p)),
    "read_in_cell": (c_int32, (POINTER(CellJob), c_void_p)),
    "read_notes": (c_int32, (c_void_p, c_int64, c_int32, POINTER(NoteRows))),
    "mark_characters": (c_int64, (c_void_p, c_void_p, c_void_p, c_int64, c_void_p)),
    "copy_parts": (c_int64, (POINTER(Notes), *(c_void_p,) * 3, c_int64, c_void_p, c_int64, c_void_p)),
}
LANES = "SANDSCORE_LANES"
"""Names in the environment at how many bytes the kernel is to look at once: 0, 16 or 32; else as many as it can."""
MOST_LANES = 1 << 30
_NOTHING, _READ = c_char * 0, 1 << 16
LIBRARY = Path(__file__).with_name("kernel.so")


class _Library(CDLL):
    """Functions learn what they take when they are first asked for."""

    def __getitem__(self, name: str) -> Any:
        function = super().__getitem__(name)
        function.restype, function.argtypes = _FUNCTIONS[name]
        return function


@cache
def kernel() -> CDLL | None:
    """The library; None where there is none that this machine can load, or it is older than its sources."""
    try:
        library = _Library(str(LIBRARY))
    except OSError:
        return None
    if not _current(library) or not _laid_out_alike(library):
        return None
    wanted = os.environ.get(LANES, "")
    library.choose_lanes(min(int(wanted), MOST_LANES) if wanted.isdecimal() else MOST_LANES)
    return library


def _current(library: CDLL) -> bool:
    """Whether it was compiled from the sources beside it; a wheel has none, and is made in one go."""
    folder, found, sources = LIBRARY.parent, 0, 0
    try:
        compiled = c_uint32.in_dll(library, "sources").value
    except ValueError:
        return False
    for name in sorted(os.listdir(folder)):  # noqa: PTH208 (a path for each takes longer than reading them)
        if name.endswith((".c", ".h")):
            source = os.open(f"{folder}/{name}", os.O_RDONLY)
            while some := os.read(source, _READ):
                found = crc32(some, found)
            os.close(source)
            sources += 1
    return not sources or compiled == found


def _laid_out_alike(library: CDLL) -> bool:
    """Whether structures have the size, and their fields the places, that the compiler gave those of ``kernel.h``."""
    here, names = list[int](), list[str]()
    for structure in _STRUCTURES:
        fields = [name for name, *_ in structure._fields_]
        places = vars(structure)  # as attributes they take twice as long
        here += sizeof(structure), *(places[name].offset for name in fields)
        names += fields
    here += _NUMBERS
    said = " ".join([*names, ""]).encode()
    try:
        there = (c_int32 * len(here)).in_dll(library, "layout")
        named = (c_char * (len(said) + 1)).in_dll(library, "layout_names")
    except ValueError:
        return False
    return list(there) == here and named.value == said


def address(values: Values) -> int:
    """Where values are; they must outlive whoever is told."""
    if isinstance(values, memoryview) and not values.readonly:
        return addressof(_NOTHING.from_buffer(values))
    return int(np.asarray(values).__array_interface__["data"][0])
