"""The algebra of dictionaries learned with a prior: m x m identities against dense ones, gradients, descent, choice."""

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge

from cases import assert_close, centred
from lopsided.exceptions import ConvergenceWarning
from lopsided.prior_nystroem.criteria import (
    PENALTIES,
    WEIGHTS,
    Path,
    centred_alignment,
    chance_error,
    dealt,
    held_out_alignments,
    held_out_errors,
    least_error,
    paper_criterion,
    plain_errors,
    thinned,
)
from lopsided.prior_nystroem.dictionary import learn_dictionary, nearest_semidefinite
from lopsided.prior_nystroem.frames import axes_of, frames_of
from lopsided.prior_nystroem.side_information import ClassTargets, PairTargets

EPS = np.finfo(float).eps
CLASSES = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 0, 1, 2])
OTHERS = np.array([0, 1, 2, 2, 1, 0, 0, 1])


def correlated(A, B):
    return np.corrcoef(np.ravel(A), np.ravel(B))[0, 1]


def ideal(left, right, balanced=False):
    same = (left[:, None] == right).astype(float)
    if balanced:
        count = 1 + max(left.max(), right.max())
        sizes = np.bincount(left, minlength=count) * np.bincount(right, minlength=count)
        same *= (np.sqrt(len(left) * len(right) / sizes) / count)[left][:, None]
    return same


def classes_case(rng, balanced, symmetric):
    E = rng.standard_normal((12, 5))
    if symmetric:
        return ClassTargets(E, E, CLASSES, CLASSES, balanced), E, E, ideal(CLASSES, CLASSES, balanced), None
    F = rng.standard_normal((8, 4))
    return ClassTargets(E, F, CLASSES, OTHERS, balanced), E, F, ideal(CLASSES, OTHERS, balanced), None


def pairs_case(rng, symmetric):
    E = rng.standard_normal((12, 5))
    F = E if symmetric else rng.standard_normal((8, 4))
    pairs = np.array([(0, 1), (2, 5), (3, 3), (7, 1)])
    targets = np.array([1.0, 0.0, 1.0, 0.0])
    if symmetric:
        pairs, targets = np.vstack([pairs, pairs[:, ::-1]]), np.tile(targets, 2)
    mask = np.zeros((len(E), len(F)))
    wanted = np.zeros_like(mask)
    for (i, j), target in zip(pairs, targets, strict=True):
        mask[i, j] += 1
        wanted[i, j] = target
    return PairTargets(E[pairs[:, 0]], F[pairs[:, 1]], targets), E, F, wanted, mask


CASES = {
    "classes": lambda rng: classes_case(rng, False, True),
    "balanced": lambda rng: classes_case(rng, True, True),
    "two_sides": lambda rng: classes_case(rng, False, False),
    "two_sides_balanced": lambda rng: classes_case(rng, True, False),
    "pairs": lambda rng: pairs_case(rng, True),
    "links": lambda rng: pairs_case(rng, False),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
symmetric_case = pytest.mark.parametrize("case", [CASES["classes"], CASES["balanced"], CASES["pairs"]])


def symmetric(rng, E):
    S = rng.standard_normal((E.shape[1],) * 2)
    return S + S.T


@every_case
def test_small_identities_agree_with_the_dense_matrices(case, rng):
    information, E, F, wanted, mask = case(rng)
    S = rng.standard_normal((E.shape[1], F.shape[1]))
    residual = E @ S @ F.T - wanted
    squares = residual**2 if mask is None else mask * residual**2
    assert information.loss(S) == pytest.approx(squares.sum())
    weights = 1 if mask is None else mask
    assert_close(information.half_gradient(S), E.T @ (weights * residual) @ F)
    hessian = np.zeros((S.size, S.size))
    for number, direction in enumerate(np.eye(S.size)):
        turned = information.half_gradient(direction.reshape(S.shape)) - information.half_gradient(0 * S)
        hessian[number] = turned.ravel()
    assert information.curvature == pytest.approx(np.linalg.eigvalsh(hessian)[-1])


@every_case
def test_alignment_is_the_correlation_of_the_dense_matrices(case, rng):
    information, E, F, wanted, mask = case(rng)
    S = rng.standard_normal((E.shape[1], F.shape[1]))
    K = E @ S @ F.T
    if mask is None:
        assert information.alignment(S) == pytest.approx(centred_alignment(K, wanted))
        assert centred_alignment(K, wanted) == pytest.approx(correlated(centred(K), centred(wanted)))
    else:
        known = np.repeat(np.flatnonzero(mask), mask[mask > 0].astype(int))
        assert information.alignment(S) == pytest.approx(correlated(K.ravel()[known], wanted.ravel()[known]))
    assert information.alignment(0 * S) == 0


@symmetric_case
def test_along_the_axes_it_is_the_same_function(case, rng):
    information, E, *_ = case(rng)
    (_, U), S = information.axes, symmetric(rng, E)
    turned = information.along_axes()
    assert turned.loss(U.T @ S @ U) == pytest.approx(information.loss(S))
    assert_close(U @ turned.half_gradient(U.T @ S @ U) @ U.T, information.half_gradient(S), 1e4)


@every_case
def test_gradient_agrees_with_finite_differences(case, rng):
    information, E, F, *_ = case(rng)
    S = rng.standard_normal((E.shape[1], F.shape[1]))
    step = 1e-5
    for direction in np.eye(S.size)[::3].reshape(-1, *S.shape):
        change = (information.loss(S + step * direction) - information.loss(S - step * direction)) / (2 * step)
        assert change == pytest.approx(2 * np.vdot(information.half_gradient(S), direction), rel=1e-6, abs=1e-6)


@every_case
@pytest.mark.parametrize("weight", [1e-3, 1.0, 1e4])
def test_closed_form_is_where_the_gradient_vanishes(case, weight, rng):
    information, E, F, *_ = case(rng)
    S0 = rng.standard_normal((E.shape[1], F.shape[1]))
    S = information.minimiser(S0, weight)
    gradient = weight * (S - S0) + information.half_gradient(S)
    assert np.abs(gradient).max() < 1e-9 * max(1.0, weight)


@symmetric_case
@pytest.mark.parametrize("accelerated", [True, False])
@pytest.mark.parametrize("weight", [1e-4, 1e-2, 1.0])
def test_objective_never_rises_and_the_dictionary_is_semidefinite(case, weight, accelerated, rng):
    information, *_ = case(rng)
    scales = np.geomspace(3, 0.02, 5)
    found = learn_dictionary(
        information, scales, weight * information.curvature, accelerated=accelerated, tol=1e-5, max_iter=5000
    )
    assert (np.diff(found.objectives) <= 0).all()
    assert_close(found.N, found.N.T)
    assert np.linalg.eigvalsh(found.N)[0] >= -1e-12 * np.abs(found.N).max()
    assert found.converged


@symmetric_case
def test_learned_dictionary_is_the_constrained_minimum(case, rng):
    """No semidefinite matrix nearby, nor another algorithm, does better."""
    information, E, *_ = case(rng)
    scales, weight = np.geomspace(3, 0.02, 5), 1e-3 * information.curvature

    def objective(N):
        return weight * np.square(N - np.diag(1 / scales)).sum() + information.loss(N)

    plain, fast = (
        learn_dictionary(information, scales, weight, accelerated=a, tol=1e-12, max_iter=50000) for a in (False, True)
    )
    assert plain.objectives[-1] == pytest.approx(fast.objectives[-1], rel=1e-6)
    for _ in range(50):
        near = nearest_semidefinite(fast.N + 1e-3 * symmetric(rng, E))
        assert objective(near) >= fast.objectives[-1] * (1 - 1e-9)


def test_iterations_that_run_out_are_said(rng):
    information, *_ = CASES["pairs"](rng)
    with pytest.warns(ConvergenceWarning, match="after 1 steps, above tol=0"):
        learn_dictionary(information, np.geomspace(3, 0.02, 5), 1e-4 * information.curvature, tol=0, max_iter=1)


def test_nearest_semidefinite_matrix_keeps_what_is_semidefinite(rng):
    S = symmetric(rng, np.empty((0, 6)))
    values = np.linalg.eigvalsh(S)
    assert np.linalg.norm(S - nearest_semidefinite(S)) == pytest.approx(np.linalg.norm(np.minimum(values, 0)))
    P = S @ S
    assert nearest_semidefinite(P) is P


@pytest.mark.parametrize("of_samples", [False, True])
def test_frame_begins_at_the_nystrom_method(of_samples, rng):
    A = rng.standard_normal((6, 6))
    W = A @ A.T
    frame = axes_of(W, EPS, rng.standard_normal((30, 6)), of_samples=of_samples).frame(EPS)
    root, _ = frame.maps(frame.prior)
    assert_close(root @ root.T, np.linalg.inv(W), 1e7)
    assert_close(root, root.T, 1e7)
    N = frame.prior + np.diag(rng.random(frame.learned))
    B, _ = frame.bases
    root, _ = frame.maps(N)
    assert_close(root @ root.T, B @ N @ B.T, 1e7)


def test_metric_of_the_landmarks_is_that_of_the_paper(rng):
    A = rng.standard_normal((6, 6))
    W = A @ A.T
    frame = axes_of(W, EPS, rng.standard_normal((9, 6)), of_samples=False).frame(EPS)
    B, _ = frame.bases
    S = symmetric(rng, np.empty((0, 6)))
    N = B.T @ S @ B
    assert np.linalg.norm(N - frame.prior) == pytest.approx(np.linalg.norm(S - np.linalg.inv(W)), rel=1e-6)


@pytest.mark.parametrize("smoothness", [0.0, 3.0, 1e4])
@pytest.mark.parametrize("of_samples", [False, True])
def test_smoothed_axes_are_those_of_the_smoothed_matrix(of_samples, smoothness, rng):
    A, E = rng.standard_normal((6, 6)), rng.standard_normal((30, 6))
    W, G = A @ A.T, rng.random((30, 30))
    L = np.diag((G + G.T).sum(axis=0)) - G - G.T
    smooth = W + smoothness / 30 * E.T @ L @ E
    axes = axes_of(W, EPS, E, of_samples=of_samples, laplacian=L).smoothed(smoothness)
    direct = axes_of(smooth, EPS, E, of_samples=of_samples)
    assert_close(axes.T @ axes.T.T, np.linalg.inv(smooth), 1e7)
    for one, other in ((E @ axes.T, E @ direct.T), (E @ axes.T @ axes.spread, E @ direct.T @ direct.spread)):
        assert_close(one @ axes.T.T, other @ direct.T.T, 1e7)
    root, _ = axes.frame(EPS).maps(axes.frame(EPS).prior)
    assert_close(root @ root.T, np.linalg.inv(smooth), 1e7)


def test_two_frames_begin_at_the_asymmetric_nystrom_method(rng):
    W = rng.standard_normal((4, 6))
    frames = frames_of(W, np.finfo(float).eps)
    left, right = frames.maps(frames.prior)
    assert_close(left @ right.T, np.linalg.pinv(W), 1e5)
    N = rng.standard_normal((4, 4))
    left, right = frames.maps(N)
    assert_close(left @ right.T, frames.L @ N @ frames.R.T, 1e5)


def test_held_out_errors_are_those_of_explicit_refits(rng):
    """For every fold and weight: the dictionary in m x m, the kernel from it, an LS-SVM from its linear system."""
    F, scales = rng.standard_normal((12, 5)), np.geomspace(2, 0.1, 5)
    folds = [(np.setdiff1d(np.arange(12), out), out) for out in dealt(CLASSES, 3, rng)]
    path = held_out_errors(F, np.diag(scales), CLASSES, folds)
    marks = 2 * np.eye(3)[CLASSES] - 1
    for number in range(len(WEIGHTS)):
        errors = np.empty((len(PENALTIES), 12))
        for kept, out in folds:
            E = F[kept] * np.sqrt(scales)
            known = ClassTargets(E, E, CLASSES[kept], CLASSES[kept])
            N = np.diag(1 / scales)
            if np.isfinite(WEIGHTS[number]):
                N = known.minimiser(N, WEIGHTS[number] * known.curvature)
            K = (F * np.sqrt(scales)) @ N @ (F * np.sqrt(scales)).T
            own = nearest_semidefinite(K[np.ix_(kept, kept)])
            ridge = np.trace(K[np.ix_(kept, kept)]) / len(kept)
            for row, penalty in enumerate(PENALTIES):
                system = np.block(
                    [[own + penalty * ridge * np.eye(len(kept)), np.ones((len(kept), 1))], [np.ones((1, len(kept))), 0]]
                )
                solution = np.linalg.solve(system, np.vstack([marks[kept], np.zeros((1, 3))]))
                said = K[np.ix_(out, kept)] @ solution[:-1] + solution[-1]
                errors[row, out] = np.square(said - marks[out]).mean(axis=1)
        assert_close(path.errors[number], errors[errors.mean(axis=1).argmin()], 1e8)


def test_held_out_alignment_prefers_links_that_generalise(rng):
    left, right = rng.standard_normal((40, 6)), rng.standard_normal((40, 5))
    hidden = rng.standard_normal((6, 5))
    truth = left @ hidden @ right.T
    information = PairTargets(left, right, np.diag(truth))
    folds = [(np.setdiff1d(np.arange(40), out), out) for out in dealt(np.zeros(40), 5, rng)]
    path = held_out_alignments(information, np.zeros((6, 5)), folds)
    losses = path.errors.mean(axis=1)
    assert losses[0] < 1e-3
    assert losses[-1] == 1


def test_criterion_of_the_paper_is_a_product_of_alignments(rng):
    information, E, _, wanted, _ = CASES["classes"](rng)
    N0 = np.diag([1.0, 2.0, 3.0, 4.0, 5.0])
    path = paper_criterion(information, N0, np.eye(5), np.eye(5), symmetric=True)
    row = 4
    N = nearest_semidefinite(information.minimiser(N0, WEIGHTS[row] * information.curvature))
    expected = correlated(centred(N), centred(N0)) * correlated(centred(E @ N @ E.T), centred(wanted))
    assert 1 - path.errors[row, 0] == pytest.approx(expected)


def test_choice_is_of_least_error_and_of_equals_the_largest_weight():
    weights = np.array([0.1, 1.0, np.inf])
    good, poor = np.array([0.0, 2.0, 0.5]), np.array([1.0, 2.9, 1.5])
    assert least_error([Path(weights, np.vstack([good, good, poor]))]) == (0, 1.0)
    assert least_error([Path(weights, np.vstack([poor, poor, good]))]) == (0, np.inf)
    assert least_error([Path(weights, np.vstack([poor] * 3)), Path(weights, np.vstack([good, poor, poor]))]) == (1, 0.1)
    assert least_error([Path(weights, np.vstack([good] * 3))] * 2) == (0, np.inf)


@pytest.mark.parametrize("explained", [False, True])
def test_where_a_kernel_explains_the_labels_a_dictionary_must_be_significantly_better(explained, rng):
    weights, chance = np.array([0.1, np.inf]), 3.0 if explained else 1.5  # a plain error of one is a third, or more
    noise = rng.standard_normal(400)
    plain, other = np.ones(400), np.full(400, 1.01)
    for gain, significant in ((0.02, False), (0.2, True)):  # the standard error is 0.05
        path = Path(weights, np.vstack([plain - gain + noise - noise.mean(), plain]))
        taken = 0.1 if significant or not explained else np.inf
        assert least_error([path], chance) == (0, taken)
        assert least_error([Path(weights, np.vstack([other, other])), path], chance) == (1, taken)


def test_among_kernels_without_a_dictionary_the_least_error_decides(rng):
    noise = rng.standard_normal(400)
    paths = [Path(np.array([np.inf]), errors[None]) for errors in (np.ones(400), 0.99 + noise - noise.mean())]
    assert least_error(paths) == least_error(paths, 0.0) == (1, np.inf)


@pytest.mark.parametrize("balanced", [False, True])
def test_the_only_sample_of_a_class_is_not_judged(balanced, rng):
    F, classes = rng.standard_normal((13, 4)), np.append(CLASSES, 3)
    folds = [(np.setdiff1d(np.arange(13), fold), fold) for fold in np.array_split(rng.permutation(13), 4)]
    paths = (
        held_out_errors(F, np.eye(4), classes, folds, balanced=balanced),
        plain_errors(F, classes, balanced=balanced),
    )
    for path in paths:
        assert not path.errors[:, 12].any() and (path.errors[:, :12] > 0).all()


@pytest.mark.parametrize("balanced", [False, True])
def test_chance_is_the_error_of_a_machine_that_knows_the_shares_of_classes(balanced):
    marks, nothing = 2 * np.eye(3)[CLASSES] - 1, np.zeros((12, 1))
    errors = np.square(DummyRegressor().fit(nothing, marks).predict(nothing) - marks).mean(axis=1)
    weights = (12 / (3 * np.bincount(CLASSES)))[CLASSES] if balanced else np.ones(12)
    assert chance_error(CLASSES, balanced=balanced) == pytest.approx(np.mean(weights * errors))


@pytest.mark.parametrize("balanced", [False, True])
def test_plain_errors_are_those_of_leaving_samples_out(balanced, rng):
    F = rng.standard_normal((12, 5))
    path = plain_errors(F, CLASSES, balanced=balanced)
    marks, unit = 2 * np.eye(3)[CLASSES] - 1, np.square(F).sum() / 12
    errors = np.empty((len(PENALTIES), 12))
    for row, penalty in enumerate(PENALTIES):
        for i in range(12):
            kept = np.arange(12) != i
            machine = Ridge(penalty * unit).fit(F[kept], marks[kept])
            errors[row, i] = np.square(machine.predict(F[[i]])[0] - marks[i]).mean()
    if balanced:
        errors *= (12 / (3 * np.bincount(CLASSES)))[CLASSES]
    assert_close(path.errors[0], errors[errors.mean(axis=1).argmin()], 1e6)
    assert path.weights.tolist() == [np.inf]


@pytest.mark.parametrize("n", [50, 200, 201, 1000])
def test_thinning_leaves_every_class_its_share(n, rng):
    groups = np.repeat([0, 1, 2], [n // 2, n // 10, n - n // 2 - n // 10])
    kept = thinned(groups, 200, rng)
    assert len(kept) == len(set(kept)) == min(n, 200)
    np.testing.assert_allclose(np.bincount(groups[kept]), np.bincount(groups) * len(kept) / n, atol=1)


def test_folds_hold_every_class_evenly(rng):
    folds = dealt(np.repeat([0, 1], [10, 20]), 5, rng)
    assert sorted(np.concatenate(folds)) == list(range(30))
    assert all((fold < 10).sum() == 2 for fold in folds)
