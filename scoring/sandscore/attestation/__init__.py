"""Attestation: a log that only grows, signatures, and what they say of a board."""
