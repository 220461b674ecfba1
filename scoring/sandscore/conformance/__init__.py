"""Suites for rows of tables, ours and others: ``pytest --pyargs sandscore.conformance --kind measure NAME``."""
