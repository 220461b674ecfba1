"""The kernel among sanitizers: right and damaged blocks, in rooms of exactly the size that the reader gives it."""

import os
import random
import re
import shlex
import struct
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fuzz.hostile import damaged
from kernel_corpus import FORMS, corpus

from sandscore import kernel as native
from sandscore.annotations.note_texts import GatheredTexts
from sandscore.kernel.block_readers import NOTES, ROWS, Room, written_form
from sandscore.kernel.kernel_library import NoteRows, Rows
from sandscore.kernel.kernel_library import kernel as native_library
from sandscore.task_table.task import TASKS

NATIVE, DRIVER = Path(native.__path__[0]), Path(__file__).with_name("kernel_driver.c")
OPTIONS = ("-std=c11", "-g", "-O1", "-fno-sanitize-recover=all")
BOUNDS, UNSET = "-fsanitize=address,undefined", "-fsanitize=memory"
"""What sanitizers look for: memory that is not the kernel's, and memory that nobody has written."""
NUMBERS, LONGEST = 32, 600
_WORDS = re.compile(rb'"(?:[^"\\]|\\.)*"?|[^\s"{}\[\]:,]+|\s+|[{}\[\]:,]|"', re.DOTALL)
_SPACES = (b" ", b"\t", b"\n", b"\r", b"\r\n", b"\f", b"\v", b"\xc2\xa0")
RIGHT = 50
"""One case in so many is not damaged."""


@dataclass(frozen=True, slots=True)
class Case:
    """A block of notes and a block of annotations, both in lines or both arrays."""

    notes: bytes
    block: bytes
    task: int = 0
    lines: bool = False
    want_tokens: bool = True
    seed: int = 0

    def written(self, part: int = 1) -> bytes:
        """As the driver reads it, in rooms of the size they have; ``part`` leaves so small a part of their bytes."""
        noted, rows = Room(NoteRows(), NOTES), Room(Rows(), ROWS)
        noted.fit(len(self.notes))
        rows.fit(len(self.block))
        numbers = (
            *(self.task, self.lines, self.want_tokens, self.seed, len(self.notes), len(self.block)),
            *(noted.rows.record_room, rows.rows.row_room, rows.rows.token_room, rows.rows.record_room),
            GatheredTexts(len(self.notes)).room(len(self.notes)).nbytes // part,
            *(array.nbytes // part for room in (noted, rows) for array in room.held.values()),
        )
        return struct.pack(f"={NUMBERS}q", *numbers) + self.notes + self.block


def compiled(folder: Path, sanitizers: str = BOUNDS, compiler: str = "") -> Path:
    """The driver and the kernel, with sanitizers in both."""
    named = shlex.split(compiler or os.environ.get("CC", "")) or ["cc"]
    program = folder / f"kernel_driver{sanitizers}"
    sources = [DRIVER, *sorted(NATIVE.glob("*.c"))]
    subprocess.run([*named, *OPTIONS, sanitizers, f"-I{NATIVE}", "-o", program, *sources], check=True)
    return program


def forms() -> bytes:
    """How every task writes its annotations."""
    written = [struct.pack("=q", len(TASKS))]
    for task in TASKS.values():
        form = written_form(task, want_tokens=True)
        written.append(struct.pack("=8q", form.required, form.array_size, *form.sizes))
        written += [form.array, *form.names]
    return b"".join(written)


def told(program: Path, cases: Iterable[bytes], *lanes: int) -> list[tuple[int, int]]:
    """How many notes and annotations the kernel read in each case, -1 where it refused them."""
    return [(int(notes), int(rows)) for notes, rows, *_ in map(str.split, outputs(program, cases, *lanes))]


def lanes() -> list[int]:
    """At how many bytes at once the kernel can look here: every variant of it."""
    library = native_library()
    assert library is not None
    return sorted({library.choose_lanes(most) for most in (0, 16, 32)})


def outputs(program: Path, cases: Iterable[bytes], *lanes: int) -> list[str]:
    """The same, a hash of all that it read, and whether a report was made; ``lanes``: by a variant of the kernel."""
    given = [forms(), *cases]
    quiet = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run(
        [program, *map(str, lanes)], input=b"".join(given), capture_output=True, env=quiet, check=False, timeout=LONGEST
    )
    lines = done.stdout.decode().splitlines()
    if done.returncode or len(lines) < len(given) - 1:
        kept = program.with_name("failed")
        kept.write_bytes(given[len(lines) + 1])
        raise AssertionError(f"case {len(lines)}, kept as {kept}: {done.stderr.decode()[:3000]}")
    return lines


def right(r: random.Random) -> Case:
    """Mostly what the kernel takes, of any task in any layout."""
    number, form = r.randrange(len(TASKS)), r.choice([*FORMS])
    notes, records = corpus([*TASKS.values()][number], r.getrandbits(40))
    said, found = (FORMS[form](part, r.random() < 0.5).encode() for part in (notes, records))
    if form == "lines" and r.random() < 0.3:
        said, found = (part.replace(b"\n", b"\r\n") for part in (said, found))
    return Case(said, found, number, form == "lines", r.random() < 0.8, r.getrandbits(40))


def reordered(r: random.Random, data: bytes) -> bytes:
    """A short stretch, some of whose signs, words and strings are left out, put elsewhere, or put there too."""
    begin = r.randrange(len(data))
    words = _WORDS.findall(data, begin, begin + 200) or [b","]
    at, size = r.randrange(len(words)), r.choice((0, 1, 1, 1, 3, 4, 5, 6))
    run = words[at : at + size] or [r.choice(_SPACES)]
    if r.random() < 0.7:
        del words[at : at + size]
    if r.random() < 0.7:
        to = r.randrange(len(words) + 1)
        words[to:to] = run
    return data[:begin] + b"".join(words) + data[begin + 200 :]


def harmed(r: random.Random, data: bytes, other: bytes) -> bytes:
    """Damaged in one of several ways; ``other`` may go on where it ends."""
    kind = r.randrange(8)
    if kind == 0:
        return data[: r.randrange(len(data))] + other[r.randrange(len(other)) :]
    return reordered(r, data) if kind < 4 else damaged(r, data)


def any_cases(seed: int, count: int) -> Iterator[Case]:
    """Right ones, and each damaged in its notes, its annotations or both, or spliced with the one before."""
    r = random.Random(seed)
    before = right(r)
    for _ in range(count // RIGHT):
        case = right(r)
        yield case
        for _ in range(RIGHT - 1):
            which = r.randrange(8)
            notes = harmed(r, case.notes, before.notes) if which < 2 else case.notes
            block = harmed(r, case.block, before.block) if which else case.block
            yield Case(notes, block, case.task, case.lines != (r.random() < 0.02), case.want_tokens, r.getrandbits(40))
        before = case
