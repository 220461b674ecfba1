"""Score cards in, a board out: who is ahead, and how sure we are. Needs neither gold nor predictions."""
