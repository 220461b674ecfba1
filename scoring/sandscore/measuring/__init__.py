"""Columns to counts: matching, the measure table, other scorers' profiles, score cards."""
