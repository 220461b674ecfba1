"""Boards as tables: for a terminal, as CSV and Markdown, as a pandas DataFrame."""
