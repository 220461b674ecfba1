"""Verification: a board again, from its cards or from their totals, and the first value that differs."""
