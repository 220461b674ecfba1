"""Engines that run containers: what is asked of one, and the table of those there are."""
