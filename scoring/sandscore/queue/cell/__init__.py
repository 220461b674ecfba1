"""The cell: what teams hand in is read where there is neither gold, nor salt, nor a network."""
