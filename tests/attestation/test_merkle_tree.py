"""The tree against RFC 6962's own numbers and against pymerkle, which others wrote."""

import random

import pymerkle
import pytest

from sandscore.attestation.merkle_tree import edge_of, inclusion_proof, leaf_hash, root_from_proof

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
    """Roots; their proofs of inclusion and consistency hold for our roots, and our proofs hold the same hashes."""
    chance = random.Random(15)
    lines = [chance.randbytes(chance.randrange(40)) for _ in range(70)]
    theirs = pymerkle.InmemoryTree(algorithm="sha256")
    roots = [edge_of(lines[:size]).root() for size in range(len(lines) + 1)]
    for size, line in enumerate(lines, 1):
        theirs.append_entry(line)
        assert theirs.get_root() == roots[size]
        position = chance.randrange(size)
        proof, leaf = theirs.prove_inclusion(position + 1), leaf_hash(lines[position])
        pymerkle.verify_inclusion(leaf, roots[size], proof)
        ours = inclusion_proof(lines[:size], position)
        assert sorted([leaf, *ours]) == sorted(proof.path)
        assert root_from_proof(lines[position], position, size, ours) == roots[size]
        earlier = chance.randrange(1, size + 1)
        pymerkle.verify_consistency(roots[earlier], roots[size], theirs.prove_consistency(earlier, size))


def test_a_touched_proof_leads_elsewhere() -> None:
    chance = random.Random(6962)
    lines = [b"%d" % number for number in range(37)]
    root = edge_of(lines).root()
    for _ in range(300):
        position = chance.randrange(len(lines))
        proof = inclusion_proof(lines, position)
        line, at, size = lines[position], position, len(lines)
        kind = chance.randrange(4)
        if kind == 0:
            touched = chance.randrange(len(proof))
            proof[touched] = bytes([proof[touched][0] ^ 1]) + proof[touched][1:]
        elif kind == 1:
            line += b" "
        elif kind == 2:
            at = (position + chance.randrange(1, size)) % size
        else:
            proof = chance.choice([proof[:-1], [*proof, proof[0]]])
        assert root_from_proof(line, at, size, proof) != root
    assert root_from_proof(lines[0], 37, 37, []) is None


def test_no_more_than_the_edge_is_kept() -> None:
    edge = edge_of([b"line"] * 1023)
    assert (edge.size, len(edge.roots)) == (1023, 10)
