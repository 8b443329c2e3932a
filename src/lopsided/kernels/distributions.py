"""Families of distributions stored as rows of an array, and Kullback-Leibler divergences between them.

``left`` and ``right`` of a family prepare distributions P and Q row by row; ``divergences`` compares all pairs.
"""

import numpy as np
from scipy.special import xlogy

from .._core import Array, dense, slices_of
from .bandwidth import MAX_EXPONENT_ERROR

SUM_TOLERANCE = 1e-5  # of a sum of probabilities around one; rows normalised in float32 are well within
SMALLEST_PROBABILITY = 2**12  # in units of the smallest normal number; smaller ones count as zero
LARGEST_DIVERGENCE = 2**10  # of discrete distributions, if finite: more than -log(SMALLEST_PROBABILITY tiny)
DENSITIES_AT_ONCE = 1 << 20  # log densities held in memory at once


class Discrete:
    """Rows of probabilities. KL = sum p log p - sum p log q is one matrix product, [-p, sum p log p] . [log q, 1]."""

    def left(self, X: Array) -> np.ndarray:
        """Return the rows [-p, sum p log p]."""
        P = self._checked(X, "X")
        return np.hstack([-P, xlogy(P, P).sum(axis=1, keepdims=True)])

    def right(self, Z: Array) -> np.ndarray:
        """Return the rows [log q, 1]; log 0 becomes so negative that any p > 0 exceeds the largest divergence."""
        Q = self._checked(Z, "Z")
        logs = np.log(Q, out=np.full_like(Q, -np.finfo(Q.dtype).max / 4), where=Q > 0)
        return np.hstack([logs, np.ones_like(Q[:, :1])])

    def divergences(self, L: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Return KL(P_i || Q_j) for all pairs, infinite where q = 0 and p > 0."""
        D = _positive(L @ R.T)
        D[D > LARGEST_DIVERGENCE] = np.inf
        return D

    @staticmethod
    def _checked(X: Array, name: str) -> np.ndarray:
        P = dense(X)
        check_probabilities(P, name)
        return np.where(SMALLEST_PROBABILITY * np.finfo(P.dtype).tiny > P, 0, P)


class Gaussian:
    """Gaussians with diagonal covariance, as rows [mean, variances], each of length d.

    2 KL = sum (v + (m - m')^2) / v' + log v' - log v - 1 is one matrix product of width 2 d + 2. Its terms cancel for
    pairs that are close to each other and far from the other points; those are computed from differences instead.
    """

    def __init__(self, Z: Array) -> None:
        if Z.shape[1] % 2:
            raise ValueError(
                f"a Gaussian is a row of d means and d variances, but Z has {Z.shape[1]} columns, an odd number; "
                "append the variances to the means"
            )
        self.d = Z.shape[1] // 2
        m, v = np.hsplit(dense(Z), [self.d])
        self.origin = np.median(m, axis=0)  # robust to a few outliers
        check_variances(v, "Z")

    def left(self, X: Array) -> np.ndarray:
        """Return the rows [v + m^2, m, sum -log v - 1, 1], followed by v."""
        m, v = self._checked(X, "X")
        return np.hstack([v + m**2, m, -(np.log(v) + 1).sum(axis=1, keepdims=True), np.ones_like(m[:, :1]), v])

    def right(self, Z: Array) -> np.ndarray:
        """Return half of the rows [1 / v, -2 m / v, 1, sum m^2 / v + log v], followed by m and v."""
        m, v = self._checked(Z, "Z")
        own = (m**2 / v + np.log(v)).sum(axis=1, keepdims=True)
        return np.hstack([np.hstack([1 / v, -2 * m / v, np.ones_like(own), own]) / 2, m, v])

    def divergences(self, L: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Use a matrix product, and differences where its terms cancel. Cost O(n m d)."""
        d, width, eps = self.d, 2 * self.d + 2, np.finfo(L.dtype).eps
        D = _positive(L[:, :width] @ R[:, :width].T)
        squares, inverses, own = L[:, :d], R[:, :d], (R[:, -2 * d : -d] ** 2 / R[:, -d:]).sum(axis=1) / 2
        if eps * (squares.max(axis=0) @ inverses.max(axis=0) + own.max()) <= MAX_EXPONENT_ERROR:
            return D
        kept = eps * (squares @ inverses.T + own) <= MAX_EXPONENT_ERROR * (1 + D)
        i, j = np.nonzero(~kept)  # includes pairs whose terms overflow
        for part in slices_of(len(i), DENSITIES_AT_ONCE // d):
            m, v, n, w = L[i[part], d : 2 * d], L[i[part], -d:], R[j[part], -2 * d : -d], R[j[part], -d:]
            found = ((v + (m - n) ** 2) / w - np.log(v / w) - 1).sum(axis=1) / 2
            D[i[part], j[part]] = np.maximum(found, 0)
        return D

    def _checked(self, X: Array, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return variances, and means shifted by their median: far from zero m^2 + m'^2 - 2 m m' would cancel."""
        m, v = np.hsplit(dense(X), [self.d])
        check_variances(v, name)
        return m - self.origin.astype(m.dtype), v


class MixtureRows:
    """Mixtures of k diagonal Gaussians, as rows [weights, means, variances] of k, k d and k d numbers."""

    def __init__(self, Z: Array, n_components: int) -> None:
        d, rest = divmod(Z.shape[1] - n_components, 2 * n_components)
        if rest or d < 1:
            raise ValueError(
                f"a mixture of n_components={n_components} is a row of n_components (1 + 2 d) numbers, but Z has "
                f"{Z.shape[1]} columns; give each mixture that many components, or set n_components"
            )
        self.k, self.d = n_components, d
        _, m, v = self._split(dense(Z))
        self.origin = self._centre(m)
        check_variances(v.reshape(len(v), -1), "Z")
        self._check_resolution(m - self.origin, v)

    @staticmethod
    def _centre(m: np.ndarray) -> np.ndarray:
        """A point near the means, (n, k, d), from which all are measured."""
        return np.asarray(m.mean(axis=(0, 1)))

    @staticmethod
    def _check_resolution(m: np.ndarray, v: np.ndarray) -> None:
        """Raise ValueError if components are so narrow and far apart that rounding of m^2 / v drowns (m - m')^2 / v."""
        typical = float(np.median((m**2 / v).sum(axis=-1)))
        lost = np.finfo(m.dtype).eps * typical
        if lost > MAX_EXPONENT_ERROR:
            raise ValueError(
                f"the means lie about {np.sqrt(typical):.2g} standard deviations from their centre, and divergences "
                f"would be off by {lost:.1g} in {m.dtype}; raise the variances"
                f"{', or use double precision' if m.dtype != float else ''}"
            )

    def _split(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return weights (n, k), means (n, k, d) and variances (n, k, d)."""
        w, m, v = np.split(X, [self.k, self.k * (1 + self.d)], axis=1)
        return w, m.reshape(-1, self.k, self.d), v.reshape(-1, self.k, self.d)

    def _log_density(self, X: np.ndarray, name: str) -> np.ndarray:
        w, m, v = self._split(X)
        check_probabilities(w, name, "weights")
        check_variances(v.reshape(len(X), -1), name)
        return log_densities(w, m - self.origin.astype(X.dtype), v).reshape(len(X), -1)


class Mixture(MixtureRows):
    """Mixtures of k diagonal Gaussians.

    KL = sum_c w_c E log p(m_c + sqrt(v_c) e) / q(m_c + sqrt(v_c) e) is estimated by Monte Carlo with the same draws e
    for all components of all mixtures, so that it is a smooth function of the two mixtures alone. The draws are scaled
    to mean 0 and variance 1, which makes the estimate exact between single Gaussians.
    """

    def __init__(self, Z: Array, n_components: int, n_draws: int, rng: np.random.Generator) -> None:
        super().__init__(Z, n_components)
        draws = rng.standard_normal((n_draws, self.d))
        draws -= draws.mean(axis=0)
        self.draws = draws / draws.std(axis=0)

    def left(self, X: Array) -> np.ndarray:
        """Return the rows [mixture, E log p]. Cost O(n k^2 d draws)."""
        X = dense(X)
        R = self._log_density(X, "X")
        own = np.empty((len(X), 1), dtype=X.dtype)
        for rows in slices_of(len(X), DENSITIES_AT_ONCE // (self.k**2 * len(self.draws))):
            points = self._points(X[rows])
            coefficients = R[rows].reshape(len(points), self.k, -1)
            E = np.stack([np.einsum("isp,ip->is", points, coefficients[:, c]) for c in range(self.k)])
            own[rows, 0] = np.einsum("is,is->i", log_sum_exp(E), self._shares(X[rows]))
        return np.hstack([X, own])

    def right(self, Z: Array) -> np.ndarray:
        """Return the coefficients of log w N(x) in x^2, x and 1 of all components, side by side."""
        return self._log_density(dense(Z), "Z")

    def divergences(self, L: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Return max(E log p - E log q, 0), from one matrix product per component of q. Cost O(n m k^2 d draws)."""
        coefficients = R.reshape(len(R), self.k, -1).transpose(1, 2, 0)
        D = np.empty((len(L), len(R)), dtype=L.dtype)
        for rows in slices_of(len(L), DENSITIES_AT_ONCE // (self.k**2 * len(self.draws) * len(R))):
            X = L[rows, :-1]
            points = self._points(X)
            E = points.reshape(-1, points.shape[2]) @ coefficients
            logs = log_sum_exp(E).reshape(len(X), -1, len(R))
            D[rows] = L[rows, -1:] - np.einsum("ism,is->im", logs, self._shares(X))
        return _positive(D)

    def _points(self, X: np.ndarray) -> np.ndarray:
        """Return the rows [x^2, x, 1] at the draws of every component, shape (n, k draws, 2 d + 1)."""
        _, m, v = self._split(X)
        m = m - self.origin.astype(X.dtype)
        x = m[:, :, None] + np.sqrt(v)[:, :, None] * self.draws.astype(X.dtype)
        return monomials(x.reshape(len(X), -1, self.d))

    def _shares(self, X: np.ndarray) -> np.ndarray:
        """Return the weight of every draw in an expectation, shape (n, k draws)."""
        return np.repeat(X[:, : self.k] / len(self.draws), len(self.draws), axis=1)


class Adapted(MixtureRows):
    """Mixtures whose components correspond, as those that are adapted from one background do.

    KL <= sum_c w_c (log w_c / w'_c + KL(N_c || N'_c)), the divergence between the joint distributions of component and
    point (Do, IEEE Signal Processing Letters 10, 2003): it exceeds KL by what components overlap. It is one matrix
    product of width k (2 d + 1), of expectations of [x^2, x, 1] under P with the coefficients of log w' N'.
    """

    @staticmethod
    def _centre(m: np.ndarray) -> np.ndarray:
        """A point near the means of each component."""
        return np.asarray(m.mean(axis=0))

    def left(self, X: Array) -> np.ndarray:
        """Return the rows [w_c E_c x^2, w_c E_c x, w_c] of all components, and sum_c w_c E_c log w_c N_c."""
        X = dense(X)
        coefficients = self._log_density(X, "X").reshape(len(X), self.k, -1)
        w, m, v = self._split(X)
        m = m - self.origin.astype(X.dtype)
        E = w[:, :, None] * np.concatenate([v + m**2, m, np.ones_like(m[..., :1])], axis=-1)
        with np.errstate(invalid="ignore"):
            own = np.where(E == 0, 0, E * coefficients).sum(axis=(1, 2))  # 0 log 0 = 0
        return np.hstack([E.reshape(len(X), -1), own[:, None]])

    def right(self, Z: Array) -> np.ndarray:
        """Return the coefficients of log w N in x^2, x and 1 of all components, side by side."""
        return self._log_density(dense(Z), "Z")

    def divergences(self, L: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Return the bound, infinite where a component of P has no weight in Q. Cost O(n m k d)."""
        absent = np.isneginf(R)
        D = L[:, -1:] - L[:, :-1] @ np.where(absent, 0, R).T
        if absent.any():
            D[(L[:, :-1] > 0).astype(L.dtype) @ absent.T.astype(L.dtype) > 0] = np.inf
        return _positive(D)


Family = Discrete | Gaussian | Mixture | Adapted


def log_densities(w: np.ndarray, m: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the coefficients of log w N(x; m, v) + d/2 log(2 pi) in ``monomials(x)``, shape (..., k, 2 d + 1)."""
    with np.errstate(divide="ignore"):  # log 0 = -inf is right for a component of weight zero
        constant = np.log(w) - (m**2 / v + np.log(v)).sum(axis=-1) / 2
    return np.concatenate([-0.5 / v, m / v, constant[..., None]], axis=-1)


def monomials(x: np.ndarray) -> np.ndarray:
    """Return the rows [x^2, x, 1], shape (..., 2 d + 1)."""
    return np.concatenate([x**2, x, np.ones_like(x[..., :1])], axis=-1)


def check_probabilities(P: np.ndarray, name: str, what: str = "probabilities") -> None:
    """Raise ValueError if a row has a negative entry or does not sum to one."""
    i, j = divmod(int(P.argmin()), P.shape[1])
    if P[i, j] < 0:
        raise ValueError(
            f"the {what} of row {i} of {name} hold {P[i, j]:g} at {j}; they must be at least 0: clip or shift them and "
            "divide each row by its sum"
        )
    sums = P.sum(axis=1, dtype=float)
    i = int(np.abs(sums - 1).argmax())
    if abs(sums[i] - 1) > SUM_TOLERANCE:
        raise ValueError(
            f"the {what} of row {i} of {name} sum to {sums[i]:.6g}; they must sum to 1 within {SUM_TOLERANCE:g}: "
            "divide each row by its sum"
        )


def check_variances(v: np.ndarray, name: str) -> None:
    """Raise ValueError if a variance is not a positive normal number."""
    least = np.finfo(v.dtype).tiny
    i, j = divmod(int(v.argmin()), v.shape[1])
    if v[i, j] < least:
        raise ValueError(
            f"variance {j} of row {i} of {name} is {v[i, j]:g}; variances must be positive, at least {least:.1g}: "
            "add a floor to them"
        )


def _positive(D: np.ndarray) -> np.ndarray:
    """Set negative rounding errors to zero, in place."""
    return np.maximum(D, 0, out=D)


def log_sum_exp(E: np.ndarray) -> np.ndarray:
    """Return the log-sum-exp over the first axis; overwrites E."""
    peak = E.max(axis=0)
    E -= peak
    np.exp(E, out=E)
    return np.log(E.sum(axis=0)) + peak
