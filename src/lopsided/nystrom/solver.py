"""The Nystrom method as an object that estimators take as ``solver=``."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from .._core import Array
from ..kernels import Kernel
from ..svd import Choice, nystrom_if_large
from .landmarks import STRATEGIES


class Nystrom(BaseEstimator):
    """Solver that approximates a large kernel matrix from landmarks, a few of its rows and columns.

    Pass it as ``solver=Nystrom(1000)``; ``solver="nystrom"`` is short for ``solver=Nystrom()``. A grid search reaches
    its parameters as ``solver__n_landmarks``.

    Parameters
    ----------
    n_landmarks : int, (int, int) or None, default=None
        Number of landmarks on each side, or (left, right); ignored if ``landmarks`` are given as arrays. None lets the
        estimator decide: for KernelSVD 20 per component, between 200 and 2,000; for the LS-SVMs 1,000.
    landmarks : {"uniform", "kmeans", "leverage", "pivoted"} or pair of arrays, default="uniform"
        Uniformly random rows; weighted k-means centres; rows sampled by estimated leverage scores; or pivots of a cross
        approximation. A pair (left, right) gives row indices (p,) or points (p, width).
    extension : {"orthonormal", "plain"}, default="orthonormal"
        How the singular vectors of the p x q landmark matrix are extended to all points. "orthonormal" orthonormalises
        the extension and recomputes the singular values; "plain" is equation 9 of the 2024 paper, with columns of unit
        norm and singular values s sqrt(n m / (p q)).
    denominators : {"auto", "all", "landmarks"}, default="auto"
        The set over which SNE, Attention and StudentT normalise. "all" is exact and costs n m kernel values for dense
        data, little for sparse data; "landmarks" sums over weighted landmarks. "auto" is "all" if it is cheap.

    Notes
    -----
    Cost for n x m points and p x q landmarks: n q + m p kernel values, each used once and not stored.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import KernelSVD, Nystrom
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> model = KernelSVD(2, kernel="rbf", solver=Nystrom(100, landmarks="kmeans")).fit(X, Z=X)
    >>> model.solver_.name, model.X_fit_.shape
    ('nystrom', (100, 3))
    """

    _parameter_constraints: dict[str, Any] = {
        "n_landmarks": [Interval(Integral, 1, None, closed="left"), tuple, None],
        "landmarks": [StrOptions(set(STRATEGIES)), tuple, list],
        "extension": [StrOptions({"orthonormal", "plain"})],
        "denominators": [StrOptions({"auto", "all", "landmarks"})],
    }

    def __init__(
        self,
        n_landmarks: int | tuple[int, int] | None = None,
        *,
        landmarks: Any = "uniform",
        extension: str = "orthonormal",
        denominators: str = "auto",
    ) -> None:
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.extension = extension
        self.denominators = denominators


def select_nystrom(
    solver: Any, kernel: Kernel, X: Array, Z: Array, k: float, *, budget: int
) -> tuple[Nystrom, Choice] | None:
    """The Nystrom method and the reason for it: asked for, or chosen by "auto" for a large dense matrix; else None."""
    if isinstance(solver, Nystrom):
        solver._validate_params()
        return solver, Choice("nystrom", "asked for")
    if solver == "nystrom":
        return Nystrom(), Choice("nystrom", "asked for")
    choice = nystrom_if_large(kernel, X, Z, k, budget) if solver == "auto" else None
    return None if choice is None else (Nystrom(), choice)
