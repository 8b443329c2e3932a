"""Scores of pairs by a fitted kernel SVD, and the points of one side that score highest with the other."""

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._core import ArrayLike, best_columns, canonical, check_array, check_finite, count_of, gate, jobs, usual_length
from ..exceptions import LopsidedWarning, warn


class ScoresPairs(ABC):
    """Mixin that scores pairs of left and right points by the decomposition, sum over c of u_c(x) s_c v_c(z).

    Points of ``fit`` are given by their numbers, a sequence of integers, and cost no kernel values; new points are the
    rows of an array or sparse matrix, as in ``transform`` and ``transform_right``.
    """

    left_vectors_: np.ndarray
    right_vectors_: np.ndarray
    singular_values_: np.ndarray
    means_: tuple[Any, Any, Any] | None
    n_jobs: int | None
    memory_budget: float | str | None

    @gate
    def reconstruct(self) -> np.ndarray:
        """Dense (n, m) rank-k approximation of K; the means removed by ``center`` are added back."""
        check_is_fitted(self)
        K = (self.left_vectors_ * self.singular_values_) @ self.right_vectors_.T
        if self.means_ is not None:
            rows, columns, grand = self.means_
            K += rows[:, None] + columns - grand
        return K

    @gate
    def score_pairs(self, X: ArrayLike, Z: ArrayLike) -> np.ndarray:
        """Score the pairs (X[i], Z[i]): the rank-k approximation of k(x, z), of the centred kernel with ``center``.

        Parameters
        ----------
        X, Z : sequences of n integers, or arrays of n points
            Left and right points, known or new; one point on a side is paired with every point of the other.

        Returns
        -------
        array of shape (n,)
            Scores. For points of ``fit`` and without ``center`` they are the entries of ``reconstruct()``.
        """
        check_is_fitted(self)
        left, right = self._vectors(X, of_right=False), self._vectors(Z, of_right=True)
        if len(left) != len(right) and 1 not in (len(left), len(right)):
            raise ValueError(f"X holds {len(left)} points and Z {len(right)}; pass equal numbers, or a single one")
        left, right = np.broadcast_arrays(left * self.singular_values_, right)
        scores = np.einsum("ij,ij->i", left, right)
        check_finite(scores)
        return scores

    @gate
    def nearest_right(self, X: ArrayLike, k: int | None = None, *, exclude: ArrayLike = None) -> np.ndarray:
        """Find the k right points of ``fit`` that score highest with each left point, best first.

        Parameters
        ----------
        X : integer, sequence of n integers, or array of n points
            Left points, known or new.
        k : int, default=None
            Number of right points per left point; None means 10, or all that every point leaves if they are fewer.
        exclude : array or sparse matrix of shape (n, m), default=None
            Right points with a nonzero entry in row i are left out for X[i], such as the items that a user has.

        Returns
        -------
        array of shape (n, k), or (k,) for a single integer
            Numbers of right points, that is rows of the Z of ``fit`` or columns of its X. Left points that score all
            alike, as rows without entries do, get the right points that score highest on average, with a warning.

        Notes
        -----
        O(n m n_components), in blocks of rows on ``n_jobs`` threads; no (n, m) array is formed.

        Examples
        --------
        >>> import numpy as np
        >>> from lopsided import KernelSVD
        >>> A = np.array([[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 1, 1], [0, 0, 1, 1, 1]])  # users x items
        >>> model = KernelSVD(2, kernel="association").fit(A)
        >>> model.nearest_right([1], 1, exclude=A[[1]])  # user 1 has items 0 and 1
        array([[2]])
        """
        check_is_fitted(self)
        sides = self.left_vectors_ * self.singular_values_, self.right_vectors_
        return self._nearest(X, k, exclude, sides, of_right=False)

    @gate
    def nearest_left(self, Z: ArrayLike, k: int | None = None, *, exclude: ArrayLike = None) -> np.ndarray:
        """Find the k left points of ``fit`` that score highest with each right point, best first.

        ``nearest_right`` with the sides exchanged: ``exclude`` has a row for each right point and n columns.
        """
        check_is_fitted(self)
        sides = self.right_vectors_ * self.singular_values_, self.left_vectors_
        return self._nearest(Z, k, exclude, sides, of_right=True)

    def _nearest(
        self,
        points: ArrayLike,
        k: int | None,
        exclude: ArrayLike,
        sides: tuple[np.ndarray, np.ndarray],
        *,
        of_right: bool,
    ) -> np.ndarray:
        """Rank the points of the other side, whose vectors are ``sides[1]``, for points of the side ``sides[0]``."""
        asking, targets = sides
        found = self._vectors(points, of_right=of_right) * self.singular_values_
        left_out, k = pairs_left_out(exclude, (len(found), len(targets)), k)
        silent = np.abs(found).max(axis=1) <= (self._rounding() if _by_number(points) else 0)
        if silent.any():
            found[silent] = asking.mean(axis=0)
            warn(
                f"{count_of(np.count_nonzero(silent), 'point scores', 'points score')} all others alike, as rows "
                "without entries do, so those that score highest on average are returned; leave such points out",
                LopsidedWarning,
            )
        with jobs(self.n_jobs, self.memory_budget):
            best, _ = best_columns(lambda rows: found[rows] @ targets.T, left_out, k)
        return best[0] if np.ndim(points) == 0 and not sparse.issparse(points) else best

    def _vectors(self, points: ArrayLike, *, of_right: bool) -> np.ndarray:
        """Left or right singular vectors of known points, given by numbers, or of new ones, given as rows."""
        if not _by_number(points):
            return self._vectors_of_new(points, of_right=of_right)
        known = self.right_vectors_ if of_right else self.left_vectors_
        numbers, name = np.atleast_1d(np.asarray(points)), "Z" if of_right else "X"
        if numbers.dtype.kind not in "iu" or numbers.min(initial=0) < 0 or numbers.max(initial=0) >= len(known):
            whole = numbers.dtype.kind in "iu"
            found = f"numbers from {numbers.min()} to {numbers.max()}" if whole else f"{numbers.dtype} values"
            raise ValueError(
                f"{name} must hold numbers of known points, from 0 to {len(known) - 1}, or new points as the rows of "
                f"a two-dimensional array; got {found}"
            )
        return known[numbers]

    def _rounding(self) -> float:
        """Size of s_c u_c(x) that may be rounding of zero for a known point: the residual at which solvers stop."""
        s = self.singular_values_
        return float(np.finfo(s.dtype).eps ** 0.8 * s[0])

    @abstractmethod
    def _vectors_of_new(self, points: ArrayLike, *, of_right: bool) -> np.ndarray:
        """Left or right singular vectors of new points, validated first."""


def _by_number(points: ArrayLike) -> bool:
    return not sparse.issparse(points) and np.ndim(points) <= 1


def pairs_left_out(exclude: ArrayLike, shape: tuple[int, int], k: Any) -> tuple[sparse.csr_array, int]:
    """Pairs to be left out of a ranking, sparse with a row for each point, and its length, by default the usual one."""
    n, m = shape
    found, left = sparse.csr_array(shape, dtype=bool), np.full(n, m)
    if exclude is not None:
        exclude = check_array(exclude, accept_sparse="csr", dtype=None, input_name="exclude")
        if exclude.shape != shape:
            raise ValueError(f"exclude has shape {exclude.shape}; it must be {shape}, a row for each of the {n} points")
        found = canonical(sparse.csr_array(exclude))
        left = m - np.asarray(found.count_nonzero(axis=1))
    k = usual_length(left) if k is None else k
    if not isinstance(k, Integral) or not 1 <= int(k) <= m:
        raise ValueError(f"k={k} must be a whole number from 1 to {m}, the number of points to choose from")
    if left.min(initial=m) < k:
        least = int(left.argmin())
        raise ValueError(
            f"k={k} exceeds the {left[least]} points that are left for row {least}; lower k, exclude fewer points or "
            "leave that row out"
        )
    return found, int(k)
