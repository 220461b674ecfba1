"""Our own span measures beside other people's: one-to-one, and blind to the order of a file."""
