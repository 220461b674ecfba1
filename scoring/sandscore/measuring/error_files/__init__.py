"""What a scorer got wrong, written for people to look at: two tables, the metrics, a confusion matrix."""

from sandscore.measuring.error_files.writing import write_error_files

__all__ = ["write_error_files"]
