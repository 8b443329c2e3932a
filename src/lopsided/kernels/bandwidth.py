"""The length scale of the data, for kernels whose bandwidth is left to them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .._parallel import run, slices_of
from .points import Array, canonical
from .structure import squared_norms

CHUNK = 1 << 20  # entries that are looked at together, so that copies of them stay small
TYPICAL = 1 << 13  # points of a side, whose median length stands for that of all
MEANS_EPS = 64  # eps, relative to a mean: rounding may put it off by so much, and constant data seem to vary
LARGE = 1e100  # numbers whose squares are summed as they are
LOST = 1e-3  # error of an exponent (a divergence, or (distance / bandwidth)^2) above which data are refused


def deviation(X: Array, Z: Array) -> float:
    """Standard deviation of all entries of two arrays, zeros of sparse ones included; each array counts for one half.

    A distance has one end on each side, however many points there are on either.
    """
    X, Z = canonical(X), canonical(Z)
    unit = max(_peak(X), _peak(Z))
    if unit == 0 or 1 / LARGE < unit < LARGE:
        unit = 1.0
    else:  # squares would overflow or vanish
        X, Z = X / unit, Z / unit
    mean = (_mean(X) + _mean(Z)) / 2
    found = (_mean_square(X, mean) + _mean_square(Z, mean)) / 2
    rounding = MEANS_EPS * np.finfo(float).eps * mean
    return unit * float(np.sqrt(found)) if found > rounding**2 else 0.0  # what is left of a constant


def euclidean_bandwidth(X: Array, Z: Array) -> float:
    """Sqrt(width) x standard deviation, the rule of the 2024 paper (C.2); one for constant data."""
    return float(np.sqrt(X.shape[1])) * deviation(X, Z) or 1.0


def manhattan_bandwidth(X: Array, Z: Array) -> float:
    """Width x standard deviation, the same rule for distances in the 1-norm; one for constant data."""
    return X.shape[1] * deviation(X, Z) or 1.0


def mean_squared_distance(X: Array, Z: Array) -> float:
    """Mean of |x - z|^2 over all pairs, from means and spreads of both sides in O(n + m); one if all are the same."""
    means, squares = [], 0.0
    for side in (X, Z):
        means.append(np.asarray(side.mean(axis=0, dtype=float)).ravel())
        centre = None if sparse.issparse(side) else means[-1].astype(side.dtype)
        spread = float(_norms_from(centre, side).mean(dtype=float))
        squares += spread - (float(means[-1] @ means[-1]) if centre is None else 0.0)
    apart = means[0] - means[1]
    found = squares + float(apart @ apart)
    return found if found > 0 else 1.0


def origin_of(Z: Array) -> np.ndarray:
    """The mean of some of the points, near which least is lost to rounding.

    It is rounded to single precision, so that points of either type are moved by the same vector, unless it would
    overflow there.
    """
    mean = _spaced(Z).mean(axis=0)
    with np.errstate(over="ignore"):
        short = mean.astype(np.float32).astype(mean.dtype)
    return np.where(np.isfinite(short), short, mean)


def check_resolution(bandwidth: float, origin: np.ndarray | None, X: Array, Z: Array) -> None:
    """Refuse a bandwidth so small that squared distances, in units of its square, are lost in rounding.

    They are computed as |x|^2 + |z|^2 - 2 x.z, which cancels for points far from the origin; typical ones decide.
    """
    typical = float(np.median(np.concatenate([_norms_from(origin, some) for some in (_spaced(X), _spaced(Z))])))
    if not np.isfinite(typical):
        raise ValueError(f"squared distances between typical points overflow in {X.dtype}; scale the data")
    least = np.sqrt(np.finfo(X.dtype).eps * typical / LOST)
    if bandwidth < least:
        raise ValueError(
            f"bandwidth={bandwidth:g} is lost in the rounding of distances between points as long as "
            f"{np.sqrt(typical):.3g} in {X.dtype}; take at least {least:.2g}, or scale the data"
        )


def _spaced(X: Array) -> Array:
    """Rows at even distances, enough of them for a median; all of sparse points, whose norms cost less than a copy."""
    return X if sparse.issparse(X) else X[:: max(1, X.shape[0] // TYPICAL)]


def _norms_from(origin: np.ndarray | None, X: Array) -> np.ndarray:
    """|x - origin|^2 for every row; None is the origin of the coordinates."""
    if origin is None:
        return squared_norms(X)
    slices = slices_of(X.shape[0], CHUNK // X.shape[1])
    return np.concatenate(run(lambda rows: squared_norms(X[rows] - origin), slices))


def _peak(X: Array) -> float:
    return max(float(max(chunk.max(initial=0), -chunk.min(initial=0))) for chunk in _chunks(X))


def _mean(X: Array) -> float:
    return sum(float(chunk.sum(dtype=float)) for chunk in _chunks(X)) / np.prod(X.shape, dtype=float)


def _mean_square(X: Array, centre: float) -> float:
    """Mean of (x - centre)^2 over all entries."""
    chunks, size = _chunks(X), np.prod(X.shape, dtype=float)
    spread = sum(float(np.square(chunk - centre, dtype=float).sum()) for chunk in chunks)
    return float(spread + (size - sum(chunk.size for chunk in chunks)) * centre**2) / size


def _chunks(X: Array) -> list[np.ndarray]:
    entries = X.data if sparse.issparse(X) else X
    return [entries[rows] for rows in slices_of(len(entries), CHUNK * len(entries) // max(1, entries.size))]
