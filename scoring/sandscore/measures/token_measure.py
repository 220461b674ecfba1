"""White-space tokens of both sides: those of settled pairs are only counted, the others are spelt out and matched."""

from msgspec import Struct

from sandscore.annotations.columns import order_of, ranked
from sandscore.annotations.white_space_tokens import TokenTable
from sandscore.base.arrays import Ints, Mask, np
from sandscore.measures.aligned import Side, Sides
from sandscore.measures.packed_keys import Joined, join, packed, paired


class Left(Struct, frozen=True):
    """One side's tokens outside the settled pairs in the order of their keys; each stands under a label."""

    keys: Ints
    note: Ints
    label: Ints


class SharedTokens(Struct, frozen=True):
    """Both sides' left tokens, and where each side has just one of a key: the place of its partner."""

    gold: Left
    predicted: Left
    joined: Joined

    def per_note(self, notes: int) -> Ints:
        """The multiset intersection."""
        crowd = self.joined.crowded_predicted
        found = paired(self.gold.keys[self.joined.crowded_gold], self.predicted.keys[crowd])
        return np.bincount(self.predicted.note[np.concatenate((self.joined.predicted, crowd[found]))], minlength=notes)

    def per_label(self, labels: int) -> Ints:
        """The multiset intersection of each label's tokens."""
        label = self.predicted.label[self.joined.predicted]
        same = (label >= 0) & (label == self.gold.label[self.joined.gold])
        gold, predicted = self.joined.crowded_gold, self.joined.crowded_predicted
        of_crowd = np.concatenate((self.gold.label[gold], self.predicted.label[predicted]))
        keys = packed([np.concatenate((self.gold.keys[gold], self.predicted.keys[predicted]))], len(gold))
        crowd = keys.plus(np.maximum(of_crowd, 0), labels).where(of_crowd >= 0).sides()
        hits = crowd[1][paired(*crowd)] % labels
        return np.bincount(np.concatenate((label[same], hits)), minlength=labels)


def tokens_left(sides: Sides, settled: Mask) -> SharedTokens:
    """The tokens of annotations that are of no settled plain pair."""
    gold = _all_but(sides.gold, sides.plain.gold[settled])
    predicted = _all_but(sides.predicted, sides.plain.predicted[settled])
    tokens = _spelt(gold), _spelt(predicted)
    fields = [np.concatenate(pair) for pair in zip(*tokens, strict=True)]
    label = fields.pop()
    if gold.text is not None:
        fields.append(_numbered(sides, gold, predicted))
    keys, size = ranked(fields)
    split = len(tokens[0][0])
    orders = order_of(keys[:split], size), split + order_of(keys[split:], size)
    left, right = (Left(keys[order], fields[0][order], label[order]) for order in orders)
    return SharedTokens(left, right, join(left.keys, right.keys))


def _all_but(side: Side, settled: Ints) -> Side:
    if not len(settled):
        return side
    loose = np.ones(len(side), bool)
    loose[settled] = False
    return side.take(np.flatnonzero(loose))


def _spelt(side: Side) -> tuple[Ints, Ints, Ints, Ints]:
    """Note, start, length and label of each token."""
    owner, begin, size = table(side).of(side.row)
    return side.note[owner], side.start[owner] + begin, size.astype(np.int64), side.label[owner]


def table(side: Side) -> TokenTable:
    """The side's tokens; asking a file that was read without them is a mistake of ours."""
    if side.tokens is None:
        raise ValueError("this file was read without tokens")
    return side.tokens


def _numbered(sides: Sides, gold: Side, predicted: Side) -> Ints:
    """Where there are no notes: a number for each token's text."""
    written, known = list(sides.dataset.interned), dict[str, int]()
    texts = [written[number] for side in (gold, predicted) if side.text is not None for number in side.text.tolist()]
    return np.array([known.setdefault(word, len(known)) for text in texts for word in text.split()], np.int64)
