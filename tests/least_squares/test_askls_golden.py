"""Answers of the authors' own solver, looked for in $LOPSIDED_GOLDEN or beside $LOPSIDED_DATA; else skipped."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score

from lopsided import AsymmetricLSSVC
from lopsided.exceptions import NearSingularWarning
from lopsided.kernels import NodeKernel

DATA = Path(os.environ.get("LOPSIDED_DATA", Path(__file__).parents[3] / "shared" / "data"))
GOLDEN = Path(os.environ.get("LOPSIDED_GOLDEN", DATA.parent / "golden")) / "askls.npz"
GAMMAS = [0.1, 1.0, 10.0]
FALLBACK = ("graph", 1)
CASES = [(name, number) for name in ("rownorm", "sym", "graph") for number in range(3)]
SOLVERS = ["auto", "dense", "spectral", "sparse_lu", "minres"]


@pytest.fixture(scope="module")
def golden():
    if not GOLDEN.exists():
        pytest.skip(f"{GOLDEN.name} is not in $LOPSIDED_GOLDEN")
    with np.load(GOLDEN) as file:
        return dict(file)


def assert_relative(found, expected, tolerance):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def fit_small(golden, name, number, solver="auto", **parameters):
    make = sparse.csr_array if solver == "sparse_lu" else np.asarray
    K, y = make(golden[f"small_{name}_K"]), golden[f"small_{name}_y"]
    tol = 1e-13 if solver == "minres" else 0.0
    return AsymmetricLSSVC(GAMMAS[number], kernel="precomputed", solver=solver, tol=tol, **parameters).fit(K, y)


def assert_small(golden, name, number, model, tolerance):
    def answer(key):
        return golden[f"small_{name}_{key}"]

    y = answer("y")
    assert_relative(model.left_duals_[:, 0], y * answer("alpha")[number], tolerance)
    assert_relative(model.right_duals_[:, 0], y * answer("beta")[number], tolerance)
    assert_relative(model.source_intercept_[0], answer("b1")[number], tolerance)
    assert_relative(model.target_intercept_[0], answer("b2")[number], tolerance)
    assert_relative(model.source_decision_function(answer("K_test2train")), answer("f_s")[number], tolerance)
    assert_relative(model.target_decision_function(answer("K_train2test").T), answer("f_t")[number], tolerance)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("name", "number"), [case for case in CASES if case != FALLBACK])
def test_small_systems_have_the_authors_solution(golden, name, number, solver):
    assert_small(golden, name, number, fit_small(golden, name, number, solver), 1e-10)


@pytest.mark.parametrize("solver", ["auto", "dense", "sparse_lu"])
def test_the_authors_fallback_is_damping_one(golden, solver):
    assert [case for case in CASES if golden[f"small_{case[0]}_fallback"][case[1]]] == [FALLBACK]
    assert_small(golden, *FALLBACK, fit_small(golden, *FALLBACK, solver, damping=1.0), 1e-8)


@pytest.mark.parametrize("solver", ["auto", "dense", "spectral", "sparse_lu"])
def test_where_the_authors_fall_back_in_silence_there_is_a_warning(golden, solver):
    with pytest.warns(NearSingularWarning, match=r"C=1 .*singular value 1 .*Any C below 0\.\d+ is safe"):
        fit_small(golden, *FALLBACK, solver)


def test_a_symmetric_kernel_has_one_function(golden):
    for number in range(3):
        model = fit_small(golden, "sym", number)
        assert model.solver_.name == "symmetric"
        np.testing.assert_array_equal(model.left_duals_, model.right_duals_)


@pytest.mark.parametrize("solver", ["auto", "dense", "minres"])
def test_cora_has_the_authors_solution_for_all_classes(golden, solver):
    n = len(golden["cora_label"])
    parts = (golden[f"cora_G_{part}"] for part in ("data", "indices", "indptr"))
    kernel = NodeKernel(sparse.csr_array(tuple(parts), shape=(n, n)))
    train, test = golden["cora_train_idx"], golden["cora_test_idx"]
    labels = golden["cora_label"]
    model = AsymmetricLSSVC(0.5, kernel=kernel, solver=solver, tol=1e-13).fit(train[:, None], labels[train])
    assert model.solver_.name == ("sparse_lu" if solver == "auto" else solver)
    signs = np.where(labels[train][:, None] == model.classes_, 1.0, -1.0)
    assert_relative(model.left_duals_, signs * golden["cora_g05_alpha"].T, 1e-10)
    assert_relative(model.right_duals_, signs * golden["cora_g05_beta"].T, 1e-10)
    assert_relative(model.source_intercept_, golden["cora_g05_b1"], 1e-10)
    assert_relative(model.target_intercept_, golden["cora_g05_b2"], 1e-10)
    source, target = model.source_decision_function(test[:, None]), model.target_decision_function(test[:, None])
    assert_relative(source, golden["cora_g05_f_s"], 1e-10)
    assert_relative(target, golden["cora_g05_f_t"], 1e-10)
    predicted = model.predict(test[:, None])
    np.testing.assert_array_equal(predicted, golden["cora_g05_pred_sum"])
    scores = [f1_score(labels[test], predicted, average=average) for average in ("micro", "macro")]
    np.testing.assert_allclose(scores, golden["cora_g05_F1_sum"], rtol=1e-12)
