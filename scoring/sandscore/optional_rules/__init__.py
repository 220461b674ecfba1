"""Rules of ranking that a challenge may choose: scores joined, other tests of pairs, other intervals."""
