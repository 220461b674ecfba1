"""Files to columns: loading, validation, and everything that can be said about a file that is wrong."""
