"""Treebank tokens; the expected lists are what NLTK 3.9.1's TreebankWordTokenizer returns."""

import pytest

from sandscore.profiles.nlpsandbox.penn_treebank import place_words, tokenise

NLTK = [
    ('Said "Ann"', ["Said", "``", "Ann", "''"]),
    ("a ''b''", ["a", "``", "b", "''"]),
    ("10:30, Friday", ["10:30", ",", "Friday"]),
    ("a,,b", ["a", ",", ",b"]),
    ("noon:\n5", ["noon", ":", "5"]),
    ("wait...", ["wait", "..."]),
    ("a;b@c#1$2%3&4", ["a", ";", "b", "@", "c", "#", "1", "$", "2", "%", "3", "&", "4"]),
    ("U.S.", ["U.S", "."]),
    ("St. John", ["St.", "John"]),
    ("St.", ["St", "."]),
    ('end.) "', ["end.", ")", "``"]),
    ("a..", ["a.."]),
    ("why?!", ["why", "?", "!"]),
    ("dogs' park", ["dogs", "'", "park"]),
    ("(May)[x]{y}<z>", ["(", "May", ")", "[", "x", "]", "{", "y", "}", "<", "z", ">"]),
    ("1/2--1/5", ["1/2", "--", "1/5"]),
    ("David's Lee", ["David", "'s", "Lee"]),
    ("David's\tLee", ["David's", "Lee"]),
    ("O'Brien", ["O'Brien"]),
    ("I'm they'LL don't CAN'T", ["I", "'m", "they", "'LL", "do", "n't", "CA", "N'T"]),
    ("He'Ll go", ["He'Ll", "go"]),
    ("Cannot", ["Can", "not"]),
    ("d'ye Gimme GONNA", ["d", "'ye", "Gim", "me", "GON", "NA"]),
    ("gotta lemme more'n wanna", ["got", "ta", "lem", "me", "more", "'n", "wan", "na"]),
    ("'tis 'Twas", ["'t", "is", "'T", "was"]),
    ("\n'tis", ["'tis"]),
    ("'tiſ'twas", ["'t", "iſ", "'t", "was"]),
    ("Mary’s hat", ["Mary’s", "hat"]),
    ("a\u00a0b\u3000c", ["a", "b", "c"]),
    ("a\u200bb", ["a\u200bb"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "tokens"), NLTK)
def test_tokens_are_those_of_nltk(text: str, tokens: list[str]) -> None:
    assert tokenise(text) == tokens


def test_a_quote_stands_one_before_the_cursor() -> None:
    assert place_words('"Ann"') == [(-1, "``"), (1, "Ann"), (3, "''")]


def test_repeated_words_are_found_one_after_the_other() -> None:
    assert place_words("so, so") == [(0, "so"), (2, ","), (4, "so")]
