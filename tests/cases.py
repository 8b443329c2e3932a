"""The families over which laws are tested: kernels, sparse data, operators, solvers and estimators.

To add a kernel, an operator or a solver: add it to its table here, with a reference that does not use the library,
and it inherits every law.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import expit, logsumexp, rel_entr, softmax
from scipy.stats import norm
from sklearn.base import clone
from sklearn.utils import check_random_state

from lopsided import (
    AsymmetricLSSVC,
    AsymmetricLSSVR,
    DirectedGraphEmbedding,
    ImageMixtures,
    KernelBiclustering,
    KernelRecommender,
    KernelSVD,
    LearnedKernelSVDClassifier,
    LearnedKernelSVDRegressor,
    Nystrom,
    PriorNystroem,
    SelfTrainedFeatures,
    kernels as k,
)
from lopsided.kernels.base import Kernel
from lopsided.least_squares.saddle import BlockLU, Dense, Minres, SaddleFamily, Spectral
from lopsided.operators import (
    Blocked,
    Centered,
    KernelOperator,
    LowRank,
    Stored,
    Sum,
    Weighted,
    restricted,
    sparse_plus_low_rank,
)
from lopsided.svd import Factors, lapack
from lopsided.svd.krylov import krylov

PLENTY = 10**9
NOTHING = 1


def assert_close(actual, expected, ulps=1e3, dtype=None):
    """Equal up to ``ulps`` roundings of the largest expected entry; finite and of one shape."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    assert np.isfinite(actual).all(), "not finite"
    eps = np.finfo(dtype or actual.dtype).eps
    error, size = np.abs(actual - expected).max(initial=0.0), np.abs(expected).max(initial=0.0)
    assert error <= ulps * eps * max(size, np.finfo(float).tiny), f"differs by {error / max(size, 1e-300):.1e}"


def centred(K):
    return K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()


def with_spectrum(values, n, m, rng, dtype=float):
    """A dense (n, m) matrix with the given singular values."""
    U, V = (np.linalg.qr(rng.standard_normal((size, len(values))))[0] for size in (n, m))
    return ((U * values) @ V.T).astype(dtype)


# Kernels. A reference is f(X, Z, X0, Z0): values between X and Z of the kernel fitted on X0 and Z0, all dense.


def _squares(X, Z):
    return cdist(X, Z, "sqeuclidean")


def _rbf(X, Z, *_, bandwidth):
    return np.exp(-_squares(X, Z) / bandwidth**2)


def _sne(X, Z, X0, Z0, *, bandwidth):
    totals = logsumexp(-_squares(X, Z0) / bandwidth**2, axis=1, keepdims=True)
    return np.exp(-_squares(X, Z) / bandwidth**2 - totals)


def _attention(X, Z, X0, Z0, *, scale):
    return np.exp(X @ Z.T / scale - logsumexp(X @ Z0.T / scale, axis=1, keepdims=True))


def _student(X, Z, X0, Z0, *, bandwidth):
    def similarity(R):
        return 1 / (1 + _squares(X, R) / bandwidth**2)

    return similarity(Z) / similarity(Z0).sum(axis=1, keepdims=True)


def _inner(X, Z, *_, profile):
    return profile(X @ Z.T)


def as_dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def leftish(X, Z):
    """An asymmetric vectorised function that also compares vectors of different widths."""
    return np.tanh(as_dense(X)[:, :1] - 2 * as_dense(Z)[:, :1].T) + as_dense(X).sum(axis=1)[:, None]


class Reading(Kernel):
    """A kernel of distributions, on the real vectors that the laws draw: each is read as a distribution."""

    def __init__(self, kernel, read):
        self.kernel = kernel
        self.read = read

    def fit(self, X, Z):
        self.kernel_ = clone(self.kernel).fit(self.read(X), self.read(Z))
        return super().fit(X, Z)

    @property
    def left_is_cheap(self):
        return self.kernel_.left_is_cheap

    def left(self, X):
        return self.kernel_.left(self.read(X))

    def right(self, Z):
        return self.kernel_.right(self.read(Z))

    def pairs(self, L, R):
        return self.kernel_.pairs(L, R)


def as_probabilities(X):
    return softmax(as_dense(X), axis=1)


def as_gaussian(X):
    X = as_dense(X)
    return np.hstack([X, np.exp(np.tanh(X))])


def as_mixture(X):
    X = as_dense(X)
    share = expit(X[:, :1])
    return np.hstack([share, 1 - share, X, 1 - X / 2, np.exp(np.tanh(X)), 1 + X**2])


def _kl_discrete(X, Z, *_):
    return np.exp(-0.7 * rel_entr(as_probabilities(X)[:, None], as_probabilities(Z)).sum(axis=2))


def _kl_gaussian(X, Z, *_):
    (m, v), (n, w) = ((S[:, None, : S.shape[1] // 2], S[:, None, S.shape[1] // 2 :]) for S in map(as_gaussian, (X, Z)))
    n, w = n.swapaxes(0, 1), w.swapaxes(0, 1)
    return np.exp(-0.05 * (np.log(np.sqrt(w / v)) + (v + (m - n) ** 2) / (2 * w) - 0.5).sum(axis=2))


def parts_of(mixtures, k):
    """Weights (n, k), means (n, k, d) and variances (n, k, d) of mixtures that are rows."""
    d = (mixtures.shape[1] // k - 1) // 2
    means, variances = mixtures[:, k : k * (1 + d)], mixtures[:, k * (1 + d) :]
    return mixtures[:, :k], means.reshape(-1, k, d), variances.reshape(-1, k, d)


def log_density(x, w, m, v):
    """Of one mixture, at points (..., d)."""
    return logsumexp(np.log(w) + norm.logpdf(x[..., None, :], m, np.sqrt(v)).sum(axis=-1), axis=-1)


def _kl_adapted(X, Z, *_):
    P, Q = (parts_of(as_mixture(S), 2) for S in (X, Z))
    (w, m, v), (w2, m2, v2) = (tuple(part[:, None] for part in P), Q)
    gaussians = ((v + (m - m2) ** 2) / v2 - np.log(v / v2) - 1).sum(axis=-1) / 2
    return np.exp(-0.05 * (w * (np.log(w / w2) + gaussians)).sum(axis=-1))


def _kl_mixture(X, Z, *_):
    P, Q = (list(zip(*parts_of(as_mixture(S), 2), strict=True)) for S in (X, Z))
    draws = np.random.default_rng(check_random_state(0).randint(2**31)).standard_normal((4, X.shape[1]))
    draws = (draws - draws.mean(axis=0)) / draws.std(axis=0)

    def divergence(p, q):
        w, m, v = p
        x = m[:, None] + np.sqrt(v)[:, None] * draws
        return max(w @ (log_density(x, *p) - log_density(x, *q)).mean(axis=1), 0)

    return np.exp(-0.05 * np.array([[divergence(p, q) for q in Q] for p in P]))


def _spread(X, Z):
    """Standard deviations of the columns of both sets, one if there is none."""
    values = np.vstack([X, Z])
    return np.where(np.ptp(values, axis=0) > 0, values.std(axis=0), 1.0)


def _scores(points, X, Z):
    """Normal scores of the ranks of points among both sets, value by value."""
    known = np.vstack([X, Z])

    def score(value, column):
        below, equal = (column < value).sum(), (column == value).sum()
        if equal or below in (0, len(column)):
            return norm.ppf(np.clip((below + equal / 2) / len(column), 0.5 / len(column), 1 - 0.5 / len(column)))
        low, high = column[column < value].max(), column[column > value].min()
        ends = below - 0.5, below + 0.5  # of the last of the values below, and the first of those above
        return norm.ppf(np.interp(value, (low, high), ends) / len(column))

    return np.array([[score(*pair) for pair in zip(row, known.T, strict=True)] for row in points])


KERNELS: dict[str, tuple[Kernel, Callable]] = {
    "linear": (k.Linear(), partial(_inner, profile=lambda u: u)),
    "polynomial": (k.Polynomial(degree=3, offset=0.5), partial(_inner, profile=lambda u: (u + 0.5) ** 3)),
    "linear_polynomial": (k.LinearPolynomial(0.3, 3), partial(_inner, profile=lambda u: u - 0.3 * u**3)),
    "exponential": (k.Exponential(eta=0.7), partial(_inner, profile=lambda u: np.exp(0.7 * u))),
    "exponential_negative": (k.Exponential(eta=-0.4), partial(_inner, profile=lambda u: np.exp(-0.4 * u))),
    "tanh": (k.Tanh(slope=0.4, offset=-0.2), partial(_inner, profile=lambda u: np.tanh(0.4 * u - 0.2))),
    "rbf": (k.RBF(bandwidth=1.7), partial(_rbf, bandwidth=1.7)),
    "sne": (k.SNE(bandwidth=1.3), partial(_sne, bandwidth=1.3)),
    "attention": (k.Attention(scale=1.6), partial(_attention, scale=1.6)),
    "student_t": (k.StudentT(bandwidth=0.8), partial(_student, bandwidth=0.8)),
    "laplacian": (k.Laplacian(bandwidth=2.5), lambda X, Z, *_: np.exp(-cdist(X, Z, "cityblock") / 2.5)),
    "tl1": (k.TL1(radius=3.0), lambda X, Z, *_: np.maximum(3.0 - cdist(X, Z, "cityblock"), 0)),
    "kl_discrete": (Reading(k.KullbackLeibler(0.7), as_probabilities), _kl_discrete),
    "kl_gaussian": (Reading(k.KullbackLeibler(0.05, distribution="gaussian"), as_gaussian), _kl_gaussian),
    "kl_mixture": (
        Reading(k.KullbackLeibler(0.05, distribution="mixture", n_components=2, n_draws=4), as_mixture),
        _kl_mixture,
    ),
    "kl_adapted": (
        Reading(k.KullbackLeibler(0.05, distribution="adapted", n_components=2), as_mixture),
        _kl_adapted,
    ),
    "function": (k.Function(leftish), lambda X, Z, *_: leftish(X, Z)),
    "sum": (
        k.SNE(bandwidth=1.3) + k.Polynomial(),
        lambda X, Z, X0, Z0: _sne(X, Z, X0, Z0, bandwidth=1.3) + (X @ Z.T + 1) ** 2,
    ),
    "product": (
        k.StudentT() * k.Exponential(0.2),
        lambda X, Z, X0, Z0: _student(X, Z, X0, Z0, bandwidth=1.0) * np.exp(0.2 * X @ Z.T),
    ),
    "scaled": (-2.5 * k.SNE(bandwidth=0.9), lambda X, Z, X0, Z0: -2.5 * _sne(X, Z, X0, Z0, bandwidth=0.9)),
    "standardised": (
        k.Standardised(k.RBF(bandwidth=1.3)),
        lambda X, Z, X0, Z0: _rbf(X / _spread(X0, Z0), Z / _spread(X0, Z0), bandwidth=1.3),
    ),
    "ranked": (
        k.Ranked(k.RBF(bandwidth=1.3)),
        lambda X, Z, X0, Z0: _rbf(_scores(X, X0, Z0), _scores(Z, X0, Z0), bandwidth=1.3),
    ),
    "swapped": (k.SNE(bandwidth=1.3).T, lambda X, Z, X0, Z0: _sne(Z, X, Z0, X0, bandwidth=1.3).T),
    "sum_swapped": (
        k.StudentT().T + k.RBF(bandwidth=2.0),
        lambda X, Z, X0, Z0: _student(Z, X, Z0, X0, bandwidth=1.0).T + _rbf(X, Z, bandwidth=2.0),
    ),
}
STRUCTURED = [name for name, (kernel, _) in KERNELS.items() if hasattr(kernel, "structure")]


def reference(name, X, Z, X0=None, Z0=None, **parameters):
    """Dense values of a kernel of the table, its parameters replaced by those given.

    It was fitted on X0 and Z0, or on X and Z themselves.
    """
    formula = partial(KERNELS[name][1].func, **parameters) if parameters else KERNELS[name][1]
    X, Z = as_dense(X).astype(float), as_dense(Z).astype(float)
    X0, Z0 = (X if X0 is None else as_dense(X0)), (Z if Z0 is None else as_dense(Z0))
    return formula(X, Z, X0.astype(float), Z0.astype(float))


# Sparse data. Values at one number make most of X Z^T one number, which takes a path of its own.


def _pattern(n, width, rng, density=0.12):
    return sparse.csr_array(sparse.random_array((n, width), density=density, rng=rng))


def _filled(values, n, width, rng):
    S = _pattern(n, width, rng)
    S.data[:] = rng.choice(values, size=S.nnz)
    return S


def _hubs(n, width, rng):
    S = _filled([1.0], n, width, rng).tolil()
    S[0, :], S[:, 0] = 1.0, 1.0
    return sparse.csr_array(S)


def _empty_rows(n, width, rng):
    S = _filled([1.0, 2.0], n, width, rng).toarray()
    S[::3], S[:, ::4] = 0.0, 0.0
    return sparse.csr_array(S)


def _explicit_zeros(n, width, rng):
    S = _filled([1.0], n, width, rng)
    S.data[rng.random(S.nnz) < 0.9] = 0.0
    return S


def _duplicates(n, width, rng):
    S = _filled([1.0, 0.5], n, width, rng).tocoo()
    rows, cols = (np.repeat(index, 2) for index in S.coords)
    indptr = np.searchsorted(rows, np.arange(n + 1))
    return sparse.csr_array((np.repeat(S.data, 2), cols, indptr), shape=S.shape)


SPARSE: dict[str, Callable[[int, int, np.random.Generator], sparse.csr_array]] = {
    "weighted": _pattern,
    "binary": partial(_filled, [1.0]),
    "hubs": _hubs,
    "empty_rows": _empty_rows,
    "all_zero": lambda n, width, rng: sparse.csr_array((n, width)),
    "negative": lambda n, width, rng: _pattern(n, width, rng) * -3.0,
    "signs": partial(_filled, [1.0, 1.0, 1.0, 1.0, 1.0, -1.0]),
    "two_levels": partial(_filled, [1.0, 1.0, 1.0, 1.0, 1.0, 0.1]),
    "explicit_zeros": _explicit_zeros,
    "duplicates": _duplicates,
}


def sparse_pair(name, n=40, m=30, width=25, seed=1, dtype=float):
    """Left and right sparse points of a kind."""
    rng = np.random.default_rng(seed)
    return SPARSE[name](n, width, rng).astype(dtype), SPARSE[name](m, width, rng).astype(dtype)


# Operators, as builders of (operator, dense matrix).


def structured(kernel, data, budget):
    """The sparse-plus-low-rank operator of a kernel of the table on sparse data, and its dense reference."""
    X, Z = sparse_pair(data)
    return sparse_plus_low_rank(clone(KERNELS[kernel][0]).fit(X, Z), X, Z, budget), reference(kernel, X, Z)


def blocked(name, n=40, m=30, width=4):
    """The blocked operator of a kernel of the table on dense data, and its dense reference."""
    rng = np.random.default_rng(2)
    X, Z = rng.standard_normal((n, width)), rng.standard_normal((m, width))
    kernel = clone(KERNELS[name][0]).fit(X, Z)
    return Blocked(kernel, kernel.left(X), kernel.right(Z)), reference(name, X, Z)


def _stored(make):
    K = make(np.random.default_rng(3))
    return Stored(K), as_dense(K)


def _low_rank(make):
    rng = np.random.default_rng(4)
    L, R = make(40, rng), make(30, rng)
    return LowRank(L, R), as_dense(L) @ as_dense(R).T


def _scaled_low_rank(make):
    A, _ = _low_rank(make)
    s = np.linspace(2.0, -0.5, A.L.shape[1])
    return LowRank(A.L, A.R, s), as_dense(A.L) @ np.diag(s) @ as_dense(A.R).T


def _sum():
    (A, K), (B, L), (C, M) = blocked("rbf"), _low_rank(_thin_sparse), structured("sne", "binary", PLENTY)
    return Sum([A, B, C], [1.0, -0.5, 2.0]), K - 0.5 * L + 2 * M


def _thin_sparse(n, rng):
    return _pattern(n, 5, rng, density=0.4)


PLAIN: dict[str, Callable[[], tuple[KernelOperator, np.ndarray]]] = {
    "stored_dense": lambda: _stored(lambda rng: rng.standard_normal((40, 30))),
    "stored_wide": lambda: _stored(lambda rng: rng.standard_normal((20, 50))),
    "stored_sparse": lambda: _stored(lambda rng: _pattern(40, 30, rng)),
    "blocked_sne": lambda: blocked("sne"),
    "blocked_swapped": lambda: blocked("swapped"),
    "blocked_sum": lambda: blocked("sum"),
    "low_rank_dense": lambda: _low_rank(lambda n, rng: rng.standard_normal((n, 3))),
    "low_rank_sparse": lambda: _low_rank(_thin_sparse),
    "low_rank_with_values": lambda: _scaled_low_rank(lambda n, rng: rng.standard_normal((n, 3))),
    "low_rank_sparse_with_values": lambda: _scaled_low_rank(_thin_sparse),
    "sum": _sum,
    **{
        f"{kernel}_{data}_{way}": partial(structured, kernel, data, budget)
        for kernel in STRUCTURED
        for data in ("weighted", "binary")
        for way, budget in (("kept", PLENTY), ("streamed", NOTHING))
    },
}


def _centered(build):
    A, K = build()
    return Centered(A), centred(K)


def _transposed(build):
    A, K = build()
    return A.T, K.T


def _weighted(build):
    A, K = build()
    left, right = (np.random.default_rng(count).random(count) for count in K.shape)
    return Weighted(A, left, right), left[:, None] * K * right


def _restricted(build):
    A, K = build()
    rows, columns = (np.random.default_rng(count).permutation(count)[: count - 2] for count in K.shape)
    return restricted(A, rows, columns), K[np.ix_(rows, columns)]


def _centered_by_weights(build):
    A, K = build()
    p, q = (np.random.default_rng(count).random(count) for count in K.shape)
    K = K - (p / p.sum()) @ K
    return Centered(A, p, q), K - (K @ (q / q.sum()))[:, None]


OPERATORS = {
    **PLAIN,
    **{f"weighted_{name}": partial(_weighted, build) for name, build in PLAIN.items()},
    **{f"restricted_{name}": partial(_restricted, build) for name, build in PLAIN.items()},
    **{f"centered_by_weights_{name}": partial(_centered_by_weights, build) for name, build in PLAIN.items()},
    **{f"centered_{name}": partial(_centered, build) for name, build in PLAIN.items()},
    **{f"transposed_{name}": partial(_transposed, build) for name, build in PLAIN.items()},
}

# Solvers: (operator, k, rng) -> Factors.

SOLVERS = {
    "lapack": lambda A, k, rng: lapack(A, k),
    **{f"krylov_{block}": lambda A, k, rng, block=block: krylov(A, k, rng=rng, block=block) for block in (1, 2, 8)},
}


def nystrom_svd(n_components=2, **parameters):
    """A KernelSVD with landmarks, from parameters of the solver object and of the estimator side by side."""
    of_solver = {name: parameters.pop(name) for name in Nystrom().get_params() if name in parameters}
    return KernelSVD(parameters.pop("n_components", n_components), solver=Nystrom(**of_solver), **parameters)


# Saddle systems: builders of a SaddleFamily from a square matrix. INVERTING ones leave samples out exactly; ASYMMETRIC
# ones take any matrix.


def spectral_of_product(L, R, weights=None):
    """Systems of K = L R' from a decomposition of its centred form of low rank."""
    r = np.ones((len(L), 1)) if weights is None else np.sqrt(weights)[:, None]
    H = np.eye(len(L)) - r @ r.T / (r.T @ r)
    (Q, X), (P, Y) = np.linalg.qr(H @ (r * L)), np.linalg.qr(H @ (r * R))
    W, s, Zt = np.linalg.svd(X @ Y.T)
    return Spectral(LowRank(L, R), Factors(Q @ W, s, P @ Zt.T), weights=weights)


SADDLES: dict[str, Callable[..., SaddleFamily]] = {  # a matrix, and weights of the samples if there are any
    "dense": lambda K, w=None: Dense(Stored(K), weights=w),
    "block_lu_dense": lambda K, w=None: BlockLU(Stored(K), weights=w),
    "sparse_lu": lambda K, w=None: BlockLU(Stored(sparse.csr_array(K)), weights=w),
    "spectral_gram": lambda K, w=None: Spectral.of_matrix(Stored(K), 0.0, weights=w),
    "spectral_svd": lambda K, w=None: Spectral.of_matrix(Stored(K), np.inf, weights=w),
    "woodbury": lambda K, w=None: spectral_of_product(K, np.eye(len(K)), w),
    "minres": lambda K, w=None: Minres(Stored(K), 1e-14, weights=w),
    "minres_of_product": lambda K, w=None: Minres(LowRank(K, np.eye(len(K))), 1e-14, weights=w),
    "symmetric_lu": lambda K, w=None: Dense(Stored(K), symmetric=True, weights=w),
    "symmetric_eigh": lambda K, w=None: Spectral.of_matrix(Stored(K), np.inf, symmetric=True, weights=w),
}
SYMMETRIC = [name for name in SADDLES if name.startswith("symmetric")]
ASYMMETRIC = [name for name in SADDLES if name not in SYMMETRIC]
INVERTING = [name for name, build in SADDLES.items() if build(np.eye(2)).leaves_one_out]


def bordered(K, C, weights=1.0):
    """The matrix of the saddle system in the unknowns b1, b2, a, c."""
    n = len(K)
    M = np.zeros((2 * n + 2, 2 * n + 2))
    left, right = slice(2, n + 2), slice(n + 2, None)
    M[0, left] = M[left, 0] = M[1, right] = M[right, 1] = 1
    M[left, right], M[right, left] = K, K.T
    M[left, left] = M[right, right] = np.diag(np.ones(n) / C / weights)
    return M


def solve_bordered(K, C, Y, damping=0.0, weights=1.0):
    """a, c, b1, b2 without the library."""
    M, n = bordered(K, C, weights), len(K)
    r = np.concatenate([np.zeros((2, Y.shape[1])), Y, Y])
    x = np.linalg.solve(M.T @ M + damping * np.eye(len(M)), M.T @ r) if damping else np.linalg.solve(M, r)
    return x[2 : n + 2], x[n + 2 :], x[0], x[1]


# Estimators, each with settings that take its ways apart, and such as draw at random where it can.

ESTIMATORS = [
    KernelSVD(center=True),
    KernelSVD(kernel="sne", solver=Nystrom(14), tol=0.9, compatibility="random"),
    AsymmetricLSSVC(C=0.1),
    AsymmetricLSSVC(C=[0.1, 1.0]),
    AsymmetricLSSVC(merge="stack"),
    AsymmetricLSSVC(solver=Nystrom(20, landmarks="kmeans")),
    AsymmetricLSSVR(C=[0.1, 1.0], merge="stack"),
    AsymmetricLSSVR(solver=Nystrom(20)),
    LearnedKernelSVDClassifier(max_iter=3),
    LearnedKernelSVDClassifier(max_iter=3, optimizer="adam", batch_size=20),
    LearnedKernelSVDRegressor(max_iter=3),
    PriorNystroem(n_components=20),
    SelfTrainedFeatures(PriorNystroem(n_components=20)),
    KernelBiclustering(n_init=1),
    KernelRecommender(3),
    DirectedGraphEmbedding(n_components=4),
    DirectedGraphEmbedding(n_components=4, kernel="rbf"),
    ImageMixtures(n_components=2, patch=2, step=2),
]


def data_for(estimator):
    """Sixty points of width sixteen in two classes, or a graph of sixty nodes and no classes."""
    rng = np.random.default_rng(0)
    X = rng.random((60, 16))
    if not estimator.__sklearn_tags__().input_tags.two_d_array:
        return (rng.random((60, 60)) < 0.1).astype(float), None
    return X, (X[:, 0] > 0.5).astype(int)


def fitted(estimator):
    """A copy of it, fitted on its data."""
    return clone(estimator).fit(*data_for(estimator))


def planted_blocks(noise, rng, sizes=((60, 40, 20), (30, 40, 20))):
    """A table with one block for each cluster, and the clusters of its rows and columns."""
    rows, columns = (rng.permutation(np.repeat(np.arange(len(s)), s)) for s in sizes)
    X = (rows[:, None] == columns) + noise * rng.standard_normal((len(rows), len(columns)))
    return X, rows, columns


def eta(found, U, s, V, k):
    """The 2024 paper's error of k triplets; within groups of equal singular values, cosines with the whole group."""
    total = 0.0
    for i in range(k):
        group = np.abs(s - s[i]) <= 1e-6 * s[0]
        cosines = [np.linalg.norm(A[:, group].T @ B[:, i]) for A, B in zip((U, V), found, strict=True)]
        total += s[i] / s[0] * sum(1 - min(1.0, cosine) for cosine in cosines)
    return total / k
