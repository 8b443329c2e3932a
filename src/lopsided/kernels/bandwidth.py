"""Default bandwidths from the scale of the data, and checks that exponents survive rounding."""

from typing import NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from .._core import Array, RowBlocks, canonical, in_unit, is_sparse, row_lengths, run, safe_unit, same_points, slices_of
from ..exceptions import AccuracyWarning, warn
from .base import Kernel
from .constraints import POSITIVE
from .points import squared_norms

CHUNK_ENTRIES = 1 << 20  # processed at once, so that temporary copies stay small
SAMPLED_ROWS = 1 << 13  # per side, at least, if there are more: enough for a mean, a median or quantiles
CONSTANT_EPS = 64  # in units of eps times the mean: deviations below it are rounding errors of constant data
MAX_EXPONENT_ERROR = 1e-3  # largest tolerated rounding error of an exponent: a divergence, or (distance / bandwidth)^2
WARNED_EXPONENT_ERROR = 0.1  # the same between the longest points of both sides, above which there is a warning


def euclidean_bandwidth(X: Array, Z: Array) -> float:
    """Return sqrt(width) x standard deviation, the rule of the 2024 paper (C.2); one for constant data."""
    return float(np.sqrt(X.shape[1])) * _deviation(X, Z) or 1.0


def manhattan_bandwidth(X: Array, Z: Array) -> float:
    """Return width x standard deviation, the same rule for distances in the 1-norm; one for constant data."""
    return X.shape[1] * _deviation(X, Z) or 1.0


def root_mean_squared_distance(X: Array, Z: Array) -> float:
    """Root of the mean of |x - z|^2 over all pairs, from means and variances in O(n + m); one for constant data."""
    unit, moments = _moments(X, Z)
    (left, left_variance), (right, right_variance) = moments[0], moments[-1]
    found = left_variance + right_variance + float((left - right) @ (left - right))
    return unit * float(np.sqrt(found)) if found > 0 else 1.0


def summed_deviations(X: Array) -> float:
    """Sum of the standard deviations of the columns, the scale of distances in the 1-norm; one for constant data."""
    unit = float(safe_unit(X))
    X = in_unit(X, X.dtype.type(unit))
    if sparse.issparse(X):
        variances = mean_variance_axis(canonical(X).astype(float, copy=False), axis=0)[1]
    else:
        parts = slices_of(X.shape[1], max(1, CHUNK_ENTRIES // X.shape[0]))
        variances = np.concatenate([X[:, columns].var(axis=0, dtype=float) for columns in parts])
    return unit * float(np.sqrt(variances).sum()) or 1.0


class BandwidthKernel(Kernel):
    """Base class of the kernels with a bandwidth that is learned if it is None.

    Attributes
    ----------
    bandwidth_ : float
        The bandwidth, given or learned.
    """

    _parameter_constraints = {"bandwidth": [POSITIVE, None]}
    default_bandwidth = staticmethod(euclidean_bandwidth)

    def __init__(self, bandwidth: float | None = None) -> None:
        self.bandwidth = bandwidth

    def fit(self, X: Array, Z: Array) -> Self:
        """Learn the bandwidth if it is None."""
        super().fit(X, Z)
        self.bandwidth_ = self.default_bandwidth(X, Z) if self.bandwidth is None else float(self.bandwidth)
        check_inverse(self.bandwidth_, X.dtype)
        return self


def origin_of(X: Array, Z: Array) -> np.ndarray | None:
    """Mean of a sample of right points, near which squared distances lose fewest digits; None if a side is sparse."""
    if is_sparse(X) or is_sparse(Z):
        return None
    mean = _evenly_spaced(Z).mean(axis=0)
    with np.errstate(over="ignore"):  # in single precision where it fits, so that it is the same for points of float32
        short = mean.astype(np.float32).astype(mean.dtype)
    return np.where(np.isfinite(short), short, mean)


def check_inverse(bandwidth: float, dtype: np.dtype) -> None:
    """Raise ValueError if 1 / bandwidth overflows."""
    if 1 / bandwidth > float(np.finfo(dtype).max):
        raise ValueError(f"1 / bandwidth overflows in {dtype} for bandwidth={bandwidth:g}; scale the data")


def check_resolution(bandwidth: float, origin: np.ndarray | None, X: Array, Z: Array) -> None:
    """Raise ValueError if rounding of |x|^2 + |z|^2 - 2 x.z drowns bandwidth^2; warn if it does for outliers only."""
    sides = [sample_if_in_blocks(side) for side in _distinct_sides(X, Z)]
    typical = float(
        np.median(np.concatenate([_squared_distances_from(origin, _evenly_spaced(side)) for side in sides]))
    )
    if not np.isfinite(typical):
        raise ValueError(f"squared distances between typical points overflow in {X.dtype}; scale the data")
    eps = float(np.finfo(X.dtype).eps)
    least = float(np.sqrt(eps * typical / MAX_EXPONENT_ERROR))
    if bandwidth < least:
        raise ValueError(
            f"bandwidth={bandwidth:g} is lost in the rounding of distances between points as long as "
            f"{np.sqrt(typical):.3g} in {X.dtype}; use at least {least:.2g}, or scale the data"
        )
    per_square = eps / bandwidth / bandwidth
    if per_square * min(_norm_bound(origin, side) for side in sides) > WARNED_EXPONENT_ERROR:
        far = float(min(_squared_distances_from(origin, side).max() for side in sides))
        _warn_of_outliers(per_square * far, f"points as long as {np.sqrt(far):.3g}", f"{bandwidth=:g}", X.dtype)


def check_products(scale: float, X: Array, Z: Array) -> None:
    """Raise ValueError if rounding errors of x.z are too large relative to the scale; warn of outliers."""
    lengths = [row_lengths(sample_if_in_blocks(side)).astype(float) for side in (X, Z)]
    typical, largest = (float(part(lengths[0])) * float(part(lengths[1])) for part in (np.median, np.max))
    limits = np.finfo(X.dtype)
    eps, most = float(limits.eps), float(limits.max)
    if not largest < most * min(scale, 1.0) or 1 / scale > most:
        raise ValueError(f"x.z / scale overflows in {X.dtype} for scale={scale:g}; scale the data")
    if eps * typical > MAX_EXPONENT_ERROR * scale:
        raise ValueError(
            f"scale={scale:g} is lost in the rounding of inner products as large as {typical:.3g} in {X.dtype}; use "
            f"at least {eps * typical / MAX_EXPONENT_ERROR:.2g}, or scale the data"
        )
    _warn_of_outliers(eps * largest / scale, f"points with products of {largest:.3g}", f"{scale=:g}", X.dtype)


def _warn_of_outliers(off: float, points: str, parameter: str, dtype: np.dtype) -> None:
    """Warn if the exponents between the longest points are off by much."""
    if off > WARNED_EXPONENT_ERROR:
        warn(
            f"both sides have {points}, and values between such points are off by factors up to exp({off:.2g}) in "
            f"{dtype} with {parameter}; use a larger one, leave such points out"
            f"{', or use double precision' if dtype == np.float32 else ''}",
            AccuracyWarning,
        )


def _deviation(X: Array, Z: Array) -> float:
    """Standard deviation of all entries, zeros included; each side has weight one half, as it has in distances."""
    unit, moments = _moments(X, Z)
    centre = float(np.mean([mean for mean, _ in moments]))
    found = np.mean([variance / X.shape[1] + np.square(mean - centre).mean() for mean, variance in moments])
    rounding = CONSTANT_EPS * np.finfo(float).eps * centre
    return unit * float(np.sqrt(found)) if found > rounding**2 else 0.0  # else constant up to rounding


def _moments(X: Array, Z: Array) -> tuple[float, list[tuple[np.ndarray, float]]]:
    """Return a safe unit and, in it, the mean of each distinct side and the mean squared distance from that mean."""
    sides = _distinct_sides(X, Z)
    if any(isinstance(side, RowBlocks) for side in sides):
        found = [side.fold(_spread, _joined_spread) if isinstance(side, RowBlocks) else _spread(side) for side in sides]
        unit = max(spread.unit for spread in found)
        return unit, [spread.within(unit) for spread in found]
    unit = float(safe_unit(*sides))
    return unit, [_mean_and_variance(in_unit(side, side.dtype.type(unit))) for side in sides]


class _Spread(NamedTuple):
    """Number of rows of a block, their mean, and the mean squared distance from it, in a unit."""

    unit: float
    rows: int
    mean: np.ndarray
    variance: float

    def within(self, unit: float) -> tuple[np.ndarray, float]:
        ratio = self.unit / unit
        return self.mean * ratio, self.variance * ratio * ratio


def _spread(block: Array) -> _Spread:
    unit = safe_unit(block)
    return _Spread(float(unit), block.shape[0], *_mean_and_variance(in_unit(block, unit)))


def _joined_spread(parts: list[_Spread]) -> _Spread:
    """The spread of several blocks together."""
    unit, rows = max(part.unit for part in parts), sum(part.rows for part in parts)
    shares, found = [part.rows / rows for part in parts], [part.within(unit) for part in parts]
    mean = sum(share * each for share, (each, _) in zip(shares, found, strict=True))
    apart = [variance + float(np.square(each - mean).sum()) for each, variance in found]
    return _Spread(unit, rows, np.asarray(mean), sum(share * each for share, each in zip(shares, apart, strict=True)))


def _mean_and_variance(X: Array) -> tuple[np.ndarray, float]:
    if sparse.issparse(X):
        mean, variances = mean_variance_axis(canonical(X).astype(float, copy=False), axis=0)
        return mean, float(variances.sum())
    mean = X.mean(axis=0, dtype=float)
    return mean, float(_squared_distances_from(mean.astype(X.dtype), X).mean(dtype=float))


def _distinct_sides(X: Array, Z: Array) -> list[Array]:
    """Both sides, or one if they hold the same points."""
    return [X] if same_points(X, Z) else [X, Z]


def _norm_bound(origin: np.ndarray | None, X: Array) -> float:
    """Bound on |x - origin|^2 over all rows, from the largest and the least entry."""
    X = canonical(X)  # scipy's max would add duplicates up and sort in place
    ends = [X.max(), X.min(), *((0.0,) if origin is None else (origin.max(), origin.min()))]
    span = float(max(ends)) - float(min(ends))
    return X.shape[1] * span * span  # span**2 would raise an error where it overflows


def sample_if_in_blocks(X: Array) -> Array:
    """Points themselves, or of blocks a few evenly spaced rows; of sparse blocks the first one."""
    if isinstance(X, RowBlocks):
        return X.peek() if X.is_sparse else _evenly_spaced(X)
    return X


def _evenly_spaced(X: Array) -> Array:
    """Evenly spaced rows, enough for a median; all rows of sparse points, whose norms cost less than a copy."""
    return X if sparse.issparse(X) else X[:: max(1, X.shape[0] // SAMPLED_ROWS)]


def _squared_distances_from(origin: np.ndarray | None, X: Array) -> np.ndarray:
    """Return |x - origin|^2 for every row; None means the zero vector."""
    if origin is None:
        return squared_norms(X)
    slices = slices_of(X.shape[0], CHUNK_ENTRIES // X.shape[1])
    return np.concatenate(run(lambda rows: squared_norms(X[rows] - origin), slices))
