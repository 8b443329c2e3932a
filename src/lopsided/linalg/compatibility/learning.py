"""A learned compatibility from samples and targets: what is learned on the row space of X, as matrices of X again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from ...kernels.base import Kernel
from .descent import LBFGS, Adam, Problem, scale_of
from .learned import Round, learn, refitted
from .losses import Loss
from .maps import thin_svd

WHOLE = 1 << 22  # kernel values up to which every step looks at all rows
Split = tuple[np.ndarray, np.ndarray]  # numbers of the rows that are learned from, and of those that are held out


class Batches(NamedTuple):
    """How Adam goes through the rows."""

    size: int
    rate: float
    rng: np.random.Generator


@dataclass(frozen=True)
class LearnedCompatibility:
    """What was learned from X (n, p).

    Attributes
    ----------
    kernel : Kernel
        Fitted to X and the points.
    points : array of shape (p, p)
        Z = X^T C.
    C : array of shape (n, p)
        Of all matrices that make these points, the one of least norm.
    right_vectors, singular_values : arrays of shapes (p, k) and (k,)
        Of k(X, Z).
    coef, intercept : arrays of shapes (k, outputs) and (outputs,)
        The head on the features k(X, Z) V.
    curve : tuple of Round
        The losses on the way, the start first.
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
    """L-BFGS on all rows unless they are many; then Adam on batches.

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
    """Learn points and head, from all rows or from some of them; then find V and the head from all.

    Parameters
    ----------
    X, Y : arrays of shapes (n, p) and (n, outputs)
        All samples and targets.
    kernel : Kernel
        Not fitted; what it takes from data it takes from X and the start.
    loss : Loss
        What is to be small.
    start : array of shape (p, p)
        The first points.
    components : int
        Right vectors.
    alpha : float
        Penalty on the head.
    batches : Batches or None
        Of Adam; None is L-BFGS on all rows.
    split : (rows, held out) or None
        Numbers of the rows that are learned from, and of those by which the best round is known; None holds none out.
    rounds, patience, tol, say
        As for :func:`~lopsided.linalg.compatibility.learned.learn`.
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
    lengths = np.linalg.norm(final.projection, axis=0)  # of V sqrt(n) / s, by which features have mean square one
    return LearnedCompatibility(
        kernel=_settled(fitted).fit(X, found.points),
        points=found.points,
        C=(U / s) @ found.coordinates if len(s) else np.zeros(X.shape, dtype=X.dtype),
        right_vectors=final.projection / np.where(lengths > 0, lengths, 1),
        singular_values=np.sqrt(len(X)) / np.where(lengths > 0, lengths, np.inf),
        coef=final.weights * lengths[:, None],
        intercept=final.bias,
        curve=found.curve,
    )


def _settled(kernel: Kernel) -> Kernel:
    """A copy with what was left open and found at fit, such as a bandwidth, for parameters; not fitted."""
    taken = {name: getattr(kernel, f"{name}_") for name in kernel.get_params(deep=False) if hasattr(kernel, f"{name}_")}
    parts = {name: _settled(part) for name, part in taken.items() if isinstance(part, Kernel)}
    return clone(kernel).set_params(**taken | parts)
