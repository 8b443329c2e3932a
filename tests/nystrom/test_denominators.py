"""Kernels normalised over a set of points, with sums over all points or over weighted landmarks."""

import warnings

import numpy as np
import pytest
from landmark_cases import ROWS, every_kernel, every_strategy, model_of, sparse_sets, two_sets
from sklearn.base import clone

from cases import KERNELS, assert_close, reference
from lopsided import Nystrom
from lopsided.exceptions import AccuracyWarning
from lopsided.kernels import SNE, StudentT
from lopsided.nystrom.solver import sums_over_landmarks


def weighted(side, weights):
    """A weight of three is the same as the point three times."""
    return np.repeat(side, weights, axis=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize("name", sorted({*KERNELS} - {"standardised", "ranked"}))  # references measure ``few``
def test_a_kernel_normalised_over_weighted_points_sums_over_them(name, exchanged, dtype):
    X, Z = (side.astype(dtype) for side in two_sets(n=9, m=8))
    few = np.vstack([X, X[:2] + dtype(0.1)]), np.vstack([Z, Z[:3] - dtype(0.1)])
    weights = np.arange(len(few[0])) % 4 + 1, np.arange(len(few[1])) % 5 + 1
    kernel = clone(KERNELS[name][0]).fit(X, Z)
    before = kernel(X, Z)
    sides = [(points, counts.astype(float)) for points, counts in zip(few, weights, strict=True)]
    expected = reference(name, X, Z, *map(weighted, few, weights))
    found = kernel.T.normalised_over(*sides[::-1])(Z, X).T if exchanged else kernel.normalised_over(*sides)(X, Z)
    assert_close(found, expected, dtype=dtype)
    assert np.array_equal(kernel(X, Z), before), "the fitted kernel was changed"
    changes = not np.allclose(expected, reference(name, X, Z))
    assert kernel.normalised == kernel.T.normalised == changes


@pytest.mark.parametrize("center", [False, True])
@every_kernel
def test_denominators_over_every_point_are_the_exact_ones(name, center):
    X, Z = two_sets(n=22, m=17)
    landmarks = np.arange(22), np.arange(17)
    exact, narrow = (
        model_of(name, 2, landmarks=landmarks, denominators=denominators, center=center).fit(X, Z=Z)
        for denominators in ("all", "landmarks")
    )
    assert_close(narrow.singular_values_, exact.singular_values_)
    assert_close(narrow.transform(X), exact.transform(X), ulps=1e4)
    assert_close(narrow.transform_right(Z), exact.transform_right(Z), ulps=1e4)


@pytest.mark.parametrize("name", ["sne", "student_t", "swapped", "product", "scaled"])
@every_strategy
def test_denominators_over_landmarks_are_weighted_sums_by_hand(name, strategy):
    X, Z = two_sets()
    model = model_of(name, landmarks=strategy, n_landmarks=16, denominators="landmarks", extension="plain").fit(X, Z=Z)
    left, right = model.landmarks_
    kernel = (
        clone(KERNELS[name][0]).fit(X, Z).normalised_over((left.points, left.weights), (right.points, right.weights))
    )
    roots = np.sqrt(left.weights), np.sqrt(right.weights)
    small = roots[0][:, None] * kernel(left.points, right.points) * roots[1]
    assert_close(model.singular_values_, np.linalg.svd(small, compute_uv=False)[:3], ulps=1e4)


def test_denominators_are_exact_unless_that_is_dear(monkeypatch):
    X, Z = two_sets()

    def fitted(denominators, kernel="sne"):
        return model_of(kernel, landmarks=ROWS, denominators=denominators).fit(X, Z=Z).singular_values_

    exact, narrow = fitted("all"), fitted("landmarks")
    assert np.abs(exact - narrow).max() > 1e-3
    assert_close(fitted("auto"), exact)
    monkeypatch.setattr("lopsided.nystrom.solver.COSTLY_SUMS", 60 * 45 - 1)
    assert_close(fitted("auto"), narrow)
    assert_close(fitted("auto", "rbf"), fitted("all", "rbf"))


@pytest.mark.parametrize("kernel", [SNE(1.0), StudentT(), 2 * SNE(1.0).T])
def test_sums_over_sparse_landmarks_are_refused_and_never_taken_unasked(kernel, monkeypatch):
    X, Z = sparse_sets()
    with pytest.raises(ValueError, match="denominators='landmarks' is for dense data.*use 'all'"):
        model_of(kernel, n_landmarks=16, denominators="landmarks").fit(X, Z=Z)
    monkeypatch.setattr("lopsided.nystrom.solver.COSTLY_SUMS", 1)
    assert model_of(kernel, n_landmarks=16).fit(X, Z=Z).n_components_ == 3


@pytest.mark.parametrize(
    ("kernel", "over_left", "over_right"),
    [
        (SNE(1.0), False, True),
        (StudentT(1.0), False, True),
        (2 * SNE(1.0).T, True, False),
        (SNE().T + SNE(), True, True),
    ],
)
@pytest.mark.parametrize("left_is_sparse", [True, False])
def test_sums_are_over_landmarks_unasked_if_the_points_they_run_over_are_dense(
    left_is_sparse, kernel, over_left, over_right, monkeypatch
):
    monkeypatch.setattr("lopsided.nystrom.solver.COSTLY_SUMS", 1)
    (X, Z), (S, T) = two_sets(), sparse_sets()
    X, Z = (S, Z) if left_is_sparse else (X, T)
    assert model_of(kernel, n_landmarks=16).fit(X, Z=Z).n_components_ == 3
    assert sums_over_landmarks(Nystrom(), kernel.fit(X, Z), X, Z) == (not (over_left if left_is_sparse else over_right))


def test_groups_without_a_landmark_do_not_overflow_sums_over_landmarks():
    """A row far from every right landmark has a sum near zero; its values are still at most one."""
    X = np.repeat(10.0 * np.arange(10), 20)[:, None] + 0.1 * np.random.default_rng(0).standard_normal((200, 1))
    for kernel in (SNE(0.3), StudentT(0.3)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            model = model_of(kernel, n_landmarks=12, denominators="landmarks").fit(X, Z=X)
        assert np.isfinite(model.singular_values_).all()
        assert model.singular_values_[0] <= 200  # |K|_F of a matrix whose entries are at most one
