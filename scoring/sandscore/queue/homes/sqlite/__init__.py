"""The embedded home of the queue: one SQLite file and a journal."""
