"""Other people's scorers, reproduced number for number: a package each, with the original's faults inside it."""
