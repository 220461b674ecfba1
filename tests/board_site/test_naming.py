"""File names of submissions: plain, different for different names, the same for the same."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandscore.site.site_folder import file_name


@pytest.mark.parametrize("name", ["date-good", "v1.2", "9"])
def test_plain_names_stay(name: str) -> None:
    assert file_name(name) == name


@pytest.mark.parametrize("name", ["index", "CON", "a/b", "..", "", "Date", "x" * 100, "café", "a\u200b"])
def test_others_get_a_hash(name: str) -> None:
    assert re.fullmatch(r"([a-z0-9-]{1,60}-)?[0-9a-f]{10}", file_name(name))


@given(st.sets(st.text(), min_size=2, max_size=6))
def test_different_names_make_different_files_even_where_case_is_ignored(names: set[str]) -> None:
    assert len({file_name(name).lower() for name in names}) == len(names)
