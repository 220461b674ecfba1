"""The conformance suites: what every row of a table must keep, for ours and for those of other packages."""
