"""Other people's scorers, reproduced number for number; each original's bugs live in its module only."""
