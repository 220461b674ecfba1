"""Adjusted p-values for many tests at once, as step-down (Holm 1979) and step-up (Benjamini & Hochberg 1995)."""

from collections.abc import Sequence


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted so that the chance of even one false separation stays below the level."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    adjusted, so_far = [0.0] * len(p), 0.0
    for step, i in enumerate(order):
        so_far = max(so_far, min(1.0, (len(p) - step) * p[i]))
        adjusted[i] = so_far
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Adjusted so that the expected share of false separations among all stays below the level."""
    order = sorted(range(len(p)), key=lambda i: p[i], reverse=True)
    adjusted, so_far = [0.0] * len(p), 1.0
    for step, i in enumerate(order):
        so_far = min(so_far, p[i] * len(p) / (len(p) - step))
        adjusted[i] = so_far
    return adjusted
