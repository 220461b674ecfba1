"""Leaks: what of gold no mask covers, counted and bounded by note, patient and class of identifier."""
