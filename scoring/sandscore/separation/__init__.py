"""Separation: how far two cards lie apart and on which notes, and how many patients tell two systems apart."""
