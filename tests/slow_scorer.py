"""An independent scorer, written from the rules alone: loops, lists and brute force; nothing shared with ours.

Notes are plain dicts ``{"gold": [...], "predictions": [...]}`` of annotation dicts; a label of None is absent.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

Ann = dict[str, Any]
Row = tuple[int, int, int]


def maximum_matching(gold: list[Any], predicted: list[Any], fits: Callable[[Any, Any], bool]) -> int:
    """Augmenting paths, one prediction at a time."""
    owner: dict[int, int] = {}

    def place(p: int, tried: set[int]) -> bool:
        for g in range(len(gold)):
            if g not in tried and fits(gold[g], predicted[p]):
                tried.add(g)
                if g not in owner or place(owner[g], tried):
                    owner[g] = p
                    return True
        return False

    return sum(place(p, set()) for p in range(len(predicted)))


def matched(gold: list[Any], predicted: list[Any], fits: Callable[[Any, Any], bool]) -> Row:
    tp = maximum_matching(gold, predicted, fits)
    return tp, len(predicted) - tp, len(gold) - tp


def span(a: Ann) -> tuple[int, int, str]:
    return a["start"], a["length"], a["text"]


def strict(gold: list[Ann], predicted: list[Ann]) -> Row:
    return matched(gold, predicted, lambda g, p: span(g) == span(p))


def relax(gold: list[Ann], predicted: list[Ann], n: int = 2) -> Row:
    return matched(gold, predicted, lambda g, p: g["start"] == p["start"] and abs(g["length"] - p["length"]) <= n)


def relax_both(gold: list[Ann], predicted: list[Ann], n: int = 2) -> Row:
    def fits(g: Ann, p: Ann) -> bool:
        ends = g["start"] + g["length"], p["start"] + p["length"]
        return bool(abs(g["start"] - p["start"]) <= n and abs(ends[0] - ends[1]) <= n)

    return matched(gold, predicted, fits)


def tokens(annotations: list[Ann]) -> list[tuple[int, str]]:
    found = []
    for a in annotations:
        word, begun = "", 0
        for i, c in enumerate(a["text"] + " "):
            if c.isspace():
                if word:
                    found.append((a["start"] + begun, word))
                word = ""
            else:
                begun = begun if word else i
                word += c
    return found


def token(gold: list[Ann], predicted: list[Ann]) -> Row:
    return matched(tokens(gold), tokens(predicted), lambda g, p: g == p)


def label_rule(gold: list[Ann], predicted: list[Ann], value: Callable[[str], Any] = str) -> Row:
    """Per strict key: tp = common labels; unlabelled gold excuses labelled predictions that matched nothing."""
    tp = fp = fn = 0
    for key in {span(a) for a in gold + predicted}:
        g = [a["label"] for a in gold if span(a) == key]
        p = [value(a["label"]) for a in predicted if span(a) == key and a["label"] is not None]
        g_labels = [value(x) for x in g if x is not None]
        right = sum((Counter(g_labels) & Counter(p)).values())
        excused = min(g.count(None), len(p) - right)
        tp, fn, fp = tp + right, fn + len(g_labels) - right, fp + len(p) - right - excused
    return tp, fp, fn


def hipaa_only(gold: list[Ann], predicted: list[Ann], protected: dict[str, bool]) -> Row:
    kept_gold = [a for a in gold if a["label"] is None or protected[a["label"]]]
    kept = [a for a in predicted if a["label"] is not None and protected[a["label"]]]
    return label_rule(kept_gold, kept)


def only(annotations: list[Ann], label: str) -> list[Ann]:
    return [a for a in annotations if a["label"] == label]


def differing(gold: list[Ann], predicted: list[Ann]) -> int:
    g, p = ([a for a in side if a["label"] is not None] for side in (gold, predicted))
    return strict(g, p)[0] - label_rule(g, p)[0]


def boundary(gold: list[Ann], predicted: list[Ann]) -> int:
    g, p = list(gold), list(predicted)
    for a in list(p):
        twin = next((b for b in g if span(b) == span(a)), None)
        if twin is not None:
            g.remove(twin)
            p.remove(a)
    return maximum_matching(
        g, p, lambda x, y: x["start"] < y["start"] + y["length"] and y["start"] < x["start"] + x["length"]
    )


def leaks(gold: list[Ann], predicted: list[Ann]) -> bool:
    hidden = {c for a in predicted for c in range(a["start"], a["start"] + a["length"])}
    return any(c not in hidden for a in gold for c in range(a["start"], a["start"] + a["length"]))
