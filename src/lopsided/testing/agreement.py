"""Comparison of arrays up to rounding, with messages that name the law that was broken."""

import numpy as np

ROUNDINGS = 1e3  # units of eps times the largest entry by which two ways to compute the same entries may differ


def assert_same(actual: np.ndarray, expected: np.ndarray, law: str, *, tol: float | None = None) -> None:
    """Raise AssertionError, which names the law, if shapes differ or entries differ by more than rounding.

    ``tol`` is a share of the largest expected entry; None means a thousand times eps of the coarser of both dtypes.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"{law}: shape {actual.shape} where {expected.shape} is expected"
    assert np.isfinite(actual).all(), f"{law}: {np.count_nonzero(~np.isfinite(actual))} entries are NaN or infinite"
    if tol is None:
        tol = ROUNDINGS * max(float(np.finfo(np.result_type(array, np.float32)).eps) for array in (actual, expected))
    largest = float(np.abs(expected).max(initial=0.0))
    error = float(np.abs(actual - expected).max(initial=0.0))
    bound = tol * largest
    assert error <= bound, f"{law}: entries differ by up to {error:.2g}, more than {bound:.2g} ({largest=:.2g})"
