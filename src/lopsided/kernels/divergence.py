"""The Kullback-Leibler kernel between probability distributions."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions

from .._core import Array, check_sides, dense, seed_of
from .bandwidth import sample_if_in_blocks
from .base import Kernel
from .constraints import COUNT, POSITIVE
from .distributions import Adapted, Discrete, Family, Gaussian, Mixture

SAMPLED_POINTS = 256  # points of each side, at most, from which the median divergence is learned


class KullbackLeibler(Kernel):
    """The Kullback-Leibler kernel, k(P, Q) = exp(-rate KL(P || Q)) with KL(P || Q) the integral of P log(P / Q).

    A distribution is a row of numbers, so that sets of distributions can be sliced, stacked and cross-validated:

    - "discrete": probabilities that sum to one. Where q = 0 and p > 0 the divergence is infinite and k is zero; a
      small constant added to every entry before the rows are normalised avoids that.
    - "gaussian": d means, then d variances.
    - "mixture": n_components weights, then the means of each component, then its variances (diagonal), that is
      ``np.hstack([g.weights_, g.means_.ravel(), g.covariances_.ravel()])`` of a scikit-learn ``GaussianMixture`` with
      ``covariance_type="diag"``.
    - "adapted": the same rows, of mixtures whose components correspond, as those of ``ImageMixtures(n_adapt=1)`` do.
      They are compared one by one, KL(w || w') + sum_c w_c KL(N_c || N'_c): an upper bound of KL that needs no draws.

    Cost: O(n m width), but O(n m n_components^2 n_draws d) for "mixture", as matrix products of dense rows. Negative
    estimates, which occur by chance between nearly equal mixtures, are set to zero.

    Parameters
    ----------
    rate : float or None, default=None
        Rate of decay, positive. None means 1 / (median divergence between at most 256 points of each side).
    distribution : {"discrete", "gaussian", "mixture", "adapted"}, default="discrete"
        The family of distributions that rows encode.
    n_components : int, default=1
        Number of components of each mixture.
    n_draws : int, default=16
        Number of draws from each component of P, at least two, over which divergences of mixtures are averaged.
    random_state : int, RandomState instance or None, default=0
        Seed of the draws, which are fixed by ``fit`` and common to all mixtures; None means a fixed seed.

    Attributes
    ----------
    rate_ : float
        The rate of decay, given or learned.

    References
    ----------
    He et al., "Learning with asymmetric kernels: least squares and feature interpretation", IEEE TPAMI 45, 2023, IV-A.
    Do, "Fast approximation of Kullback-Leibler distance for dependence trees and hidden Markov models", IEEE Signal
    Processing Letters 10, 2003, for "adapted".

    Examples
    --------
    >>> from lopsided.kernels import KullbackLeibler
    >>> fair, loaded = [0.5, 0.5], [0.9, 0.1]
    >>> KullbackLeibler(rate=1.0)([fair, loaded], [fair, loaded]).round(3)
    array([[1.   , 0.6  ],
           [0.692, 1.   ]])
    """

    _parameter_constraints = {
        "rate": [POSITIVE, None],
        "distribution": [StrOptions({"discrete", "gaussian", "mixture", "adapted"})],
        "n_components": [COUNT],
        "n_draws": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        rate: float | None = None,
        *,
        distribution: str = "discrete",
        n_components: int = 1,
        n_draws: int = 16,
        random_state: Any = 0,
    ) -> None:
        self.rate, self.distribution, self.n_components = rate, distribution, n_components
        self.n_draws, self.random_state = n_draws, random_state

    def fit(self, X: Array, Z: Array) -> Self:
        """Fix the draws, and learn the rate if it is None."""
        super().fit(X, Z)
        X, Z = sample_if_in_blocks(X), sample_if_in_blocks(Z)
        self._family = self._read(Z)
        self.rate_ = self._typical_rate(X, Z) if self.rate is None else float(self.rate)
        return self

    def _read(self, Z: Array) -> Family:
        match self.distribution:
            case "gaussian":
                return Gaussian(Z)
            case "adapted":
                return Adapted(Z, self.n_components)
            case "mixture":
                rng = np.random.default_rng(seed_of(self.random_state))
                return Mixture(Z, self.n_components, self.n_draws, rng)
        return Discrete()

    def divergences(self, X: Array, Z: Array) -> np.ndarray:
        """Return KL(P_i || Q_j) for all pairs, shape (n, m), independent of ``rate``."""
        X, Z = check_sides(X, Z)
        kernel = self if hasattr(self, "widths_") else clone(self).set_params(rate=1.0).fit(X, Z)
        kernel.check_widths(X, Z)
        return kernel._family.divergences(kernel.left(X), kernel.right(Z))

    @property
    def left_is_cheap(self) -> bool:
        """False for mixtures, whose entropy is estimated by a mean over draws."""
        return self.distribution != "mixture"

    def left(self, X: Array) -> np.ndarray:
        """Prepare the distributions P."""
        return self._family.left(X)

    def right(self, Z: Array) -> np.ndarray:
        """Prepare the distributions Q."""
        return self._family.right(Z)

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return exp(-rate KL) for all pairs."""
        D = self._family.divergences(dense(L), dense(R))  # sparse if this kernel is part of a sum with sparse sides
        D *= -self.rate_
        return np.exp(D, out=D)

    def _typical_rate(self, X: Array, Z: Array) -> float:
        """Return 1 / median of the finite, nonzero divergences between evenly spaced rows; one if there are none."""
        X, Z = (side[:: -(-side.shape[0] // SAMPLED_POINTS)] for side in (X, Z))
        D = self._family.divergences(self.left(X), self.right(Z))
        D = D[np.isfinite(D) & (np.sqrt(np.finfo(D.dtype).eps) < D)]
        return float(1 / np.median(D)) if D.size else 1.0
