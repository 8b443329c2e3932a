"""LS-SVMs and PriorNystroem of dask collections are those of the same rows in memory."""

import dask.array as da
import numpy as np
import pytest
from sklearn.datasets import make_moons

from lopsided import AsymmetricLSSVC, AsymmetricLSSVR, Nystrom, PriorNystroem, SelfTrainedFeatures
from lopsided.kernels import RBF, SNE

X, LABELS = make_moons(400, noise=0.2, random_state=0)
Y = np.sin(3 * X[:, 0]) + X[:, 1]
NEW = X + 0.01
LAZY, LAZY_NEW = (da.from_array(rows, chunks=(130, 2)) for rows in (X, NEW))
SOLVER = Nystrom(40)


def assert_close(found, expected):
    assert isinstance(found, da.Array) and found.shape == expected.shape
    np.testing.assert_allclose(found.compute(), expected, rtol=1e-7, atol=1e-7)  # C to 2e5 / s magnifies rounding


@pytest.mark.parametrize(
    "settings", [{"C": 1.0}, {"C": "auto"}, {"merge": "source"}, {"scale_C": True, "C": 5}], ids=str
)
def test_the_classifier_decides_as_in_memory(settings):
    settings = {"kernel": RBF(1.0), "solver": SOLVER, **settings}
    expected = AsymmetricLSSVC(**settings).fit(X, LABELS)
    for y in (LABELS, da.from_array(LABELS, chunks=130)):
        found = AsymmetricLSSVC(**settings).fit(LAZY, y)
        assert_close(found.decision_function(LAZY_NEW), expected.decision_function(NEW))
        assert np.array_equal(found.predict(LAZY_NEW).compute(), expected.predict(NEW))
        if settings.get("C", "auto") == "auto":
            assert_close(found.predict_proba(LAZY_NEW), expected.predict_proba(NEW))


def test_classes_may_be_strings_and_many():
    names = np.array(["red", "green", "blue"])[(X[:, 0] > 0).astype(int) + LABELS]
    settings = {"C": 1.0, "kernel": "rbf", "solver": SOLVER}
    expected, found = (AsymmetricLSSVC(**settings).fit(rows, names) for rows in (X, LAZY))
    assert_close(found.decision_function(LAZY_NEW), expected.decision_function(NEW))
    assert np.array_equal(found.predict(LAZY_NEW).compute(), expected.predict(NEW))


@pytest.mark.parametrize("targets", [Y, np.column_stack([Y, -Y])], ids=["one", "two"])
def test_the_regressor_predicts_as_in_memory(targets):
    settings = {"C": [0.1, 1.0], "kernel": "laplacian", "solver": SOLVER}
    expected, found = (AsymmetricLSSVR(**settings).fit(rows, targets) for rows in (X, LAZY))
    assert_close(found.predict(LAZY_NEW), expected.predict(NEW))
    assert_close(found.source_decision_function(LAZY_NEW), expected.source_decision_function(NEW))


def test_a_kernel_is_chosen_from_a_sample():
    found = AsymmetricLSSVC(solver=SOLVER).fit(LAZY, LABELS)
    assert np.mean(found.predict(LAZY_NEW).compute() == LABELS) > 0.9
    assert len(found.kernel_path_) > 4


def test_factors_that_do_not_fit_are_named_before_they_are_gathered():
    model = AsymmetricLSSVC(C=1.0, kernel="rbf", solver=Nystrom(40), memory_budget="600kB", n_jobs=1)
    with pytest.raises(ValueError, match="above the budget"):
        model.fit(LAZY, LABELS)
    with pytest.raises(ValueError, match="damping=1.0 needs all rows in memory"):
        AsymmetricLSSVC(C=1.0, kernel="rbf", damping=1.0).fit(LAZY, LABELS)
    with pytest.raises(ValueError, match="X has 1 features, but the model was fitted on 2"):
        AsymmetricLSSVC(C=1.0, kernel="rbf", solver=SOLVER).fit(LAZY, LABELS).predict(LAZY[:, :1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        AsymmetricLSSVC(C=1.0, kernel="rbf", solver=SOLVER).fit(LAZY, LABELS[:-1])


@pytest.mark.parametrize("settings", [{}, {"landmarks": "uniform", "prior_weight": 0.1}, {"kernel": "linear"}], ids=str)
def test_prior_nystroem_learns_the_same_features(settings):
    known = np.where(np.arange(len(X)) % 8 == 0, LABELS, -1)
    settings = {"n_components": 20, "random_state": 0, **settings}
    if settings.get("kernel") == "linear":
        settings["n_components"] = 2
    expected = PriorNystroem(**settings).fit(X, known)
    for y in (known, da.from_array(known, chunks=130)):
        found = PriorNystroem(**settings).fit(LAZY, y)
        np.testing.assert_allclose(found.dictionary_, expected.dictionary_, rtol=1e-6, atol=1e-8)
        assert_close(found.transform(LAZY_NEW), expected.transform(NEW))
    kernel = found.learned_kernel(LAZY_NEW, LAZY)
    np.testing.assert_allclose(kernel.compute(), expected.learned_kernel(NEW, X), rtol=1e-6, atol=1e-6)


def test_prior_nystroem_compares_two_sets_in_blocks():
    right = NEW[:300] + 0.1
    settings = {"n_components": 20, "kernel": SNE(1.0), "random_state": 0}
    expected = PriorNystroem(**settings).fit(X, LABELS, Z=right, y_right=LABELS[:300])
    found = PriorNystroem(**settings).fit(LAZY, LABELS, Z=right, y_right=LABELS[:300])
    assert_close(found.transform(LAZY_NEW), expected.transform(NEW))
    assert_close(found.transform_right(LAZY_NEW), expected.transform_right(NEW))


def test_self_training_completes_labels_as_in_memory():
    known = np.where(np.arange(len(LABELS)) % 5, -1, LABELS)
    expected, found = (SelfTrainedFeatures(PriorNystroem(20)).fit(rows, known) for rows in (X, LAZY))
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert_close(found.transform(LAZY_NEW), expected.transform(NEW))


def test_a_precomputed_matrix_must_be_in_memory():
    with pytest.raises(TypeError, match=r"dask collection.*X\.compute\(\)"):
        AsymmetricLSSVC(kernel="precomputed").fit(da.from_array(X @ X.T, chunks=100), LABELS)
