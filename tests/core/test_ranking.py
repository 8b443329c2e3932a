"""The best right things for each left one, against a full sort."""

import numpy as np
import pytest
from scipy import sparse

from lopsided._core import best_first, ranking
from lopsided.exceptions import NotFiniteError


@pytest.mark.parametrize("k", [1, 5, 30, 99])
@pytest.mark.parametrize("block", [1 << 27, 1200])
def test_best_first_is_a_full_sort_without_what_is_left_out(k, block, monkeypatch, rng):
    monkeypatch.setattr(ranking, "BLOCK_BYTES", block)
    left, right, rows = rng.standard_normal((20, 3)), rng.standard_normal((40, 3)), np.array([3, 3, 19, 0])
    out = sparse.csr_array(rng.random((20, 40)) < 0.3)
    extra = sparse.random_array((20, 40), density=0.2, rng=rng, format="csr")
    found = best_first(left, right, rows, k, out, extra)
    scores = np.where(out.toarray(), -np.inf, left @ right.T + extra.toarray())
    expected = [(row, j) for row in rows for j in np.argsort(-scores[row])[:k] if np.isfinite(scores[row, j])]
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == [(int(i), int(j)) for i, j in expected]
    np.testing.assert_allclose(found.scores, [scores[pair] for pair in expected])


@pytest.mark.parametrize("columns", [10, 5000])
@pytest.mark.parametrize("column", [0, 7])
def test_scores_that_are_nan_are_not_ranked(columns, column, rng):
    scores = rng.standard_normal((3, columns))
    scores[1, column] = np.nan
    with pytest.raises(NotFiniteError, match="overflow to NaN"):
        ranking.largest(scores, 4)
    scores[1, column] = -np.inf  # left out
    np.testing.assert_array_equal(ranking.largest(scores, 4), np.argsort(-scores, axis=1)[:, :4])
