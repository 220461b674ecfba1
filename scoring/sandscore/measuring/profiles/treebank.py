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

_PLAIN = re.compile(r"[^\"'`:,;.@#$%&?!()\[\]{}<>]*")
_NEEDS_RULES = re.compile(r"(?i)--|\b(?:cannot|gimme|lemme|gonna|gotta|wanna)\b")


def tokenise(text: str) -> list[str]:
    """The tokens of a text, in order."""
    if _PLAIN.fullmatch(text) and not _NEEDS_RULES.search(text):
        return text.split()
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
