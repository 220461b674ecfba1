"""The scorer neleval 3.1.1."""
