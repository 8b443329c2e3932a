"""An estimate of the error of a Nystrom approximation, from rows and columns that were held out."""

import numpy as np

from .._core import Array, RowBlocks, eigh, rows_of_both, run, singular_values, slices_of, svd
from ..exceptions import AccuracyWarning, warn
from ..operators import TILE_BYTES, KernelOperator, as_operator
from .extension import NystromFactors
from .landmarks import leverage

CHECKED_ROWS, ROWS_PER_TRIPLET = 64, 2  # rows that check the singular values: so many, or per triplet if more
CHECKED_COLUMNS = 1 << 14  # columns of these rows, at most
CHECKED_SIZE = 1e-3  # of the largest singular value: smaller ones are not checked
# Share of a singular value that the rows must confirm; the first must also be that share of what they show. See
# tests/reliability/test_nystrom_values.py.
CONFIRMED_SHARE = 0.7
# Size of what is left of the matrix, in units of the last singular value, above which a component may be missing. Of
# 277 fits to heavy tails, rare clusters and spikes, 14 have an eta above twice the tolerance; this finds 9 of them, and
# 5 others, mostly with an eta near the tolerance.
MOST_LEFT_OVER = 1.4
# Rows, and columns, on which eta is estimated: so many, or per triplet if more. On protein-casp the estimate is 0.8 to
# 1.9 times eta with 128 of them, and up to 7 times with 32.
HELD_OUT_ROWS, HELD_OUT_PER_TRIPLET = 128, 4


def estimate_eta(result: NystromFactors, X: Array, Z: Array, rng: np.random.Generator) -> float:
    """Relative eta (the 2024 paper's over s_1), estimated from a few rows and columns of the matrix.

    It is the mean of 1 - |cosine| between approximate and exact singular vectors, weighted by s_i / s_1, with both
    sides added. The exact vectors are unknown. The estimate replaces the left ones by K V on held-out rows H, because
    a power step moves the span towards that of the exact vectors. Within this span, the vectors are rotated by the
    right singular vectors of B, the least-squares solution of U[H] B = (K V)[H]. The right side is treated likewise.
    Spare triplets beyond k reveal which vectors the last ones are mixed with. The estimate cannot detect structure on
    a few rows that are neither landmarks nor held out.

    Cost: h (n + m) kernel values for h held-out rows and h columns, where h is 128, or four per triplet if more.
    """
    factors, (rows, columns) = result.factors, result.landmarks
    count = max(HELD_OUT_ROWS, HELD_OUT_PER_TRIPLET * len(factors.s))
    held = _held_out(X.shape[0], rows.indices, count, rng)
    left = _errors(result, as_operator(result.kernel, X[held], Z), factors.U, factors.V, held)
    held = _held_out(Z.shape[0], columns.indices, count, rng)
    right = _errors(result, as_operator(result.kernel, X, Z[held]).T, factors.V, factors.U, held)
    weights = factors.s / factors.s[0]
    return sum(float(np.mean((weights * errors)[: result.k])) for errors in (left, right))


def _errors(
    result: NystromFactors, A: KernelOperator, vectors: np.ndarray, others: np.ndarray, held: np.ndarray
) -> np.ndarray:
    """1 - |cosine| between vectors of a side and better ones, A times those of the other side, at the held-out rows."""
    better, found = (A @ others).astype(float) @ _whitening(others), vectors[held].astype(float)
    if result.means is not None:
        better, found = better - better.mean(axis=0), found - found.mean(axis=0)
    between = np.linalg.lstsq(found @ _whitening(vectors), better, rcond=None)[0]
    better = better @ svd(between)[2].T
    lengths = np.linalg.norm(better, axis=0) * np.linalg.norm(found, axis=0)
    cosines = np.abs(np.einsum("ij,ij->j", better, found)) / np.maximum(lengths, np.finfo(float).tiny)
    return 1 - np.minimum(cosines, 1)


def warn_if_unconfirmed(result: NystromFactors, X: Array, Z: Array, k: int, seed: int) -> None:
    """Warn if the k leading singular values are far from u^T K v, as happens if landmarks miss what matters.

    On rows drawn by their leverage, u_i (K v)_i is summed and divided by the sum of u_i^2: all terms give the singular
    value if the triplet is accurate. The first value must be neither too large nor too small, the others not too
    large. Beyond 16,384 columns, K v is itself the mean of as many draws with the probabilities v_j^2, and only the
    first value stands out from their noise; of rows in blocks the first alone is gathered. Cost:
    kernel values of 64 rows, or two per triplet, with min(m, 16384) columns.
    """
    sides = result.factors.U, result.factors.V
    if sides[1].shape[0] > CHECKED_COLUMNS or any(isinstance(side, RowBlocks) for side in sides):
        k = 1
    U, V = (_leading(side, k) for side in sides)
    rng, s = np.random.default_rng(seed), result.factors.s[: U.shape[1]].astype(float)
    draws = max(CHECKED_ROWS, ROWS_PER_TRIPLET * len(s))
    rows, columns, weights = np.unique(rng.choice(len(U), draws, p=leverage(U))), np.arange(len(V)), V.astype(float)
    if len(V) > CHECKED_COLUMNS:
        shares = leverage(V)
        columns, counts = np.unique(rng.choice(len(V), CHECKED_COLUMNS, p=shares), return_counts=True)
        weights = (counts / CHECKED_COLUMNS / shares[columns])[:, None] * weights[columns]
    A = as_operator(result.kernel, *rows_of_both(X, rows, Z, columns))
    u, found = U[rows].astype(float), (A @ weights.astype(A.dtype)).astype(float)
    if result.means is not None:
        left, right = result.means
        found -= right[columns] @ weights + np.outer(left[rows] - left.mean(), weights.sum(axis=0))
    confirmed = np.einsum("ij,ij->j", u, found) / np.maximum(np.square(u).sum(axis=0), np.finfo(float).tiny)
    wrong = (s > CHECKED_SIZE * s[0]) & (confirmed < CONFIRMED_SHARE * s)
    wrong[0] |= not confirmed[0] < s[0] / CONFIRMED_SHARE
    if wrong.any():
        first = int(wrong.argmax())
        which = "a largest singular value" if first == 0 else f"singular value {first + 1} a size"
        warn(
            f"landmarks give {which} of {s[first]:.3g}, where rows of K confirm {max(confirmed[first], 0):.3g}; use "
            "more landmarks, landmarks='pivoted', or an exact solver",
            AccuracyWarning,
        )


def _leading(vectors: np.ndarray, k: int) -> np.ndarray:
    """The k leading vectors as an array; of rows in blocks only the first one, k = 1, is gathered."""
    return vectors.column(0)[:, None] if isinstance(vectors, RowBlocks) else vectors[:, :k]


def warn_if_left_over(result: NystromFactors, X: Array, Z: Array, tol: float, rng: np.random.Generator) -> None:
    """Warn if held-out rows or columns of K less its approximation hold a component that belongs to the leading ones.

    Structure of a few rows that are neither landmarks nor held out does not show in the estimate of eta, but does in
    held-out columns, whose rows are all evaluated. Cost: that of :func:`estimate_eta`.
    """
    k, count = result.k, max(HELD_OUT_ROWS, HELD_OUT_PER_TRIPLET * result.k)
    U, s, V = result.factors.U[:, :k], result.factors.s[:k].astype(float), result.factors.V[:, :k]
    of_rows, of_columns = (np.zeros(len(U)), np.zeros(len(V))) if result.means is None else result.means
    of_columns = of_columns - of_rows.mean()
    columns = _held_out(len(V), result.landmarks[1].indices, count, rng)
    K = as_operator(result.kernel, X, Z[columns])
    left_over = _norm_beyond(K, U, V[columns] * s, of_rows, of_columns[columns]) * np.sqrt(len(V) / len(columns))
    rows = _held_out(len(U), result.landmarks[0].indices, count, rng)
    K = as_operator(result.kernel, X[rows], Z).T
    beyond = _norm_beyond(K, V, U[rows] * s, of_columns, of_rows[rows]) * np.sqrt(len(U) / len(rows))
    left_over = max(left_over, beyond)
    if left_over > MOST_LEFT_OVER * s[-1] and 2 * left_over > k * tol * s[0]:
        warn(
            f"eta is estimated at no more than tol={tol:g}, but what the {k} components leave of K on held-out rows or "
            f"columns is of size {left_over:.3g}, where the last component has {s[-1]:.3g}: landmarks may have missed "
            "another; use more landmarks, landmarks='pivoted', or an exact solver",
            AccuracyWarning,
        )


def _norm_beyond(
    A: KernelOperator, left: np.ndarray, right: np.ndarray, of_rows: np.ndarray, of_columns: np.ndarray
) -> float:
    """Spectral norm of A - left right^T less row and column means, for few columns; no more than a block is held."""

    def gram(rows: slice) -> np.ndarray:
        E = A.take(rows) - left[rows] @ right.T - of_rows[rows, None] - of_columns
        return E.T @ E

    height = TILE_BYTES // (A.dtype.itemsize * A.shape[1])
    return float(np.sqrt(singular_values(np.sum(run(gram, slices_of(A.shape[0], height)), axis=0))[0]))


def _whitening(vectors: np.ndarray) -> np.ndarray:
    """T such that vectors @ T has orthonormal columns, which the plain extension does not have; short if parallel."""
    squares, E = eigh((vectors.T @ vectors).astype(float))
    rounding = len(squares) * np.finfo(vectors.dtype).eps * squares[-1]
    return E / np.sqrt(np.maximum(squares, max(rounding, np.finfo(float).tiny)))


def _held_out(n: int, known: np.ndarray | None, count: int, rng: np.random.Generator) -> np.ndarray:
    """Random row numbers, in ascending order; includes landmarks only if there are too few other rows."""
    order = rng.permutation(n)
    if known is not None:
        order = order[np.argsort(np.isin(order, known), kind="stable")]
    return np.sort(order[:count])
