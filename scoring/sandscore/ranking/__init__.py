"""Score cards to a board: who is ahead, and how sure we are. Needs neither gold nor predictions."""
