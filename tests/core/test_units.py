"""Units in which squares neither overflow nor vanish."""

import numpy as np
import pytest
from scipy import sparse

from lopsided._core.units import in_unit, row_lengths, safe_unit, unit_rows, whole
from lopsided.biclustering.weighting import Weighting

TRIPLES = np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 0.0], [-2.0, 3.0, -6.0]])
LENGTHS = np.array([5.0, 0.0, 7.0])


def extremes(dtype):
    limits = np.finfo(dtype)
    return [float(limits.smallest_subnormal) * 8, float(limits.tiny), float(limits.tiny) ** 0.4, float(limits.max) / 8]


EXTREME = [(dtype, unit) for dtype in (np.float32, np.float64) for unit in extremes(dtype)]


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("dtype", "size"), EXTREME)
def test_in_a_safe_unit_squares_are_numbers_and_no_digit_is_lost(dtype, size, container):
    X = container((size * TRIPLES).astype(dtype))
    unit = safe_unit(X)
    Y = in_unit(X, unit)
    assert np.frexp(unit)[0] == 0.5 and Y.dtype == unit.dtype == dtype
    assert np.finfo(dtype).eps ** 2 < (Y * Y).sum() < 100  # a subnormal unit would have no reciprocal
    np.testing.assert_array_equal((Y * unit - X).sum(), 0)


@pytest.mark.parametrize("X", [TRIPLES, np.zeros((2, 2)), np.zeros((0, 2)), np.array([[np.inf]]), np.array([[np.nan]])])
def test_what_needs_no_unit_or_has_none_is_not_copied(X):
    assert safe_unit(X) == 1
    assert in_unit(X, safe_unit(X)) is X


def test_two_sides_share_the_unit_of_the_larger():
    assert safe_unit(TRIPLES, 2.0**900 * TRIPLES) == safe_unit(2.0**900 * TRIPLES) == 2.0**902


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("dtype", "size"), EXTREME)
def test_lengths_of_rows_are_right_in_any_unit(dtype, size, container):
    lengths = row_lengths(container((size * TRIPLES).astype(dtype)))
    assert lengths.dtype == dtype
    np.testing.assert_allclose(lengths / dtype(size), LENGTHS, rtol=1e-6)


def test_entries_stored_twice_count_as_their_sum():
    X = sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2))
    assert row_lengths(X) == 5


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_unit_rows_have_length_one_and_zeros_stay(size):
    np.testing.assert_allclose(unit_rows(size * np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0, 0]])


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", ["length", "tfidf"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_a_table_have_length_one_however_short_they_are_beside_others(dtype, name, container):
    X = container((np.array([[1e10], [1.0], [1e-10]]) * TRIPLES).astype(dtype))
    np.testing.assert_allclose(row_lengths(Weighting.of_table(name, X).rows(X)), [1, 0, 1], rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_are_no_counts_in_any_unit(dtype):
    counts, weights = np.array([0, 1, 3, 7], dtype=dtype), np.array([0, 0.1, 0.7], dtype=dtype)
    assert whole(counts) and whole(0 * counts) and whole(counts[:0]) and whole(np.append(counts, dtype(1e30)))
    assert not whole(weights) and not whole(weights * dtype(1e30))
