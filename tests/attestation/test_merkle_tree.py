"""The tree against RFC 6962's own numbers and against pymerkle, which others wrote."""

import random

import pymerkle
import pytest

from sandscore.attestation.merkle_tree import edge_of, leaf_hash

LEAVES = [bytes.fromhex(text) for text in (
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
)]  # fmt: skip
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
"""Of the first n leaves: the vectors of Google's certificate-transparency (merkletree_test)."""


@pytest.mark.parametrize("size", range(len(ROOTS)))
def test_the_roots_of_certificate_transparency(size: int) -> None:
    assert edge_of(LEAVES[:size]).root().hex() == ROOTS[size]


def test_every_size_agrees_with_pymerkle() -> None:
    """Roots; and their proofs of inclusion and consistency hold for our leaves and roots."""
    chance = random.Random(15)
    lines = [chance.randbytes(chance.randrange(40)) for _ in range(70)]
    theirs = pymerkle.InmemoryTree(algorithm="sha256")
    roots = [edge_of(lines[:size]).root() for size in range(len(lines) + 1)]
    for size, line in enumerate(lines, 1):
        theirs.append_entry(line)
        assert theirs.get_root() == roots[size]
        position = chance.randrange(size)
        pymerkle.verify_inclusion(leaf_hash(lines[position]), roots[size], theirs.prove_inclusion(position + 1))
        earlier = chance.randrange(1, size + 1)
        pymerkle.verify_consistency(roots[earlier], roots[size], theirs.prove_consistency(earlier, size))


def test_no_more_than_the_edge_is_kept() -> None:
    edge = edge_of([b"line"] * 1023)
    assert (edge.size, len(edge.roots)) == (1023, 10)
