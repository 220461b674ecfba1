"""The rules for what may leave the house, and to whom."""
