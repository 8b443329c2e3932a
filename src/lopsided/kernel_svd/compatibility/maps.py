"""Linear maps that bring vectors of two widths to one, so that a kernel can compare them.

The wider vectors are projected to the width of the narrower ones. For a matrix A whose rows and columns are compared,
the papers' alternatives are a0, the pseudo-inverse of A; a1, a PCA projection; a2, a random projection; a3, learned.
"""

from dataclasses import dataclass
from functools import reduce
from operator import matmul
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from ..._core import FLOATS, Array, dense, eigh, in_unit, safe_unit, slices_of, svd
from ...svd import canonical_signs

BLOCK_ENTRIES = 1 << 22  # entries per dense block of columns, to bound memory
PROJECTIONS = ("pca", "random", "pinv")


@dataclass(frozen=True)
class Compatibility:
    """The maps x -> x C_x and z -> z C_z, each C a product of factors, never formed; without any, the identity."""

    left_factors: tuple[Array, ...] = ()
    right_factors: tuple[Array, ...] = ()
    name: ClassVar[str] = "given"

    def left(self, X: Array) -> Array:
        """Map left points, the rows of X."""
        return reduce(matmul, self.left_factors, X)

    def right(self, Z: Array) -> Array:
        """Map right points, the rows of Z."""
        return reduce(matmul, self.right_factors, Z)


class Identity(Compatibility):
    """Identity on both sides, for vectors of equal width."""

    name = "identity"


class PCAProjection(Compatibility):
    """Alternative a1: projection on leading right singular vectors of the wider points, without a p x p array."""

    name = "pca"


class RandomProjection(Compatibility):
    """Alternative a2: projection by independent normal entries of variance 1 / width, preserving norms on average."""

    name = "random"


@dataclass(frozen=True)
class PseudoInverse(Compatibility):
    """Alternative a0: the pseudo-inverse of the matrix A whose rows and columns are compared."""

    residual: float = 0.0  # |A C A - A| / |A| of the compatibility condition: near eps, or sqrt(eps) for sparse A
    name: ClassVar[str] = "pinv"


class LearnedProjection(Compatibility):
    """Alternative a3: projection learned from a task (:mod:`lopsided.kernel_svd.compatibility.alternate`)."""

    name = "learned"


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
    if name not in ("identity", *PROJECTIONS):
        raise ValueError(f"name={name!r} must be 'identity' or one of {', '.join(map(repr, PROJECTIONS))}")
    p, q = X.shape[1], Z.shape[1]
    if name == "identity":
        if p != q:
            raise ValueError(
                f"left vectors have {p} entries and right vectors {q}; compatibility='identity' needs equal widths, "
                f"use one of {', '.join(map(repr, PROJECTIONS))} or give a ({p}, {q}) matrix"
            )
        return Identity()
    side, W, width = ("left_factors", X, q) if p > q else ("right_factors", Z, p)
    _check_budget(name, W, width, budget)
    if name == "random":
        C = rng.standard_normal((W.shape[1], width)) / np.sqrt(width)
        return RandomProjection(**{side: (C.astype(W.dtype),)})
    if name == "pinv" and W.shape[0] != width:
        raise ValueError(
            f"compatibility='pinv' is for the rows and columns of one matrix; here {W.shape[0]} vectors of "
            f"{W.shape[1]} entries meet vectors of {width}: use 'pca', 'random' or give a matrix"
        )
    U, s, V = thin_svd(W)
    if name == "pinv":
        return PseudoInverse(residual=_outside(U, W), **{side: (*V, (U / s).T)})
    last = (V[-1] * canonical_signs(U))[:, :width]  # zero-padded if the rank of W is below the width
    return PCAProjection(**{side: (*V[:-1], np.pad(last, ((0, 0), (0, width - last.shape[1]))))})


def given(C: Array, p: int, q: int) -> Compatibility:
    """Compatibility from a given matrix: (p, q) maps left points to the right width, (q, p) the reverse."""
    if C.shape == (p, q):
        return Compatibility(left_factors=(C,))
    if C.shape == (q, p):
        return Compatibility(right_factors=(C,))
    wanted = f"({p}, {q}) to map the left vectors or ({q}, {p}) to map the right ones"
    raise ValueError(f"the compatibility matrix has shape {C.shape}; it must be {wanted}")


def given_pair(C1: Array, C2: Array, p: int, q: int) -> Compatibility:
    """Compatibility k(C1^T x, C2 z) from given C1 (p, width) and C2 (width, q) (the 2016 paper's Remark 1)."""
    if C1.shape[0] != p or C2.shape[1] != q or C1.shape[1] != C2.shape[0]:
        shapes = f"shapes {C1.shape} and {C2.shape}"
        raise ValueError(f"the compatibility matrices have {shapes}; they must be ({p}, width) and (width, {q})")
    return Compatibility(left_factors=(C1,), right_factors=(C2.T,))


def split_condition(A: np.ndarray, width: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Find C1 (m, q) and C2 (q, n) with A C1 C2 A = A (2016 paper, Remark 1), for the maps x -> C1^T x and z -> C2 z.

    Rows x_i and columns z_j of A are then compared as x_i^T C1 C2 z_j = A_ij, so that the linear kernel SVD of rows and
    columns is the SVD of A. C1 C2 is the pseudo-inverse V s^-1 U^T, split evenly: C1 = V s^-1/2 and C2 = s^-1/2 U^T,
    zero-padded to the width q, which is at least and by default max(n, m). Cost: O(n m min(n, m)).
    """
    A = check_array(A, dtype=FLOATS, input_name="A")
    q = max(A.shape) if width is None else width
    if q < max(A.shape):
        raise ValueError(f"width={q} is below max(n, m)={max(A.shape)} of the matrix; take at least that")
    U, s, (V,) = thin_svd(A)
    pad = ((0, 0), (0, q - len(s)))
    return np.pad(V / np.sqrt(s), pad), np.pad(U / np.sqrt(s), pad).T


def thin_svd(W: Array) -> tuple[np.ndarray, np.ndarray, tuple[Array, ...]]:
    """SVD of W truncated to its numerical rank: U, s, and factors whose product is V.

    For a sparse W it is computed from the Gram matrix of the smaller side, which drops singular values below about
    sqrt(eps) times the largest.
    """
    if not sparse.issparse(W):
        U, s, Vt = svd(W)
        r = np.count_nonzero(s > max(W.shape) * np.finfo(W.dtype).eps * s[0])
        return U[:, :r], s[:r], (Vt[:r].T,)
    unit = safe_unit(W)
    W = in_unit(W, unit)
    flat = W.shape[0] <= W.shape[1]
    squares, Q = eigh((W @ W.T if flat else W.T @ W).toarray())
    s, Q = np.sqrt(np.maximum(squares[::-1], 0)), Q[:, ::-1]
    r = np.count_nonzero(s > np.sqrt(max(W.shape) * np.finfo(W.dtype).eps) * s[0])
    s, Q = s[:r], Q[:, :r]
    return (Q, s * unit, (sparse.csr_array(W.T), Q / s)) if flat else (W @ (Q / s), s * unit, (Q,))


def _outside(U: np.ndarray, W: Array) -> float:
    """|W - U U^T W| / |W|, the relative part of W outside the span of U, computed in blocks of columns."""
    squares = total = 0.0
    W = in_unit(W, safe_unit(W))
    for columns in slices_of(W.shape[1], BLOCK_ENTRIES // W.shape[0]):
        block = dense(W[:, columns])
        squares += float(np.sum((block - U @ (U.T @ block)) ** 2, dtype=float))
        total += float(np.sum(block**2, dtype=float))
    return float(np.sqrt(squares / total)) if total > 0 else 0.0


def _check_budget(name: str, W: Array, width: int, budget: float) -> None:
    """Raise ValueError if the largest array of a projection, a Gram matrix or the map, would exceed the budget."""
    gram = min(W.shape) ** 2 if sparse.issparse(W) and name != "random" else 0
    needed = max(gram, W.shape[1] * width if name == "random" else 0, W.shape[0] * width) * W.dtype.itemsize
    if needed > budget:
        raise ValueError(
            f"compatibility={name!r} of {W.shape[0]} vectors of {W.shape[1]} entries needs an array of {needed:.3g} "
            f"bytes, above the budget of {budget:.3g}; raise memory_budget, or give a matrix that maps them to {width}"
        )
