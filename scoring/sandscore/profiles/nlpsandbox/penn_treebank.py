"""Penn Treebank word tokens, as the NLP Sandbox client gets them from its tokeniser.

The rules run in the order in which they stand, each over the whole text that the one before it left.
Double quotes become two-character tokens (two backticks, two apostrophes) that the text does not hold.
"""

import re

_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # opening quotes
        (r'\A"', "``"),
        (r"``", " `` "),
        (r"(?<=[ (\[{<])(?:\"|'')", " `` "),
        # a colon or comma takes the next character with it, so of two in a row only one is split here
        (r"([:,])(\D)", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"\.\.\.", " ... "),
        (r"([;@#$%&])", r" \1 "),
        # the final period, and whatever closes after it
        (r"(?<=[^.])\.([\])}>\"']*)\s*$", r" .\1 "),
        (r"([?!])", r" \1 "),
        (r"(?<=[^'])' ", " ' "),
        (r"([\[\](){}<>])", r" \1 "),
        (r"--", " -- "),
        (r"\A|\Z", " "),
        # closing quotes and clitics, which only a plain space after them splits off
        (r"''", " '' "),
        (r'"', " '' "),
        (r"(?<=[^' ])('[sSmMdD]?) ", r" \1 "),
        (r"(?<=[^' ])('(?:ll|LL|re|RE|ve|VE)|n't|N'T) ", r" \1 "),
        # words that are two
        (r"(?i)\b(can)(not)\b", r" \1 \2 "),
        (r"(?i)\b(d)('ye)\b", r" \1 \2 "),
        (r"(?i)\b(gim|lem)(me)\b", r" \1 \2 "),
        (r"(?i)\b(gon)(na)\b", r" \1 \2 "),
        (r"(?i)\b(got)(ta)\b", r" \1 \2 "),
        (r"(?i)\b(more)('n)\b", r" \1 \2 "),
        (r"(?i)\b(wan)(na)(?=\s)", r" \1 \2 "),
        (r"(?i) ('t)(is)\b", r" \1 \2 "),
        (r"(?i) ('t)(was)\b", r" \1 \2 "),
    )
)

_MARKS = re.compile(
    r""""|`|;|@|#|\$|%|&|\?|!|\(|\)|\[|\]|\{|\}|<|>|--|\.\.\."""
    # a colon or comma but before a digit, a final period, an apostrophe that ends a word or begins a clitic
    r"""|:(?!\d)|,(?!\d)|\.(?='*\s*\Z)|'(?='|[sSmMdD]?(?: |\Z)|(?:ll|LL|re|RE|ve|VE|t|T)(?: |\Z))"""
)
WORDS = re.compile(r"(?i)\b(?:cannot|gimme|lemme|gonna|gotta|wanna|d'ye|more'n)\b|'t(?:is|was)\b")
"""Together, all that a rule but the one for the ends looks at; both may find more than the rules do, never less."""

MARKS = "\"`';@#$%&?!()[]{}<>.,:İıſ\u212a"
"""A text without any of these characters, two hyphens in a row, or one of the words above, is cut at white space
alone. The last four characters are those that equal an ASCII letter where case does not matter."""


def tokenise(text: str) -> list[str]:
    """The tokens of a text, in order."""
    if _MARKS.search(text) or WORDS.search(text):
        return tokens_by_rules(text)
    return text.split()


def tokens_by_rules(text: str) -> list[str]:
    """The same, rule by rule."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text.split()


def place_words(text: str) -> list[tuple[int, str]]:
    """Each token with its offset; one that the text does not hold is put one before the cursor."""
    cursor, found = 0, []
    for token in tokenise(text):
        offset = text.find(token, cursor)
        if offset < 0:
            offset = cursor - 1
        found.append((offset, token))
        cursor = offset + len(token)
    return found
