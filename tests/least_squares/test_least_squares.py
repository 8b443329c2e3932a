"""Laws of AsymmetricLSSVC and AsymmetricLSSVR: the functions, their kernels and solvers, and bad input."""

import warnings

import numpy as np
import pytest
from machine_data import BITS, NEW, REAL, RNG, SAFE, THREE, TWO, X, either, signs, targets_of
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import ShuffleSplit, cross_val_score

from cases import KERNELS, assert_close, reference, solve_bordered
from lopsided import AsymmetricLSSVC, AsymmetricLSSVR, Nystrom
from lopsided.exceptions import LopsidedWarning, NearSingularWarning
from lopsided.kernels import RBF, SNE, Association, Kernel, Linear, StudentT, as_kernel

every_kernel = pytest.mark.parametrize("name", KERNELS)
quietly = pytest.mark.filterwarnings("ignore::lopsided.exceptions.NearSingularWarning")


@quietly
@every_kernel
def test_the_functions_are_those_of_the_kernel_matrix_and_its_transpose(name):
    model = AsymmetricLSSVC(SAFE, kernel=KERNELS[name][0]).fit(X, THREE)
    a, c, b1, b2 = solve_bordered(reference(name, X, X), SAFE, signs(THREE))
    source, target = reference(name, NEW, X, X, X) @ c + b1, reference(name, X, NEW, X, X).T @ a + b2
    np.testing.assert_allclose(model.source_decision_function(NEW), source, rtol=0, atol=1e-8 * np.abs(source).max())
    np.testing.assert_allclose(model.target_decision_function(NEW), target, rtol=0, atol=1e-8 * np.abs(target).max())
    assert_close(model.decision_function(NEW), (source + target) / 2, ulps=1e8)


@quietly
@every_kernel
def test_exchanging_the_kernel_exchanges_source_and_target(name):
    kernel: Kernel = KERNELS[name][0]
    model = AsymmetricLSSVR(SAFE, kernel=kernel).fit(X, REAL)
    swapped = AsymmetricLSSVR(SAFE, kernel=kernel.T).fit(X, REAL)
    scale = np.abs(model.source_decision_function(NEW)).max()
    np.testing.assert_allclose(
        swapped.source_decision_function(NEW), model.target_decision_function(NEW), rtol=0, atol=1e-8 * scale
    )


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("solver", ["auto", "dense", "spectral", "minres"])
def test_a_symmetric_kernel_gives_the_classical_machine(solver, C):
    """Kernel ridge regression of the centred targets on the centred kernel matrix, with an intercept."""
    model = AsymmetricLSSVR(C, kernel=RBF(2.0), solver=solver, tol=1e-13).fit(X, REAL)
    K, K_new = RBF(2.0)(X, X), RBF(2.0)(NEW, X)
    H = np.eye(30) - 1 / 30
    ridge = KernelRidge(alpha=1 / C, kernel="precomputed").fit(H @ K @ H, REAL - REAL.mean())
    expected = (K_new - K.mean(axis=0)) @ H @ ridge.dual_coef_ + REAL.mean()
    np.testing.assert_allclose(model.predict(NEW), expected, rtol=1e-9)
    np.testing.assert_allclose(model.source_decision_function(NEW), model.target_decision_function(NEW), rtol=1e-9)


@pytest.mark.parametrize("C", [1.0, [1.0, 3.0]], ids=["one_C", "two_C"])
@pytest.mark.parametrize(
    ("kernel", "make"),
    [(RBF(0.1), np.asarray), (RBF(0.1) + 0 * RBF(2.0), np.asarray), ("precomputed", sparse.csr_array)],
    ids=["rbf", "sum", "sparse_values"],
)
def test_a_symmetric_kernel_is_never_near_to_singular(kernel, make, C, rng):
    """K is nearly the identity and C = 1: the half of the system that K = K' leaves idle is singular, and idle."""
    far = 30 * rng.standard_normal((60, 4))
    points = make(np.eye(60) if kernel == "precomputed" else far)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the values of this kernel for two different samples are zero")
        warnings.simplefilter("error", NearSingularWarning)
        model = AsymmetricLSSVC(C, kernel=kernel).fit(points, np.arange(60) % 2)
    source, target = model.source_decision_function(points), model.target_decision_function(points)
    np.testing.assert_array_equal(source, target)
    expected = (2 * (np.arange(60) % 2) - 1) * model.C_ / (1 + model.C_)  # of K = 1 and as many of either class
    np.testing.assert_allclose(source, expected, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", RBF(1.0), 2 * RBF(1.0) + Linear()], ids=repr)
def test_a_symmetric_kernel_of_sparse_points_gives_the_classical_machine(kernel, rng):
    """Also at a C that is 1 over a singular value, where the half of the system that K = K' leaves idle is singular."""
    points = rng.standard_normal((80, 60)) * (rng.random((80, 60)) < 0.02)
    y = np.arange(80) % 2
    K = as_kernel(kernel).fit(points, points)(points, points)
    s = np.linalg.svd(K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean(), compute_uv=False)
    for C in ("auto", 1 / s[3]):
        dense, given = (AsymmetricLSSVC(C, kernel=kernel).fit(X, y) for X in (points, sparse.csr_array(points)))
        assert dense.solver_.name == given.solver_.name == "symmetric"
        np.testing.assert_allclose(given.C_, dense.C_)
        np.testing.assert_allclose(given.decision_function(points), dense.decision_function(points), atol=1e-9)


@pytest.mark.parametrize("kernel", [SNE(), StudentT(), RBF(1.0)], ids=repr)
def test_every_solver_gives_the_same_decisions(kernel):
    expected = AsymmetricLSSVC(0.7, kernel=kernel).fit(X, THREE).decision_function(NEW)
    for solver in ("dense", "spectral", "minres"):
        model = AsymmetricLSSVC(0.7, kernel=kernel, solver=solver, tol=1e-13).fit(X, THREE)
        assert model.solver_[:2] == (solver, "asked for")
        np.testing.assert_allclose(model.decision_function(NEW), expected, rtol=0, atol=1e-10)


def associated(K, left, right):
    """What Association() makes of a table of weights, of new rows and of new columns."""
    K, left, right = (block**0.75 for block in (K, left, right))
    rows, columns = K.sum(axis=1), K.sum(axis=0)
    of_rows, of_columns = ((rows + rows.mean()) ** -0.5, (columns + columns.mean()) ** -0.25)
    of_left = (left.sum(axis=1) + rows.mean()) ** -0.5
    of_right = (right.sum(axis=1) + columns.mean()) ** -0.25
    return of_rows[:, None] * K * of_columns, of_left[:, None] * left * of_columns, of_right[:, None] * right * of_rows


def of_numbers(K, left, right):
    """The kernel function of samples that are known by number, new ones after those of fit."""
    whole = np.block([[K, right.T], [left, np.zeros((len(left), len(right)))]])
    return lambda i, j: whole[np.ix_(i[:, 0].astype(int), j[:, 0].astype(int))]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("merge", ["mean", "source", "target", "stack"])
@pytest.mark.parametrize("kernel", ["precomputed", "association", Association()], ids=str)
def test_a_precomputed_kernel_takes_both_blocks(kernel, merge, make):
    sne = SNE().fit(X, X)
    values = tables = sne(X, X), sne(NEW, X), sne(X, NEW).T
    if kernel != "precomputed":
        values = associated(*tables)
    exact = AsymmetricLSSVC(0.7, kernel=of_numbers(*values), merge=merge).fit(np.arange(30.0)[:, None], THREE)
    expected = exact.decision_function(np.arange(30.0, 37.0)[:, None])
    K, left, right = map(make, tables)
    model = AsymmetricLSSVC(0.7, kernel=kernel, merge=merge).fit(K, THREE)
    assert model.__sklearn_tags__().input_tags.pairwise
    np.testing.assert_allclose(model.decision_function(left, Z=right), expected, rtol=1e-8)
    np.testing.assert_array_equal(model.predict(left, Z=right), THREE[:0].dtype.type(expected.argmax(axis=1)))
    if merge == "source":
        np.testing.assert_allclose(model.decision_function(left), expected, rtol=1e-8)
        assert cross_val_score(AsymmetricLSSVC(kernel=kernel, merge=merge), K, THREE, cv=3).mean() > 0.4
    else:
        with pytest.raises(ValueError, match=r"needs k\(training, new\) transposed, shape \(n_new, 30\), as Z"):
            model.predict(left)
    labels = model.predict(left, Z=right)
    assert model.score(left, labels, Z=right) == 1 > model.score(left, (labels + 1) % 3, Z=right)


@either
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_one_block_of_a_symmetric_matrix_serves_as_both(estimator, kind):
    K, left = kind(RBF(2.0)(X, X)), kind(RBF(2.0)(NEW, X))
    model = estimator(kernel="precomputed").fit(K, BITS)
    np.testing.assert_array_equal(model.predict(left), model.predict(left, Z=left))
    assert model.score(left, model.predict(left)) == 1


def test_a_kernel_that_centring_removes_leaves_the_mean():
    K = np.outer(np.arange(30.0), np.ones(30))
    with pytest.warns(LopsidedWarning, match="predictions are constant"):
        model = AsymmetricLSSVR(kernel="precomputed").fit(K, REAL)
    np.testing.assert_allclose(model.predict(K, Z=K.T), np.full(30, REAL.mean()))


def test_sparse_points_give_the_decisions_of_dense_ones():
    S = np.where(np.abs(X) > 0.8, X, 0.0)
    for kernel in ("sne", "rbf", "student_t", "linear"):
        dense = AsymmetricLSSVC(0.05, kernel=kernel).fit(S, THREE).decision_function(NEW)
        given = AsymmetricLSSVC(0.05, kernel=kernel).fit(sparse.csr_array(S), THREE)
        np.testing.assert_allclose(given.decision_function(sparse.csr_array(NEW)), dense, rtol=1e-8)


def test_several_targets_are_regressed_at_once():
    Y = np.column_stack([REAL, X[:, 2] ** 2])
    model = AsymmetricLSSVR(5.0, kernel="sne").fit(X, Y)
    assert model.predict(NEW).shape == (7, 2)
    for j in range(2):
        np.testing.assert_allclose(
            model.predict(NEW)[:, j], AsymmetricLSSVR(5.0, kernel="sne").fit(X, Y[:, j]).predict(NEW)
        )
    assert AsymmetricLSSVR(5.0, kernel="sne").fit(X, Y[:, :1]).predict(NEW).shape == (7, 1)


@pytest.mark.parametrize("merge", ["mean", "stack"])
def test_one_target_is_answered_in_the_shape_it_was_given_in(merge):
    model = AsymmetricLSSVR(C=[SAFE, 1.0], merge=merge, kernel="sne")
    flat, column = [], []
    for y, found in ((REAL, flat), (REAL[:, None], column)):
        model.fit(X, y)
        found += [model.held_out_predictions_, model.predict(NEW)]
        found += [model.source_decision_function(NEW), model.target_decision_function(NEW)]
    for one, other in zip(flat, column, strict=True):
        assert one.ndim == 1
        np.testing.assert_allclose(other, one[:, None])


def test_threads_do_not_change_the_answer():
    one, two = (
        AsymmetricLSSVC(0.7, n_jobs=n_jobs, kernel="sne").fit(X, THREE).decision_function(NEW) for n_jobs in (1, 2)
    )
    np.testing.assert_allclose(one, two, rtol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": [1.0, -2.0]}, r"C=\[1.0, -2.0\] must be finite and above 0"),
        ({"C": [np.inf]}, "finite"),
        ({"C": []}, r"C has shape \(0,\); give a number, or a list"),
        ({"C": [[1.0]]}, r"C has shape \(1, 1\)"),
        ({"C": 1e-160}, r"C=1e-160 must lie between"),
        ({"kernel": "precomputed"}, r"square matrix.*X has shape \(30, 4\)"),
        ({"kernel": lambda X, Z: np.full((len(X), len(Z)), np.nan)}, "not finite"),
        ({"solver": "sparse_lu"}, "needs a sparse kernel matrix.*'dense'"),
        ({"solver": "symmetric"}, r"needs K = K'.*differ by up to \d.*'auto'"),
        ({"damping": 1.0, "solver": "spectral"}, "damping=1.0 needs solver='dense' or 'sparse_lu', not 'spectral'"),
        ({"damping": 1.0, "solver": Nystrom(9)}, "damping=1.0 needs"),
        ({"kernel": ["rbf", "precomputed"]}, "lists 'precomputed', but X holds one matrix"),
        ({"kernel": "precomputed", "solver": Nystrom(9)}, "compares points, and kernel='precomputed' has none"),
        ({"solver": Nystrom(landmarks=(range(9), range(9)))}, "needs a named strategy and extension='orthonormal'"),
        ({"solver": Nystrom(9, extension="plain")}, "needs a named strategy and extension='orthonormal'"),
        ({"cv": ShuffleSplit(3), "C": [1.0]}, "leave every sample out once"),
        ({"cv": [(np.arange(15), np.arange(15, 30))] * 2, "C": [1.0]}, "leave every sample out once"),
        ({"cv": 1, "C": [1.0]}, "cv.*Got 1"),
    ],
    ids=lambda value: None if isinstance(value, dict) else value[:12],
)
def test_parameters_that_do_not_fit_together_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        AsymmetricLSSVC(**{"kernel": "sne", **parameters}).fit(X, TWO)


def test_labels_of_one_class_are_refused():
    with pytest.raises(ValueError, match="one class only, yes; .*at least two"):
        AsymmetricLSSVC(kernel="sne").fit(X, np.full(30, "yes"))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (1e160 * REAL, r"targets reach .*e\+160.*divide y by"),
        (1e-160 * REAL, "targets reach .*e-160.*divide y by"),
    ],
    ids=["large", "small"],
)
def test_extreme_targets_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        AsymmetricLSSVR(kernel="sne").fit(X, y)


@either
@pytest.mark.parametrize("strategy", ["uniform", "kmeans", "leverage", "pivoted"])
@pytest.mark.parametrize("C", [SAFE, [0.01, SAFE]])
def test_landmarks_of_a_kernel_of_low_rank_give_the_exact_machine(C, strategy, estimator):
    y = targets_of(estimator)
    exact = estimator(C, kernel="linear").fit(X, y)
    model = estimator(C, kernel="linear", solver=Nystrom(12, landmarks=strategy)).fit(X, y)
    assert model.solver_.name == "nystrom" and model.X_fit_.shape[0] <= 12
    assert model.C_ == exact.C_
    assert_close(model.source_decision_function(NEW), exact.source_decision_function(NEW), ulps=1e6)
    assert_close(model.target_decision_function(NEW), exact.target_decision_function(NEW), ulps=1e6)
    if np.ndim(C):
        assert_close(model.held_out_predictions_, exact.held_out_predictions_, ulps=1e6)


def test_landmarks_keep_source_and_target_apart_where_the_kernel_does():
    """Every sample a landmark on both sides, and the small half of the spectrum is rounding."""
    wide = RNG.standard_normal((60, 3))
    y = wide[:, 0] - wide[:, 1] ** 2
    exact = AsymmetricLSSVR(1.0, kernel=SNE(8.0)).fit(wide, y)
    model = AsymmetricLSSVR(1.0, kernel=SNE(8.0), solver=Nystrom(60)).fit(wide, y)
    assert np.abs(exact.source_decision_function(NEW[:, :3]) - exact.target_decision_function(NEW[:, :3])).max() > 1e-4
    assert_close(model.source_decision_function(NEW[:, :3]), exact.source_decision_function(NEW[:, :3]), ulps=1e7)
    assert_close(model.target_decision_function(NEW[:, :3]), exact.target_decision_function(NEW[:, :3]), ulps=1e7)


def test_large_dense_data_take_landmarks_and_say_why(monkeypatch):
    monkeypatch.setattr("lopsided.svd.policy.LARGE_MATRIX", 100)
    monkeypatch.setattr("lopsided.least_squares.build.N_LANDMARKS", 20)
    model = AsymmetricLSSVC(SAFE, kernel="rbf", memory_budget="8.5MB").fit(np.repeat(X, 40, axis=0), np.repeat(TWO, 40))
    assert model.solver_.name == "nystrom" and "exceeds the budget" in model.solver_.reason


@pytest.mark.parametrize("strategy", ["uniform", "kmeans", "leverage"])
def test_landmarks_leave_a_symmetric_kernel_symmetric(strategy):
    many = np.random.default_rng(1).standard_normal((200, 4))
    y = np.sin(many[:, 0]) + many[:, 1]
    model = AsymmetricLSSVR(100.0, kernel=RBF(3.0), solver=Nystrom(40, landmarks=strategy)).fit(many, y)
    assert_close(model.source_decision_function(NEW), model.target_decision_function(NEW), ulps=1e8)


@pytest.mark.parametrize("C", [1.0, 1e2, 1e4])
@pytest.mark.filterwarnings("ignore:C=.* is far outside")
def test_landmarks_of_a_kernel_of_low_rank_keep_their_digits_at_large_C(C, rng):
    points = 1000 * rng.standard_normal((500, 3))
    y = points @ [1.0, 2.0, 3.0] + rng.standard_normal(500)
    model = AsymmetricLSSVR(C, kernel="linear", solver=Nystrom(50)).fit(points, y)
    assert np.abs(model.predict(points) - y).max() < 5


@pytest.mark.parametrize("solver", ["auto", "dense", "minres"])
@pytest.mark.parametrize(
    ("unit", "message"),
    [(1e170, r"sum to .*e\+17.*scale the data down"), (1e-170, r"is only .*e-1\d\d, so C .*exceed .*; multiply")],
    ids=["large", "small"],
)
def test_kernel_values_whose_squares_overflow_or_vanish_are_refused(unit, message, solver):
    with pytest.raises(ValueError, match=message):
        AsymmetricLSSVC(kernel="precomputed", solver=solver).fit(unit * SNE()(X, X), TWO)


def test_a_C_that_makes_the_system_singular_warns_and_a_safe_one_does_not():
    K = SNE(1.0)(X, X)
    H = np.eye(30) - 1 / 30
    s = np.linalg.svd(H @ K @ H, compute_uv=False)
    with pytest.warns(NearSingularWarning, match=f"singular value {s[4]:.6g} .*below {1 / s[0]:.6g} "):
        AsymmetricLSSVC(1 / s[4], kernel=SNE(1.0)).fit(X, TWO)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AsymmetricLSSVC(0.99 / s[0], kernel=SNE(1.0)).fit(X, TWO)
        AsymmetricLSSVC([0.5, 1 / s[4]], kernel=SNE(1.0)).fit(X, TWO)


def test_a_budget_below_the_matrix_chooses_minres():
    many, classes = RNG.standard_normal((310, X.shape[1])), np.arange(310) % 3
    model = AsymmetricLSSVC([0.3, 0.7], memory_budget=1000, tol=1e-13, kernel="sne").fit(many, classes)
    assert model.solver_.name == "minres"
    assert "1000 bytes" in model.solver_.reason
    exact = AsymmetricLSSVC(model.C_, kernel="sne").fit(many, classes)
    np.testing.assert_allclose(model.decision_function(NEW), exact.decision_function(NEW), rtol=1e-8)


@pytest.mark.parametrize("solver", ["auto", "dense", "spectral"])
def test_a_system_that_is_singular_many_times_over_warns_of_its_C(solver):
    K = np.eye(40)[np.arange(40) ^ 1]
    with pytest.warns(NearSingularWarning, match="C=1 makes.*Any C below 1 "):
        model = AsymmetricLSSVC(1.0, kernel="precomputed", solver=solver).fit(K, np.arange(40) % 4 < 3)
    assert np.isfinite(model.left_duals_).all()


@pytest.mark.parametrize(
    ("merge", "left", "right", "message"),
    [
        ("mean", np.ones((5, 30)), np.ones((30, 5)), r"Z has shape \(30, 5\), but it must be k\(training, new\) trans"),
        ("mean", np.ones((5, 30)), np.full((5, 30), np.nan), "Input Z contains NaN"),
        ("target", np.ones((2, 30)), np.ones((7, 30)), "X holds 2 new samples and Z 7"),
        ("target", np.ones((2, 29)), np.ones((2, 30)), "X has 29 features"),
        ("source", np.ones((2, 30)), np.ones((3, 1)), r"Z has shape \(3, 1\)"),
    ],
)
def test_both_blocks_are_checked_even_if_one_is_not_used(merge, left, right, message):
    model = AsymmetricLSSVC(kernel="precomputed", merge=merge).fit(RBF(2.0)(X, X), TWO)
    with pytest.raises(ValueError, match=message):
        model.predict(left, Z=right)


def test_a_second_block_is_refused_for_kernels_of_points():
    with pytest.raises(ValueError, match="Z is for kernel='precomputed'"):
        AsymmetricLSSVR(SAFE, kernel="sne").fit(X, REAL).predict(X, Z=X)


@pytest.mark.parametrize("merge", ["mean", "stack"])
def test_intervals_hold_new_targets_as_often_as_they_say(merge):
    held = {0.5: [], 0.8: [], 0.95: []}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        points, new = rng.uniform(-2, 2, (120, 1)), rng.uniform(-2, 2, (200, 1))
        y, y_new = (np.sin(2 * each[:, 0]) + 0.3 * rng.standard_t(4, len(each)) for each in (points, new))
        model = AsymmetricLSSVR(kernel=RBF(1.0), merge=merge).fit(points, y)
        for coverage, shares in held.items():
            low, high = model.predict_interval(new, coverage=coverage)
            shares.append(np.mean((low <= y_new) & (y_new <= high)))
    np.testing.assert_allclose([np.mean(shares) for shares in held.values()], list(held), atol=0.04)


@pytest.mark.parametrize("merge", ["mean", "stack"])
def test_intervals_of_mirrored_targets_are_mirrored(merge, rng):
    y = X[:, 0] + rng.exponential(size=len(X))  # errors are not symmetric
    ends, mirrored = (
        AsymmetricLSSVR([SAFE], kernel="rbf", merge=merge).fit(X, side * y).predict_interval(NEW, coverage=0.8)
        for side in (1, -1)
    )
    np.testing.assert_allclose(mirrored, -ends[::-1], rtol=1e-9)
    assert not np.allclose(AsymmetricLSSVR([SAFE], kernel="rbf", merge=merge).fit(X, y).predict(NEW), ends.mean(axis=0))


def test_intervals_have_the_shape_of_the_targets_and_need_held_out_predictions():
    Y = np.column_stack([REAL, REAL**2])
    model = AsymmetricLSSVR([1.0], kernel="rbf").fit(X, Y)
    low, high = model.predict_interval(NEW, coverage=0.8)
    assert low.shape == high.shape == (len(NEW), 2) and (low < high).all()
    alone = AsymmetricLSSVR([1.0], kernel="rbf").fit(X, Y[:, 0]).predict_interval(NEW, coverage=0.8)
    np.testing.assert_allclose(alone, [low[:, 0], high[:, 0]])
    with pytest.raises(ValueError, match="held-out predictions.*C='auto'"):
        AsymmetricLSSVR(1.0, kernel="rbf").fit(X, REAL).predict_interval(NEW)
    with pytest.raises(ValueError, match="coverage=1.5"):
        model.predict_interval(NEW, coverage=1.5)


@pytest.mark.parametrize("targets", [1, 2])
def test_only_predictions_far_outside_the_range_of_the_targets_draw_a_warning(targets, rng):
    X = rng.standard_normal((40, 2))
    Y = (X[:, :1] * np.arange(1, 1 + targets))[:, : targets if targets > 1 else None]
    model = AsymmetricLSSVR(kernel="linear").fit(X, Y)
    edge, width = Y.max(axis=0)[-1] / targets, np.ptp(Y, axis=0)[-1] / targets  # of the first column of X
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict([[edge + 0.9 * width, 0], [edge - 1.9 * width, 0]])
    for far in (edge + 1.1 * width, edge - 2.1 * width):
        with pytest.warns(LopsidedWarning, match=f"for 1 of 3 samples.* {far:.3g} for sample 1"):
            model.predict([[0, 0], [far, 0], [edge, 0]])


def test_a_model_that_was_saved_without_the_range_of_its_targets_predicts_the_same(rng):
    X = rng.standard_normal((20, 2))
    model = AsymmetricLSSVR(kernel="linear").fit(X, X)
    expected = model.predict(X)
    del model._target_range
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.predict(X), expected)
        model.predict(1e6 * X)


def test_constant_targets_have_no_range_that_predictions_leave(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("error", LopsidedWarning)
        AsymmetricLSSVR(kernel="rbf", C=1.0).fit(rng.standard_normal((20, 2)), np.full(20, 0.1)).predict([[1e6, 0]])


def test_every_sample_of_a_small_set_is_a_landmark_by_default():
    some, all_of_them = (
        AsymmetricLSSVR(1.0, kernel=RBF(2.0), solver=solver).fit(X, REAL) for solver in (Nystrom(), Nystrom(len(X)))
    )
    np.testing.assert_array_equal(some.predict(NEW), all_of_them.predict(NEW))
