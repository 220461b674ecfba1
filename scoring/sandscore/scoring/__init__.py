"""Loaded files to score cards."""
