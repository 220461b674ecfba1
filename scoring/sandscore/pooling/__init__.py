"""Files pooled: the gold of several annotators, or of all tasks, as one data set with one card."""
