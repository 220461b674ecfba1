"""Other people's file formats: one module each, all reading into and writing from one ``Corpus``."""
