"""Learning of a compatibility from samples and targets, with the result in terms of X instead of its row space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from ..._core import row_lengths
from ...kernels import Kernel
from .alternate import Round, learn, refitted
from .descent import LBFGS, Adam, Problem, scale_of
from .losses import Loss
from .maps import thin_svd

WHOLE = 1 << 22  # kernel values up to which every step uses all rows
Split = tuple[np.ndarray, np.ndarray]  # row numbers of the training and the held-out samples


class Batches(NamedTuple):
    """Minibatch size, learning rate and random generator of Adam."""

    size: int
    rate: float
    rng: np.random.Generator


@dataclass(frozen=True)
class LearnedCompatibility:
    """Compatibility, singular vectors and head learned from X (n, p).

    Attributes
    ----------
    kernel : Kernel
        Kernel fitted to X and the points.
    points : array of shape (p, p)
        Z = X^T C.
    C : array of shape (n, p)
        Compatibility matrix, of minimum norm among all that give these points.
    right_vectors, singular_values : arrays of shapes (p, k) and (k,)
        Right singular vectors V and singular values of k(X, Z).
    coef, intercept : arrays of shapes (k, outputs) and (outputs,)
        Coefficients and intercept of the head on the features k(X, Z) V.
    curve : tuple of Round
        Losses by round, beginning with the initial point.
    """

    kernel: Kernel
    points: np.ndarray
    C: np.ndarray
    right_vectors: np.ndarray
    singular_values: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    curve: tuple[Round, ...]


def choose_optimizer(n: int, width: int) -> str:
    """Choose L-BFGS if the n x width kernel matrix has at most 2^22 entries, otherwise Adam on minibatches.

    Examples
    --------
    >>> choose_optimizer(1000, 10), choose_optimizer(1_000_000, 10)
    ('lbfgs', 'adam')
    """
    return "lbfgs" if n * width <= WHOLE else "adam"


def learn_compatibility(
    X: np.ndarray,
    Y: np.ndarray,
    kernel: Kernel,
    loss: Loss,
    start: np.ndarray,
    *,
    components: int,
    alpha: float,
    batches: Batches | None,
    split: Split | None,
    rounds: int,
    patience: int,
    tol: float,
    say: Callable[[int, Round], None],
) -> LearnedCompatibility:
    """Learn points and head from all rows or from a training split; then recompute V and the head from all rows.

    Parameters
    ----------
    X, Y : arrays of shapes (n, p) and (n, outputs)
        All samples and targets.
    kernel : Kernel
        Unfitted kernel; parameters that it infers from data come from X and ``start``.
    loss : Loss
        Loss of the head.
    start : array of shape (p, p)
        Initial points Z.
    components : int
        Number of right singular vectors.
    alpha : float
        L2 penalty on the weights of the head.
    batches : Batches or None
        Settings of Adam; None means L-BFGS on all rows.
    split : (rows, held out) or None
        Row numbers to learn from, and held-out row numbers that select the best round; None holds out no rows.
    rounds, patience, tol, say
        As for :func:`~lopsided.kernel_svd.compatibility.alternate.learn`.
    """
    U, s, (basis,) = thin_svd(X)
    if not len(s):
        basis = np.eye(X.shape[1], 1, dtype=X.dtype)
    fitted = clone(kernel).fit(X, start)
    problem = Problem(fitted, basis, loss, components, alpha)
    Q = basis.T @ start
    unit = scale_of(Q)
    steps = LBFGS(problem, unit) if batches is None else Adam(problem, *batches, unit)
    data, held_out = ((X, Y), None) if split is None else ((X[rows], Y[rows]) for rows in split)
    found = learn(problem, steps, Q, data, held_out, rounds=rounds, patience=patience, tol=tol, say=say)
    final = refitted(problem, found, X, Y)
    points = found.points.astype(X.dtype, copy=False)
    lengths = row_lengths(final.projection.T)  # sqrt(n) / s: columns of the projection are V sqrt(n) / s
    return LearnedCompatibility(
        kernel=_settled(fitted).fit(X, points),
        points=points,
        C=(U / s) @ found.coordinates if len(s) else np.zeros(X.shape, dtype=X.dtype),
        right_vectors=(final.projection / np.where(lengths > 0, lengths, 1)).astype(X.dtype, copy=False),
        singular_values=np.sqrt(len(X)) / np.where(lengths > 0, lengths, np.inf),
        coef=final.weights * lengths[:, None],
        intercept=final.bias,
        curve=found.curve,
    )


def _settled(kernel: Kernel) -> Kernel:
    """Unfitted copy whose parameters are the values inferred at fit, such as a bandwidth."""
    taken = {name: getattr(kernel, f"{name}_") for name in kernel.get_params(deep=False) if hasattr(kernel, f"{name}_")}
    parts = {name: _settled(part) for name, part in taken.items() if isinstance(part, Kernel)}
    return clone(kernel).set_params(**taken | parts)
