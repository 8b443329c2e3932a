"""Compatibilities by name, or from given matrices."""

from dataclasses import replace
from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from ..._core import (
    FLOATS,
    Array,
    RowBlocks,
    blocks_of,
    check_array,
    check_points,
    checked,
    dense,
    in_unit,
    row_lengths,
    safe_unit,
)
from ...exceptions import AccuracyWarning, warn
from .axes import aligned_axes, are_columns, leading_svd, polar_rotation, thin_svd
from .maps import Compatibility, Identity, PCAProjection, PseudoInverse, RandomProjection, TruncatedProjection

BLOCK_BYTES = 1 << 25  # of a dense block of columns, at most
GRAM_SIDE = 2500  # shorter side of a matrix up to which a square matrix of this size is decomposed, in seconds
# `python benchmarks/biclustering_table2.py maps` changes it.
ALIGNED_DIRECTIONS = 256  # of larger sparse points, unless twice the components are more
PROJECTIONS = ("pca", "random", "pinv")


@checked(
    name=[StrOptions({"identity", *PROJECTIONS})],
    rng=[np.random.Generator],
    budget=[Interval(Real, 0, None, closed="left")],
)
def make_compatible(name: str, X: Array, Z: Array, rng: np.random.Generator, budget: float = np.inf) -> Compatibility:
    """Construct a compatibility from left points (n, p) and right points (m, q), within a budget in bytes.

    The name is "identity", "pca", "random" or "pinv"; "pca" and "pinv" cost a thin SVD of the wider side.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernel_svd import make_compatible
    >>> A = np.random.default_rng(0).random((6, 4))
    >>> found = make_compatible("pinv", A, A.T, np.random.default_rng(0))
    >>> bool(np.allclose(found.left(A) @ found.right(A.T).T, A))
    True
    """
    X, Z = (side if isinstance(side, RowBlocks) else check_points(side, of) for side, of in ((X, "X"), (Z, "Z")))
    p, q = X.shape[1], Z.shape[1]
    if name == "identity":
        if p != q:
            raise ValueError(
                f"left vectors have {p} entries and right vectors {q}; compatibility='identity' needs equal widths, "
                f"use one of {', '.join(map(repr, PROJECTIONS))} or give a ({p}, {q}) matrix"
            )
        return Identity()
    side, W, N = ("left_factors", X, Z) if p > q else ("right_factors", Z, X)
    if name == "random":
        return _random_projection(W, N, rng, budget, of_right=p <= q)
    if isinstance(X, RowBlocks) or isinstance(Z, RowBlocks):
        raise ValueError(
            f"compatibility={name!r} needs all points in memory, but these are in blocks; use 'random', or give a "
            "matrix"
        )
    _check_budget(name, W, N.shape[1], budget)
    if name == "pinv" and W.shape[0] != N.shape[1]:
        raise ValueError(
            f"compatibility='pinv' is for the rows and columns of one matrix; here {W.shape[0]} vectors have "
            f"{W.shape[1]} entries and the others {N.shape[1]}: use 'pca', 'random' or give a matrix"
        )
    U, s, V = thin_svd(W)
    if name == "pinv":
        return PseudoInverse(residual=_residual_outside(U, W), **{side: (*V, (U / s).T)})
    r = N.shape[1]
    axes = aligned_axes(W, U[:, :r], N, thin_svd)
    return PCAProjection(**{side: (*V[:-1], V[-1][:, :r], axes.T)})


def aligned_compatibility(X: Array, Z: Array, k: float, rng: np.random.Generator, budget: float) -> Compatibility:
    """Construct "pca" for a kernel of |x|^2, |z|^2 and x.z and k components; truncated if sparse points are many."""
    W, N = (X, Z) if X.shape[1] > Z.shape[1] else (Z, X)
    if isinstance(X, RowBlocks) or isinstance(Z, RowBlocks):
        return make_compatible("pca", X, Z, rng, budget)
    r = min(max(ALIGNED_DIRECTIONS, 2 * int(k)), *W.shape, *N.shape)
    if not sparse.issparse(W) or min(W.shape) <= GRAM_SIDE or r == min(W.shape):
        return make_compatible("pca", X, Z, rng, budget)
    _check_bytes("pca", W, (X.shape[0] + Z.shape[0]) * (r + 2) * W.dtype.itemsize, N.shape[1], budget)
    U, s, (wide,) = leading_svd(W, r, rng)
    narrow = aligned_axes(W, U, N, lambda points: leading_svd(points, r, rng))
    energy = _share_of_energy(s, W)
    warn(
        f"compatibility='pca' of {W.shape[0]} sparse vectors of {W.shape[1]} entries compares both sides along {r} "
        f"axes, which hold {energy:.0%} of the squared lengths; the rest counts as orthogonal. For all axes pass a "
        "dense array; kernel='association' compares entries and needs no map",
        AccuracyWarning,
    )
    left, right = (wide, narrow) if W is X else (narrow, wide)
    return TruncatedProjection((left,), (right,), energy)


def compatibility_from_matrix(C: Array, p: int, q: int) -> Compatibility:
    """Compatibility from a given matrix: (p, q) maps left points to the right width, (q, p) the reverse."""
    if C.shape == (p, q):
        return Compatibility(left_factors=(C,))
    if C.shape == (q, p):
        return Compatibility(right_factors=(C,))
    wanted = f"({p}, {q}) to map the left vectors or ({q}, {p}) to map the right ones"
    raise ValueError(f"the compatibility matrix has shape {C.shape}; it must be {wanted}")


def compatibility_from_pair(C1: Array, C2: Array, p: int, q: int) -> Compatibility:
    """Compatibility k(C1^T x, C2 z) from given C1 (p, width) and C2 (width, q) (the 2016 paper's Remark 1)."""
    if C1.shape[0] != p or C2.shape[1] != q or C1.shape[1] != C2.shape[0]:
        shapes = f"shapes {C1.shape} and {C2.shape}"
        raise ValueError(f"the compatibility matrices have {shapes}; they must be ({p}, width) and (width, {q})")
    return Compatibility(left_factors=(C1,), right_factors=(C2.T,))


@checked(width=[Integral, None])
def split_condition(A: np.ndarray, width: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Find C1 (m, q) and C2 (q, n) with A C1 C2 A = A (2016 paper, Remark 1), for the maps x -> C1^T x and z -> C2 z.

    Rows x_i and columns z_j of A are then compared as x_i^T C1 C2 z_j = A_ij, so that the linear kernel SVD of rows and
    columns is the SVD of A. C1 C2 is the pseudo-inverse V s^-1 U^T, split evenly: C1 = V s^-1/2 and C2 = s^-1/2 U^T,
    zero-padded to the width q, which is at least and by default max(n, m), and at most n + m. Cost: O(n m min(n, m)).

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernel_svd import split_condition
    >>> A = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])
    >>> C1, C2 = split_condition(A)
    >>> C1.shape, C2.shape, bool(np.allclose(A @ C1 @ C2 @ A, A))
    ((3, 3), (3, 2), True)
    """
    A = check_array(A, dtype=FLOATS, input_name="A")
    q = max(A.shape) if width is None else width
    if not max(A.shape) <= q <= sum(A.shape):
        raise ValueError(f"width={q} must lie between max(n, m)={max(A.shape)} and n + m={sum(A.shape)} of the matrix")
    U, s, (V,) = thin_svd(A)
    pad = ((0, 0), (0, q - len(s)))
    return np.pad(V / np.sqrt(s), pad), np.pad(U / np.sqrt(s), pad).T


def _random_projection(
    W: Array, N: Array, rng: np.random.Generator, budget: float, *, of_right: bool
) -> RandomProjection:
    """Random projection of points W to the width of points N, rotated towards N if these are the columns of W."""
    width = N.shape[1]
    if not isinstance(W, RowBlocks):  # blocks are mapped when they are read
        _check_budget("random", W, width, budget)
    found = RandomProjection(seed=int(rng.integers(1 << 62)), shape=(W.shape[1], width), of_right=of_right)
    in_memory = not (isinstance(W, RowBlocks) or isinstance(N, RowBlocks))
    if in_memory and width <= GRAM_SIDE and are_columns(N, W):
        return replace(found, rotation=polar_rotation(found.project(W)))
    return found


def _share_of_energy(s: np.ndarray, W: Array) -> float:
    """Share of |W|_F^2 that singular values s hold."""
    unit = safe_unit(W)
    total = float(np.square(row_lengths(in_unit(W, unit)), dtype=float).sum())
    return float(np.square(s / unit, dtype=float).sum()) / total if total > 0 else 1.0


def _residual_outside(U: np.ndarray, W: Array) -> float:
    """|W - U U^T W| / |W|, the relative part of W outside the span of U, computed in blocks of columns."""
    squares = total = 0.0
    W = in_unit(W, safe_unit(W))
    for columns in blocks_of(W.shape[1], W.dtype.itemsize * W.shape[0], BLOCK_BYTES):
        block = dense(W[:, columns])
        squares += float(np.sum((block - U @ (U.T @ block)) ** 2, dtype=float))
        total += float(np.sum(block**2, dtype=float))
    return float(np.sqrt(squares / total)) if total > 0 else 0.0


def _check_budget(name: str, W: Array, width: int, budget: float) -> None:
    """Raise ValueError if the largest array of a projection, a Gram matrix or the mapped points, exceeds the budget."""
    gram = min(W.shape) ** 2 if sparse.issparse(W) and name != "random" else 0
    _check_bytes(name, W, max(gram, W.shape[0] * width) * W.dtype.itemsize, width, budget)


def _check_bytes(name: str, W: Array, needed: int, width: int, budget: float) -> None:
    if needed > budget:
        raise ValueError(
            f"compatibility={name!r} of {W.shape[0]} vectors of {W.shape[1]} entries needs an array of {needed:.3g} "
            f"bytes, above the budget of {budget:.3g}; raise memory_budget, or give a matrix that maps them to {width}"
        )
