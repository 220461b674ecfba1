"""Other people's file formats: one module each, all reading into and writing from one ``Corpus``."""

FORMAT_NAMES = (
    *("ours", "brat", "conll", "conll-biluo", "conll-iobes", "conll-io", "i2b2", "presidio"),
    *("nlpsandbox-bundle", "nlpsandbox-list", "neleval"),
)
"""What the rows of the table are called, for whoever need not know more."""
