"""The conformance suites: what every row of a table must keep, for ours and for those of other packages.

The author of a row runs the suite of its kind over it, once its package is installed::

    pytest --pyargs sandscore.conformance --kind home NAME
    pytest --pyargs sandscore.conformance --kind engine NAME
"""
