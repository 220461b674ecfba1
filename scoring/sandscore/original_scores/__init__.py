"""Score cards by the rules of other people's scorers: their profiles, run as the originals would run."""
