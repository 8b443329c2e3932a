"""What belongs to the user stays as it was, and answers do not depend on how the same values are stored."""

import numpy as np
import pytest
from scipy import sparse

from lopsided import AsymmetricLSSVR, KernelSVD, LearnedKernelSVDRegressor, PriorNystroem
from lopsided.exceptions import LopsidedWarning
from lopsided.images import psnr, ssim
from lopsided.io import read_graph
from lopsided.kernels import (
    RBF,
    SNE,
    TL1,
    Attention,
    Exponential,
    Function,
    Laplacian,
    Linear,
    Polynomial,
    StudentT,
    Tanh,
)
from lopsided.prior_nystroem.criteria import Path, least_error

KERNELS = [Linear(), Polynomial(), Exponential(), RBF(), Laplacian(), SNE(), Attention(), StudentT(), TL1(), Tanh()]


def unsorted():
    """A sparse matrix whose rows are stored from right to left, with one entry in two parts."""
    A = sparse.random_array((30, 12), density=0.3, rng=np.random.default_rng(0), format="csr")
    order = np.concatenate([np.arange(b - 1, a - 1, -1) for a, b in zip(A.indptr, A.indptr[1:], strict=False)])
    return sparse.csr_array((A.data[order], A.indices[order], A.indptr), shape=A.shape)


def parts(*matrices):
    return [array.copy() for S in matrices for array in (S.data, S.indices, S.indptr)]


@pytest.mark.parametrize("kernel", [*KERNELS, RBF() + Linear(), SNE().T], ids=repr)
def test_fitting_a_kernel_to_raw_sparse_points_leaves_them_unsorted(kernel):
    X, Z = unsorted(), unsorted()
    before = parts(X, Z)
    kernel.fit(X, Z)
    kernel.left(X), kernel.right(Z)
    assert all(map(np.array_equal, before, parts(X, Z)))


def test_a_kernel_function_cannot_write_into_sparse_data():
    def vandal(X, Z):
        K = (X @ Z.T).toarray()
        X.data[:], Z.data[:] = 7, 7
        return K

    X, Z = sparse.csr_array(np.eye(20, 6)), sparse.csr_array(np.eye(15, 6))
    before = parts(X, Z)
    KernelSVD(2, kernel=Function(vandal), solver="lapack").fit(X, Z=Z)
    assert all(map(np.array_equal, before, parts(X, Z)))


@pytest.mark.parametrize("name", ["missing.csv", "missing.parquet", "missing.txt.gz"])
def test_a_missing_file_is_named_with_a_way_out(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=f"no file '{name}' in '.*give its whole path"):
        read_graph(name)
    with pytest.raises(FileNotFoundError, match=f"no file '.*{name}'"):
        read_graph(tmp_path / name)


@pytest.mark.parametrize("none", [-1, None, np.nan])
@pytest.mark.parametrize(
    "labels", [np.arange(60) % 2, np.array(["a", "b"])[np.arange(60) % 2]], ids=["numbers", "strings"]
)
def test_every_usual_mark_of_a_missing_label_means_none(none, labels, rng):
    X, known = rng.standard_normal((60, 4)), np.arange(60) < 30
    y = labels.astype(object)
    y[~known] = none
    model, same = (
        PriorNystroem(10).fit(X, y),
        PriorNystroem(10).fit(X, [str(one) if at else "-1" for one, at in zip(labels, known, strict=True)]),
    )
    assert len(model.classes_) == 2
    np.testing.assert_allclose(model.transform(X), same.transform(X))
    with pytest.warns(LopsidedWarning, match="no label"):
        PriorNystroem(10).fit(X, np.full(60, none, dtype=object))


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e200])
def test_quality_of_images_of_any_scale_is_finite(scale, rng):
    image, other = rng.random((12, 12)), rng.random((12, 12))
    assert psnr(scale * image, scale * other) == pytest.approx(psnr(image, other) - 20 * np.log10(scale))
    assert psnr(scale * image, scale * other, peak=scale) == pytest.approx(psnr(image, other))
    assert -1 <= ssim(scale * image, scale * other) <= 1
    assert ssim(scale * image, scale * other, peak=scale) == pytest.approx(ssim(image, other))


MACHINES = [
    AsymmetricLSSVR(),
    AsymmetricLSSVR(1.0),
    AsymmetricLSSVR(merge="stack"),
    AsymmetricLSSVR(solver="minres"),
    AsymmetricLSSVR(solver="nystrom"),
    LearnedKernelSVDRegressor(),
]


@pytest.mark.parametrize("value", [0.0, 3.0, 0.1, -1e6])
@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_regressors_predict_a_constant_target(machine, value, rng):
    X = rng.standard_normal((40, 3))
    found = machine.fit(X, np.full(40, value)).predict(rng.standard_normal((5, 3)))
    np.testing.assert_allclose(found, np.full(5, value), rtol=1e-12)
    both = machine.fit(X, np.column_stack([X[:, 0], np.full(40, value)])).predict(X)
    np.testing.assert_allclose(both[:, 1], np.full(40, value), rtol=1e-12)


def test_errors_that_differ_by_rounding_are_ties():
    """Dense and sparse copies of the same samples would otherwise select different candidates."""
    errors, weights = np.array([[2.0, 2.0], [1.0, 1.0], [1.0, 1.0]]), np.array([1.0, 10.0, np.inf])
    for up in (1 - 1e-15, 1.0, 1 + 1e-15):
        for other in (1 - 1e-15, 1 + 1e-15):
            paths = [Path(weights, errors * np.array([[1], [up], [1]])), Path(weights, errors * other)]
            assert least_error(paths) == (0, np.inf)


@pytest.mark.parametrize("seed", range(4))
def test_sparse_and_dense_samples_select_the_same_features(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (150, 8)) * rng.standard_normal((150, 8))
    y = np.where(rng.random(150) < 0.5, (X[:, 0] > X[:, 1]).astype(int), -1)
    dense, thin = (PriorNystroem(landmarks=np.arange(20)).fit(points, y) for points in (X, sparse.csr_array(X)))
    assert dense.smoothness_ == thin.smoothness_ and dense.prior_weight_ == thin.prior_weight_
