"""The table of tasks: what can be annotated, and everything that is known about it."""
