"""The gold index: notes and gold as they are once read, in one file that every process maps."""
