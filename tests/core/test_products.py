"""Dense products on the library's threads are those of numpy, whatever the shapes, the layout and the threads."""

import numpy as np
import pytest

from lopsided._core import in_strips, jobs, product

SHAPES = [(1000, 30, 20), (1024, 128, 5), (640, 3, 1), (600, 3, 0), (900, 200, 300), (3, 4, 5), (50, 1, 7)]
LARGE = [(9000, 30, 20), (30, 9000, 20), (3000, 600, 1), (600, 3000, 1), (700, 600, 9), (4, 300_000, 4)]


@pytest.mark.parametrize("multiply", [product, in_strips])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("rows", "inner", "columns"), SHAPES + LARGE)
def test_products_are_those_of_numpy(rows, inner, columns, order, n_jobs, multiply, rng):
    for dtype in (np.float32, np.float64):
        Y = np.asarray(rng.standard_normal((rows, inner)), dtype, order=order)
        W = np.asarray(rng.standard_normal((inner, columns)), dtype, order=order)
        with jobs(n_jobs):
            found = multiply(Y, W)
        assert found.dtype == dtype
        expected = Y.astype(float) @ W
        np.testing.assert_allclose(found, expected, rtol=0, atol=4 * np.finfo(dtype).eps * inner)


@pytest.mark.parametrize(("rows", "inner", "columns"), LARGE)
def test_the_number_of_threads_changes_no_bit(rows, inner, columns, rng):
    Y, W = rng.standard_normal((rows, inner)), rng.standard_normal((inner, columns))
    found = []
    for n_jobs in (2, 3, 5):
        with jobs(n_jobs):
            found.append(product(Y, W))
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
