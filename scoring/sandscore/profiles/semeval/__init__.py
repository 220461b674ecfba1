"""The scorer nervaluate 1.2.1."""
