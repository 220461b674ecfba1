"""Measures of any task that pair spans of gold and predictions by how far they overlap, and those of other packages."""
