"""Boards to pages: a static site that needs no network, and the report a participant reads."""
