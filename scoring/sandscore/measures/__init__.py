"""Columns to counts: one-to-one matching, and every measure made of integers."""
