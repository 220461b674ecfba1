"""The homes of a queue: where submissions live."""
