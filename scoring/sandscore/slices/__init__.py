"""Scores by slice of a data set, and on perturbed copies of its notes, with intervals that hold for all together."""
