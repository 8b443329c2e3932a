"""The public laws hold for what is right, and name what is wrong."""

import numpy as np
import pytest

from lopsided.exceptions import NotFiniteError
from lopsided.kernels import RBF, Function, Kernel, Linear
from lopsided.operators import Stored
from lopsided.testing import check_kernel, check_operator

X, Z = (np.random.default_rng(seed).standard_normal((n, 3)) for seed, n in ((0, 6), (1, 5)))


class Asymmetric(Linear):
    """x'z + x_1 is not symmetric, whatever it says."""

    def pairs(self, L, R):
        return super().pairs(L, R) + L[:, :1]

    @property
    def commutes(self):
        return False


class Exchanged(Asymmetric):
    """Says that blocks may be exchanged."""

    @property
    def commutes(self):
        return True


class Double(Linear):
    """Knows only double precision."""

    def pairs(self, L, R):
        return super().pairs(L, R).astype(float)


class Vandal(Linear):
    """Changes the points."""

    def left(self, X):
        X += 1
        return X


class Restless(Linear):
    """Changes its mind."""

    def fit(self, X, Z):
        self.offset_ = np.random.default_rng().random()
        return super().fit(X, Z)

    def pairs(self, L, R):
        return super().pairs(L, R) + self.offset_


class Centring(Linear):
    """Depends on the other points."""

    def pairs(self, L, R):
        K = super().pairs(L, R)
        return K - K.mean()


class Steep(RBF):
    """Has twice the derivative."""

    def differentiate(self, X, Z):
        K, pull_back = super().differentiate(X, Z)
        return K, lambda W: 2 * pull_back(W)


class Overflowing(Linear):
    """Is infinite."""

    def pairs(self, L, R):
        return super().pairs(L, R) + np.inf


class Learning(Kernel):
    """Stores what it learned under the name of a parameter."""

    def __init__(self, bandwidth=None):
        self.bandwidth = bandwidth

    def fit(self, X, Z):
        self.bandwidth = 1.0
        return super().fit(X, Z)

    def pairs(self, L, R):
        return L @ R.T


BROKEN = [
    (Asymmetric(), "says it is symmetric"),
    (Exchanged(), "exchanging a kernel exchanges its arguments"),
    (Double(), "float32"),
    (Vandal(), "modified the points"),
    (Restless(), "fitting twice"),
    (Centring(), "do not depend on the others"),
    (Steep(1.0), "the derivative is"),
    (Learning(), "fitting changed parameters"),
]


@pytest.mark.parametrize(("kernel", "law"), BROKEN, ids=lambda value: type(value).__name__)
def test_a_kernel_that_breaks_a_law_is_told_which(kernel, law):
    with pytest.raises(AssertionError, match=law):
        check_kernel(kernel, X.copy(), Z.copy(), sparse_points=False)


def test_a_kernel_that_overflows_says_so_itself():
    with pytest.raises(NotFiniteError, match="not finite"):
        check_kernel(Overflowing(), X.copy(), Z.copy(), sparse_points=False)


def test_a_kernel_with_other_values_for_sparse_points_is_told_so():
    kernel = Function(lambda X, Z: np.full((X.shape[0], Z.shape[0]), 1.0 + isinstance(X, np.ndarray)))
    with pytest.raises(AssertionError, match="sparse points have the values of dense ones"):
        check_kernel(kernel, X, Z)


class DenseOnly(Kernel):
    """Indexes points as only dense ones can be."""

    def pairs(self, L, R):
        return np.maximum(L[:, None, :] - R[None, :, :], 0).sum(axis=2)


def test_a_kernel_that_fails_on_sparse_points_is_told_the_way_out():
    with pytest.raises(AssertionError, match=r"fails on sparse points.*sparse_points=False"):
        check_kernel(DenseOnly(), X, Z)
    check_kernel(DenseOnly(), X, Z, sparse_points=False)


@pytest.mark.parametrize("kernel", ["rbf", lambda X, Z: X @ Z.T])
def test_names_and_functions_are_checked_like_kernels(kernel):
    check_kernel(kernel, X, Z, sparse_points=kernel == "rbf")


class Off(Stored):
    """A matrix with one thing wrong."""

    def __init__(self, K, wrong):
        super().__init__(K)
        self.wrong = wrong

    def take(self, rows=slice(None), cols=slice(None)):
        return super().take(rows, cols) + (self.wrong == "entries")

    def _matmat(self, V):
        if self.wrong == "input":
            V += 1
        product = super()._matmat(V)
        return product.astype(np.longdouble) if self.wrong == "dtype" else product + (self.wrong == "products")

    def _adjoint(self):
        return Stored(self.K.T * (2 if self.wrong == "adjoint" else 1))

    def norm(self):
        return super().norm() * (2 if self.wrong == "norm" else 1)

    @property
    def cost(self):
        return 0 if self.wrong == "cost" else super().cost


@pytest.mark.parametrize(
    ("wrong", "law"),
    [
        ("entries", "taking entries is slicing"),
        ("products", "A @ V is the product"),
        ("adjoint", r"A.T @ U is the product"),
        ("input", "modified|A @ V is the product"),
        ("dtype", "dtype"),
        ("norm", "the norm"),
        ("cost", "cost is 0"),
    ],
)
def test_an_operator_that_breaks_a_law_is_told_which(wrong, law):
    K = X @ Z.T
    check_operator(Off(K, "nothing"), K)
    with pytest.raises(AssertionError, match=law):
        check_operator(Off(K, wrong), K)
