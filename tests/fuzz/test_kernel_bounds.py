"""The kernel stays within its block and its rooms, whatever the block holds; ``make fuzz`` runs many more cases."""

from pathlib import Path

import pytest
from fuzz.agreement import compare
from fuzz.kernel import any_cases, compiled, lanes, outputs, told
from fuzz.kernel_edges import colliding, cut_off, labelled, long, numbered, one, taken_apart, turning

SEEDS, COUNT, COMPARED = 4, 5000, 300


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("driver"))


def test_too_little_room_is_noticed(program: Path) -> None:
    """Else nothing here could fail."""
    with pytest.raises(AssertionError, match="heap-buffer-overflow"):
        told(program, [one(b"a" * 99).written(), one(b"a" * 99).written(part=4)], 0)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_damaged(seed: int, program: Path) -> None:
    found = told(program, (case.written() for case in any_cases(seed, COUNT)))
    assert sum(rows > 0 for _, rows in found) > COUNT // 20


@pytest.mark.parametrize("seed", range(SEEDS))
def test_as_the_decoder_in_blocks_of_any_size(seed: int, tmp_path: Path) -> None:
    assert compare(tmp_path, any_cases(1000 + seed, COMPARED), seed) > COMPARED


def test_cut_off_at_every_byte(program: Path) -> None:
    found = told(program, (case.written() for case in cut_off()))
    assert sum(notes > 0 for notes, _ in found) >= 32


def test_odd_at_every_alignment(program: Path) -> None:
    found = told(program, (case.written() for case in turning()))
    assert {rows for _, rows in found} == {-1, 1}


def test_every_variant_reads_the_same(program: Path) -> None:
    """Of what is right, damaged, cut off, and odd at every alignment: eight bytes at a time, sixteen, or 32."""
    cases = [case.written() for case in (*any_cases(77, COUNT // 4), *turning(), *long(), *numbered(), *cut_off())]
    found, *others = (outputs(program, cases, some) for some in lanes())
    assert others
    assert sum(line.endswith(" 1") for line in found) > 20, "reports, in rooms of their own size, and changed ones"
    assert all(other == found for other in others)
    assert len(set(found)) > 3000


def test_long(program: Path) -> None:
    found = told(program, (case.written() for case in long()))
    assert {notes for notes, _ in found} == {1}


def test_many_labels(program: Path) -> None:
    found = told(program, (case.written() for case in labelled(1)))
    assert min(rows for _, rows in found) < 0 < max(rows for _, rows in found)


def test_labels_that_hash_alike(program: Path) -> None:
    """Whoever makes them makes every search long: few are learnt."""
    assert told(program, [colliding().written()]) == [(1, -1)]


def test_numbers(program: Path) -> None:
    found = told(program, (case.written() for case in numbered()))
    assert {rows for _, rows in found} == {-1, 1}


def test_taken_apart(program: Path, tmp_path: Path) -> None:
    cases = [*taken_apart()]
    found = told(program, (case.written() for case in cases))
    whole = [case for case, (_, rows) in zip(cases, found, strict=True) if rows >= 0]
    assert compare(tmp_path, whole) > 0
