"""Remedies: why what a file says is not so, as a cause of many problems at once, and the file mended by it."""
