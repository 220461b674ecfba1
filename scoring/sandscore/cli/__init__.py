"""The command line: one module a verb; each parses, calls one function and prints."""

import gc

gc.set_threshold(100_000)  # what is imported stays; looking it through at every 700 objects is 5 % of a start
