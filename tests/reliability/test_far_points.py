"""What models say of points a long way from the training data: a finite answer, or NotFiniteError; never NaN."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import cases
from lopsided import AsymmetricLSSVR, KernelSVD, LearnedKernelSVDRegressor, Nystrom, PriorNystroem
from lopsided.exceptions import LopsidedWarning, NotFiniteError
from lopsided.images import psnr, ssim
from lopsided.kernels import KullbackLeibler, as_kernel

LEARNED = [LearnedKernelSVDRegressor(kernel=name, max_iter=2) for name in ("polynomial", "exponential", "sne")]
METHODS = ("transform", "transform_right", "predict", "decision_function", "predict_proba", "predict_columns")
FAR = [1e2, 1e150, 1e300]
NAMES = "linear polynomial linear_polynomial exponential rbf laplacian sne student_t tl1 tanh".split()  # noqa: SIM905


def finite_or_told(call, *args):
    """Warnings of numpy are errors here; only our own error, or one about overflow at the gate, may be raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", LopsidedWarning)
        try:
            found = call(*args)
        except NotFiniteError:
            return
        except ValueError as error:
            assert any(word in str(error) for word in ("large", "overflow", "finite", "between", "scale")), error
            return
    if not isinstance(found, tuple):
        assert np.isfinite(np.asarray(found, dtype=float)).all()


def fitted(model, *data, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LopsidedWarning)
        return clone(model).fit(*data, **more)


@pytest.mark.parametrize("factor", FAR)
@pytest.mark.parametrize("estimator", [*cases.ESTIMATORS, *LEARNED], ids=repr)
def test_every_estimator_on_far_points(estimator, factor):
    X, y = cases.data_for(estimator)
    model = fitted(estimator, X, y)
    new = X * factor if y is not None else X[:5] * factor
    for name in METHODS:
        if hasattr(model, name) and not (name.endswith("right") and not hasattr(model, "right_vectors_")):
            finite_or_told(getattr(model, name), new.T if name in ("transform_right", "predict_columns") else new)


@pytest.mark.parametrize("factor", FAR)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_every_kernel_on_far_points(name, kind, factor):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4)) * (rng.random((30, 4)) < 0.6)
    new, y = kind(factor * X), np.arange(30) % 2
    models = [
        KernelSVD(2, kernel=name, center=True),
        KernelSVD(2, kernel=name, solver=Nystrom(15)),
        AsymmetricLSSVR(0.1, kernel=name),
        *([PriorNystroem(8, kernel=name)] if name in ("rbf", "laplacian", "linear") else []),
    ]
    for model in models:
        two_sets = isinstance(model, KernelSVD)
        model = fitted(model, kind(X), Z=kind(X[::-1])) if two_sets else fitted(model, kind(X), y)
        for method in METHODS:
            if hasattr(model, method) and (method != "transform_right" or two_sets):
                finite_or_told(getattr(model, method), new)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-40, 1e40, 1e150, 1e200, 1e300])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_every_kernel_called_at_any_scale(name, kind, scale):
    X = np.random.default_rng(0).standard_normal((9, 3))
    X[0] = 0
    kernels = [as_kernel(name)]
    if "bandwidth" in kernels[0].get_params():
        kernels.append(as_kernel(name).set_params(bandwidth=scale))
    for kernel in kernels:
        finite_or_told(kernel, kind(scale * X), kind(scale * X[::-1]))
        finite_or_told(kernel, kind(X), kind(scale * X[:4]))
        finite_or_told(kernel, kind(scale * X), kind(X[:4]))


@pytest.mark.parametrize("scale", [1e-200, 1e100, 1e200])
def test_diagnostics_at_any_scale(scale):
    X = np.random.default_rng(0).standard_normal((40, 30))
    found = fitted(KernelSVD(3, kernel="precomputed"), scale * X).diagnostics(scale * X)
    assert found.worst < 1e-10


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-150, 1e150, 1e200, 1e300])
def test_quality_of_images_at_any_scale(scale):
    image = np.random.default_rng(0).random((24, 24))
    other = np.clip(image + 0.01, 0, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for quality in (psnr, ssim):
            np.testing.assert_allclose(
                quality(scale * image, scale * other, peak=scale), quality(image, other, peak=1.0), rtol=1e-9
            )


def test_kullback_leibler_of_far_distributions():
    P = np.eye(4)[[0, 1, 2, 3, 0]]
    finite_or_told(KullbackLeibler(), P, P[:2])
    far = np.hstack([1e160 * np.arange(6.0)[:, None], np.full((6, 1), 1e-160)])
    finite_or_told(KullbackLeibler(distribution="gaussian"), far, far)
