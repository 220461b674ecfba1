"""Columns to counts: one-to-one matching, and every measure made of integers."""

GENERAL_NAMES = ("iou", "overlap", "semeval")
"""What the general measures are called, for whoever need not know more."""
