"""Annotations note by note: as documents, and as columns with notes in order."""
