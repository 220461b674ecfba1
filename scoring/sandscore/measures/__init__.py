"""Columns to counts: one-to-one matching, and every measure made of integers."""

from sandscore.base.own_rows import OWN_ROWS

GENERAL_NAMES = tuple(name for name, row in OWN_ROWS["sandscore.measures"].items() if ".challenge_measures:" not in row)
"""What the measures are called that serve every task, for whoever need not know more."""
