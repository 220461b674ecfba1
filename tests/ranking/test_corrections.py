"""Holm and Benjamini-Hochberg against statsmodels."""

import gc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from sandscore.optional_rules.pair_p_values import holm
from sandscore.ranking.pair_tests import benjamini_hochberg

pytestmark = pytest.mark.slow

PVALUES = st.lists(st.one_of(st.floats(1e-6, 1), st.sampled_from([0.01, 0.02, 0.05])), min_size=1, max_size=40)


@settings(deadline=None)
@given(PVALUES)
def test_holm(p: list[float]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "collect", lambda: 0)  # which statsmodels calls each time, as large as our process may be
        theirs = multipletests(p, method="holm")[1].tolist()
    assert holm(p) == pytest.approx(theirs)


@settings(deadline=None)
@given(PVALUES)
def test_benjamini_hochberg(p: list[float]) -> None:
    assert benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1].tolist())


def test_nothing_to_adjust() -> None:
    assert holm([]) == benjamini_hochberg([]) == []
