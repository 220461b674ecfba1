"""The command line: one module a verb; each parses, calls one function and prints."""
