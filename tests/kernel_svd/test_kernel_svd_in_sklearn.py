"""KernelSVD among the tools of scikit-learn: output names, pipelines, searches, copies."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import KERNELS, assert_close, sparse_pair
from lopsided import KernelSVD
from lopsided.exceptions import LopsidedWarning
from lopsided.kernels import RBF, SNE, Linear


@pytest.fixture
def data(rng):
    X = np.vstack([rng.standard_normal((20, 6)), rng.standard_normal((20, 6)) + 2])
    return X, np.repeat([0, 1], 20)


def test_outputs_have_names_and_can_be_frames(data):
    X, _ = data
    model = KernelSVD(3).set_output(transform="pandas")
    frame = model.fit_transform(pd.DataFrame(X))
    names = [f"kernelsvd{i}" for i in range(3)]
    assert isinstance(frame, pd.DataFrame) and list(frame.columns) == names
    assert list(model.get_feature_names_out()) == names
    assert_close(model.transform(pd.DataFrame(X)).to_numpy(), frame.to_numpy(), ulps=1e5)


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "function"])
def test_models_survive_pickling_and_cloning(name, data):
    X, _ = data
    model = KernelSVD(2, kernel=clone(KERNELS[name][0]), center=True).fit(X)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.transform(X), model.transform(X))
    assert np.array_equal(copy.transform_right(X.T), model.transform_right(X.T))
    twin = clone(model)
    assert not hasattr(twin, "left_vectors_")
    assert np.array_equal(twin.fit(X).left_vectors_, model.left_vectors_)


def test_pickled_sparse_models_keep_their_normalisation():
    S, _ = sparse_pair("binary", n=40, width=40)
    model = KernelSVD(2, kernel="sne").fit(S)
    copy = pickle.loads(pickle.dumps(model))
    assert_close(copy.transform(S), model.left_vectors_ * model.singular_values_, ulps=1e4)
    assert_close(copy.transform_right(S.T), model.right_vectors_ * model.singular_values_, ulps=1e4)


def test_a_pipeline_is_its_steps_one_after_the_other(data):
    X, y = data
    pipe = make_pipeline(StandardScaler(), KernelSVD(2, kernel="rbf", center=True), LogisticRegression()).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    embedded = KernelSVD(2, kernel="rbf", center=True).fit(scaled).transform(scaled)
    alone = LogisticRegression().fit(embedded, y)
    np.testing.assert_allclose(pipe.decision_function(X), alone.decision_function(embedded), rtol=1e-5, atol=1e-8)


def test_a_search_reaches_the_kernel_and_the_compatibility(data):
    X, y = data
    pipe = make_pipeline(KernelSVD(2, kernel=RBF(), random_state=0), LogisticRegression())
    grid = {
        "kernelsvd__kernel__bandwidth": [0.5, 4.0],
        "kernelsvd__compatibility": ["pca", "random"],
        "kernelsvd__n_components": [1, 2],
    }
    search = GridSearchCV(pipe, grid, cv=KFold(3, shuffle=True, random_state=0), error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == 8
    best = search.best_estimator_[0]
    assert best.kernel_.bandwidth_ == search.best_params_["kernelsvd__kernel__bandwidth"]
    assert best.compatibility_.name == search.best_params_["kernelsvd__compatibility"]
    assert best.n_components_ == search.best_params_["kernelsvd__n_components"]


def test_a_search_reaches_the_parts_of_a_sum(data):
    X, y = data
    pipe = make_pipeline(KernelSVD(2, kernel=SNE() + Linear(), compatibility="pca"), LogisticRegression())
    grid = {"kernelsvd__kernel__first__bandwidth": [0.5, 4.0]}
    search = GridSearchCV(pipe, grid, cv=3, error_score="raise").fit(X, y)
    found = search.best_estimator_[0].kernel_.first_.bandwidth_
    assert found == search.best_params_["kernelsvd__kernel__first__bandwidth"]


class Recording(KernelSVD):
    """A KernelSVD that remembers how many right points each fit saw."""

    seen: list = []

    def fit(self, X, y=None, *, Z=None):
        self.seen.append((len(X), len(Z)))
        return super().fit(X, y, Z=Z)

    def score(self, X, y=None):
        return float(self.singular_values_[0])


@pytest.mark.parametrize("extra", [0, 5])
def test_a_search_slices_right_points_that_are_as_many_as_the_left(extra, rng):
    """A trap of scikit-learn, pinned: fit parameters as long as X are cut with the folds, others are passed whole.

    With len(Z) == len(X) each fold is fitted against two thirds of Z, the rows that stand beside its own; only the
    final refit sees all of Z. Give Z one point more or less, or search over models that hold Z themselves.
    """
    X, Z = rng.standard_normal((12, 4)), rng.standard_normal((12 + extra, 4))
    Recording.seen = []
    GridSearchCV(Recording(2), {"scaling": [1.0]}, cv=3).fit(X, Z=Z)
    folds, refit = Recording.seen[:-1], Recording.seen[-1]
    assert folds == [(8, 8 if extra == 0 else 12 + extra)] * 3
    assert refit == (12, 12 + extra)


def test_the_solver_says_its_name_and_its_reason(data):
    model = KernelSVD(2).fit(data[0])
    assert model.solver_.name == "lapack" and "small" in model.solver_.reason
    S = sparse.random_array((400, 400), density=0.01, rng=np.random.default_rng(0), format="csr")
    model = KernelSVD(2, kernel="sne").fit(S)
    assert model.solver_.name == "krylov" and "multiplications" in model.solver_.reason


def test_parameters_are_what_was_given():
    kernel = RBF(2.0)
    model = KernelSVD(3, kernel=kernel, scaling=0.5)
    assert isinstance(model, BaseEstimator)
    assert model.kernel is kernel
    assert model.get_params()["kernel__bandwidth"] == 2.0
    assert model.set_params(kernel__bandwidth=1.0).kernel.bandwidth == 1.0


def test_columns_of_right_points_are_known_by_name(rng):
    X = pd.DataFrame(rng.standard_normal((12, 3)), columns=list("abc"))
    turned = X[["c", "a", "b"]]
    with pytest.raises(ValueError, match="column 0 of Z is 'c', but 'a' in X"):
        KernelSVD(1, kernel="linear").fit(X, Z=turned)
    model = KernelSVD(1, kernel="linear").fit(X, Z=X)
    with pytest.raises(ValueError, match="column 0 of Z is 'c', but 'a' in the Z of fit"):
        model.transform_right(turned)
    assert_close(model.transform_right(X.to_numpy()), model.transform_right(X), 1)
    other = X.rename(columns=str.upper).iloc[:, :2]
    KernelSVD(1, compatibility="pca").fit(X.iloc[:, :2], Z=other.rename(columns=str.lower))
    KernelSVD(1, kernel=lambda X, Z: X[:, :1] @ Z[:, :1].T).fit(X, Z=other)  # what it compares is its own affair


def test_right_points_that_are_given_as_targets_are_noticed(rng):
    X, Z = rng.standard_normal((10, 4)), rng.standard_normal((8, 4))
    for fit in (KernelSVD(2).fit, KernelSVD(2).fit_transform):
        with pytest.raises(ValueError, match=r"y is ignored, but it has 8 rows and X has 10; use fit\(X, Z=Z\)"):
            fit(X, Z)
        with pytest.warns(LopsidedWarning, match="as many columns as X, 4"):
            fit(X, -X)
    with pytest.raises(ValueError, match="it has 8 rows"):
        KernelSVD(2).fit(sparse.eye_array(10, 4).tocsr(), sparse.eye_array(8, 4).tocsr())


def test_a_scaling_that_overflows_is_refused(rng):
    model = KernelSVD(2, kernel="linear", scaling=2000.0).fit(10 * rng.standard_normal((10, 4)))
    with pytest.raises(ValueError, match="to the power 2000, which scaling asks for, overflows"):
        model.transform(rng.standard_normal((2, 4)))
