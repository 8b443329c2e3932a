"""Kernels given by a callable are functions of pairs: one whose values depend on the block is refused."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from cases import as_dense, data_for, leftish
from lopsided import (
    AsymmetricLSSVC,
    AsymmetricLSSVR,
    DirectedGraphEmbedding,
    KernelBiclustering,
    KernelSVD,
    Nystrom,
    PriorNystroem,
    image_svd,
)
from lopsided.kernels import Function, as_kernel


def inner(X, Z):
    return 1 + np.exp(as_dense(X) @ as_dense(Z).T)


def distances(X, Z):
    """Roots of what cancels: as rough as a legitimate kernel gets."""
    X, Z = as_dense(X), as_dense(Z)
    squares = (X**2).sum(axis=1)[:, None] + (Z**2).sum(axis=1) - 2 * X @ Z.T
    return -np.sqrt(np.maximum(squares, 0))


def of_any_width(X, Z):
    """A function normalised over columns that also compares vectors of different widths."""
    K = np.exp(leftish(X, Z))
    return K / K.sum(axis=0)


BLOCK_DEPENDENT = {
    "over rows": lambda X, Z: inner(X, Z) / inner(X, Z).sum(axis=1, keepdims=True),
    "over columns": lambda X, Z: inner(X, Z) / inner(X, Z).sum(axis=0),
    "centred": lambda X, Z: inner(X, Z) - inner(X, Z).mean(),
    "centred points": lambda X, Z: inner(X - X.mean(axis=0), Z),
    "divided by the largest": lambda X, Z: inner(X, Z) / inner(X, Z).max(),
    "divided by the number of columns": lambda X, Z: inner(X, Z) / Z.shape[0],
    "ranks": lambda X, Z: inner(X, Z).argsort(axis=1).argsort(axis=1).astype(float),
}
PAIRWISE = {
    "inner": inner,
    "distances": distances,
    "leftish": leftish,
    "zero": lambda X, Z: np.zeros((X.shape[0], Z.shape[0])),
    "whole numbers": lambda X, Z: (as_dense(X)[:, :1] > as_dense(Z)[:, :1].T).astype(int),
    "yes or no": lambda X, Z: as_dense(X)[:, :1] > as_dense(Z)[:, :1].T,
    "single precision": lambda X, Z: inner(X.astype(np.float32), Z.astype(np.float32)),
    "half precision": lambda X, Z: inner(X, Z).astype(np.float16),
    "single precision inside": lambda X, Z: distances(X.astype(np.float32), Z.astype(np.float32)).astype(float),
    "infinite": lambda X, Z: np.where(as_dense(X)[:, :1] > as_dense(Z)[:, :1].T, np.inf, inner(X, Z)),
    "loop": lambda X, Z: np.array([[np.dot(x, z) for z in as_dense(Z)] for x in as_dense(X)]),
}
SIDE = {"over rows": 1, "ranks": 1, "divided by the number of columns": 1, "over columns": 0, "centred points": 0}
SIZES = [(40, 30), (9, 2), (2, 9), (2, 2), (1, 30), (30, 1)]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", BLOCK_DEPENDENT)
def test_a_function_that_depends_on_the_block_is_refused(name, size, rng):
    X, Z = (rng.standard_normal((n, 3)) for n in size)
    depends = {
        "over rows": 1,
        "ranks": 1,
        "divided by the number of columns": 1,
        "over columns": 0,
        "centred points": 0,
    }
    if name in depends and size[depends[name]] == 1:
        return  # then there is one point to depend on, always
    with pytest.raises(ValueError, match=r"must not depend on the other points.*Attention.*precomputed"):
        Function(BLOCK_DEPENDENT[name]).fit(X, Z)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [*SIZES, (1, 1)], ids=str)
@pytest.mark.parametrize("name", PAIRWISE)
def test_a_function_of_pairs_is_taken_whatever_its_rounding(name, size, dtype, rng):
    X, Z = (100 + rng.standard_normal((n, 3)) if name == "distances" else rng.standard_normal((n, 3)) for n in size)
    X, Z = X.astype(dtype), Z.astype(dtype)
    Function(PAIRWISE[name]).fit(X, Z)
    if name not in ("loop", "single precision inside"):
        Function(PAIRWISE[name]).fit(sparse.csr_array(X), sparse.csr_array(Z))


def test_combinations_of_functions_are_checked_too(rng):
    X, Z = rng.standard_normal((9, 3)), rng.standard_normal((8, 3))
    bad = as_kernel(BLOCK_DEPENDENT["over columns"])
    for kernel in (bad.T, 2 * bad, bad + as_kernel("rbf"), as_kernel("rbf") * bad):
        with pytest.raises(ValueError, match="must not depend on the other points"):
            kernel.fit(X, Z)


ESTIMATORS = [
    KernelSVD(),
    KernelSVD(compatibility="random", solver=Nystrom(10)),
    AsymmetricLSSVC(C=0.1),
    AsymmetricLSSVR(solver=Nystrom(20)),
    PriorNystroem(n_components=20),
    KernelBiclustering(n_init=1),
    DirectedGraphEmbedding(n_components=4),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_every_estimator_refuses_a_function_that_depends_on_the_block(estimator):
    X, y = data_for(estimator)
    with pytest.raises(ValueError, match="must not depend on the other points"):
        clone(estimator).set_params(kernel=of_any_width).fit(X, y)


def test_the_svd_of_an_image_refuses_it_too(rng):
    with pytest.raises(ValueError, match="must not depend on the other points"):
        image_svd(rng.random((20, 20)), kernel=of_any_width)


def test_a_function_that_cannot_take_sparse_points_is_told_that_they_are_sparse(rng):
    X, Z = (sparse.csr_array(rng.standard_normal((n, 3))) for n in (6, 5))
    for broadcast in (lambda X, Z: (X[:, None] - Z[None]).sum(axis=2), lambda X, Z: X.clip(0) @ Z.T):
        with pytest.raises(ValueError, match="they are sparse, and X.toarray"):
            Function(broadcast).fit(X, Z)
