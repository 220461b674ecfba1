"""The span evaluator of presidio-evaluator, releases 0.3.2 and 0.2.5."""
