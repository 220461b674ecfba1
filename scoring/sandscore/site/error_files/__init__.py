"""The files of ``score --errors``: two tables, the metrics, a confusion matrix."""
