"""The conformance suites: what every row of a table must keep, for ours and for those of other packages.

The author of a row runs the suite of its kind over it, once its package is installed::

    pytest --pyargs sandscore.conformance --kind measure NAME

The kinds are measure, format, profile, home and engine.
"""
