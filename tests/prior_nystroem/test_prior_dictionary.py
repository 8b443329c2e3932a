"""The algebra of dictionaries learned with a prior: m x m identities against dense ones, gradients, descent, frames."""

import numpy as np
import pytest

from cases import assert_close, centred
from lopsided import PriorNystroem
from lopsided.exceptions import ConvergenceWarning
from lopsided.kernels import RBF
from lopsided.prior_nystroem.criteria import centred_alignment
from lopsided.prior_nystroem.dictionary import Iteration, closed_form, learn_dictionary, nearest_semidefinite
from lopsided.prior_nystroem.frames import axes_of_one_set, axes_of_two_sets
from lopsided.prior_nystroem.side_information import ClassRows, ClassTargets, PairTargets

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
    left = right = ClassRows(rng.standard_normal((12, 5)), CLASSES)
    if not symmetric:
        right = ClassRows(rng.standard_normal((8, 4)), OTHERS)
    targets = ideal(left.classes, right.classes, balanced)
    return ClassTargets(left, right, balanced=balanced), left.E, right.E, targets, None


def pairs_case(rng, symmetric):
    E = rng.standard_normal((12, 5))
    F = E if symmetric else rng.standard_normal((8, 4))
    pairs = np.array([(0, 1), (2, 5), (3, 3), (7, 1)])
    targets = np.array([1.0, 0.0, 1.0, 0.0])
    orders = np.where(pairs[:, 0] == pairs[:, 1], 1.0, 2.0) if symmetric else None
    mask = np.zeros((len(E), len(F)))
    wanted = np.zeros_like(mask)
    for (i, j), target in zip(pairs, targets, strict=True):
        for place in {(i, j), (j, i)} if symmetric else {(i, j)}:
            mask[place] = 1
            wanted[place] = target
    return PairTargets(E[pairs[:, 0]], F[pairs[:, 1]], targets, orders), E, F, wanted, mask


CASES = {
    "classes": lambda rng: classes_case(rng, False, True),
    "balanced": lambda rng: classes_case(rng, True, True),
    "two_sides": lambda rng: classes_case(rng, False, False),
    "two_sides_balanced": lambda rng: classes_case(rng, True, False),
    "pairs": lambda rng: pairs_case(rng, True),
    "links": lambda rng: pairs_case(rng, False),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
of_one_set = {name: CASES[name] for name in ("classes", "balanced", "pairs")}
symmetric_case = pytest.mark.parametrize("case", of_one_set.values(), ids=of_one_set)
SCALES = np.geomspace(3, 0.02, 5)


def symmetric(rng, E):
    S = rng.standard_normal((E.shape[1],) * 2)
    return S + S.T


def any_dictionary(rng, E, F):
    """Between two sets any S, within one set a symmetric one."""
    return symmetric(rng, E) if F is E else rng.standard_normal((E.shape[1], F.shape[1]))


def directions(S, one_set):
    """An orthonormal basis of the matrices like S, symmetric within one set."""
    units = np.eye(S.size).reshape(-1, *S.shape)
    if not one_set:
        return units
    halves = [(unit + unit.T) for unit in units if np.array_equal(unit, np.triu(unit))]
    return [half / np.linalg.norm(half) for half in halves]


@every_case
def test_small_identities_agree_with_the_dense_matrices(case, rng):
    information, E, F, wanted, mask = case(rng)
    S = any_dictionary(rng, E, F)
    residual = E @ S @ F.T - wanted
    squares = residual**2 if mask is None else mask * residual**2
    assert information.loss(S) == pytest.approx(squares.sum())
    weights = 1 if mask is None else mask
    assert_close(information.half_gradient(S), E.T @ (weights * residual) @ F)
    basis, zero = directions(S, F is E), information.half_gradient(0 * S)
    hessian = np.array([[np.vdot(other, information.half_gradient(D) - zero) for other in basis] for D in basis])
    assert information.curvature == pytest.approx(np.linalg.eigvalsh(hessian)[-1])


@every_case
def test_alignment_is_the_correlation_of_the_dense_matrices(case, rng):
    information, E, F, wanted, mask = case(rng)
    S = any_dictionary(rng, E, F)
    K = E @ S @ F.T
    if mask is None:
        assert information.alignment(S) == pytest.approx(centred_alignment(K, wanted))
        assert centred_alignment(K, wanted) == pytest.approx(correlated(centred(K), centred(wanted)))
    else:
        known = np.flatnonzero(mask)
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
@pytest.mark.parametrize("weight", [1e-3, 1.0, 1e4])
def test_closed_form_is_where_the_gradient_vanishes(case, weight, rng):
    information, E, F, *_ = case(rng)
    S0 = rng.standard_normal((E.shape[1], F.shape[1]))
    found = closed_form(information, S0, weight)
    change = found.N - S0
    assert np.abs(weight * change + information.half_gradient(found.N)).max() < 1e-9 * max(1.0, weight)
    assert found.objectives == pytest.approx([weight * np.square(change).sum() + information.loss(found.N)])


@symmetric_case
@pytest.mark.parametrize("solver", ["accelerated", "gradient"])
@pytest.mark.parametrize("weight", [1e-4, 1e-2, 1.0])
def test_objective_never_rises_and_the_dictionary_is_semidefinite(case, weight, solver, rng):
    information, *_ = case(rng)
    found = learn_dictionary(information, SCALES, weight * information.curvature, Iteration(solver, 1e-5, 5000))
    assert (np.diff(found.objectives) <= 0).all()
    assert_close(found.N, found.N.T)
    assert np.linalg.eigvalsh(found.N)[0] >= -1e-12 * np.abs(found.N).max()


@symmetric_case
def test_learned_dictionary_is_the_constrained_minimum(case, rng):
    """No semidefinite matrix nearby does better, nor does the other solver."""
    information, E, *_ = case(rng)
    weight = 1e-3 * information.curvature
    plain, fast = (
        learn_dictionary(information, SCALES, weight, Iteration(solver, 1e-12, 50000))
        for solver in ("gradient", "accelerated")
    )
    assert plain.objectives[-1] == pytest.approx(fast.objectives[-1], rel=1e-6)
    for _ in range(50):
        near = nearest_semidefinite(fast.N + 1e-3 * symmetric(rng, E))
        objective = weight * np.square(near - np.diag(1 / SCALES)).sum() + information.loss(near)
        assert objective >= fast.objectives[-1] * (1 - 1e-9)


def test_the_closed_form_is_the_solution_where_it_is_semidefinite(rng):
    information, *_ = CASES["classes"](rng)
    weight = 1e6 * information.curvature
    found = learn_dictionary(information, SCALES, weight, Iteration())
    assert found.solver.name == "closed" and len(found.objectives) == 1
    assert_close(found.N, closed_form(information, np.diag(1 / SCALES), weight).N, 1e4)


def test_steps_that_run_out_give_a_warning(rng):
    information, *_ = CASES["pairs"](rng)
    with pytest.warns(ConvergenceWarning, match="step 1, the last, still lowered.*above tol=1e-12; raise max_iter"):
        learn_dictionary(information, SCALES, 1e-4 * information.curvature, Iteration(tol=1e-12, max_iter=1))


def test_nearest_semidefinite_matrix_keeps_what_is_semidefinite(rng):
    S = symmetric(rng, np.empty((0, 6)))
    values = np.linalg.eigvalsh(S)
    assert np.linalg.norm(S - nearest_semidefinite(S)) == pytest.approx(np.linalg.norm(np.minimum(values, 0)))
    np.testing.assert_array_equal(nearest_semidefinite(S @ S), S @ S)


def semidefinite(rng):
    A = rng.standard_normal((6, 6))
    return A @ A.T


def frames(rng):
    """Matrices of landmarks with frames: of one set, in both metrics and from few samples, and of two sets."""
    W, E = semidefinite(rng), rng.standard_normal((30, 6))
    yield W, axes_of_one_set(W, EPS, E, of_samples=True).frame(EPS)
    yield W, axes_of_one_set(W, EPS, E, of_samples=False).frame(EPS)
    yield W, axes_of_one_set(W, EPS, E[:4], of_samples=True).frame(EPS)  # four samples use four axes
    W = rng.standard_normal((4, 6))
    yield W, axes_of_two_sets(W, EPS).frame(EPS)


def test_frames_begin_at_the_nystrom_method_and_hold_any_change(rng):
    for W, frame in frames(rng):
        left, right = frame.maps(frame.prior)
        assert_close(left @ right.T, np.linalg.pinv(W), 1e7)
        if frame.one_set:  # the symmetric square root, as scikit-learn's
            assert_close(left, left.T, 1e7)
        change = np.diag(rng.random(len(frame.scales)))
        (L, R), (A, B) = frame.bases, frame.maps(frame.prior + change)
        assert_close(A @ B.T, np.linalg.pinv(W) + L @ change @ R.T, 1e7)


def test_metric_of_the_landmarks_is_that_of_the_paper(rng):
    W = semidefinite(rng)
    frame = axes_of_one_set(W, EPS, None, of_samples=False).frame(EPS)
    B, _ = frame.bases
    S = symmetric(rng, np.empty((0, 6)))
    assert np.linalg.norm(B.T @ S @ B - frame.prior) == pytest.approx(np.linalg.norm(S - np.linalg.inv(W)), rel=1e-6)


@pytest.mark.parametrize("smoothness", [0.0, 3.0, 1e4])
@pytest.mark.parametrize("of_samples", [False, True])
def test_smoothed_axes_are_those_of_the_smoothed_matrix(of_samples, smoothness, rng):
    W, E, G = semidefinite(rng), rng.standard_normal((30, 6)), rng.random((30, 30))
    laplacian = np.diag((G + G.T).sum(axis=0)) - G - G.T
    smooth = W + smoothness / 30 * E.T @ laplacian @ E
    axes = axes_of_one_set(W, EPS, E, of_samples=of_samples, laplacian=laplacian).smoothed(smoothness)
    direct = axes_of_one_set(smooth, EPS, E, of_samples=of_samples)
    assert_close(axes.left @ axes.right.T, np.linalg.inv(smooth), 1e7)
    assert_close(axes.left @ axes.spread @ axes.left.T, direct.left @ direct.spread @ direct.left.T, 1e7)
    root, _ = axes.frame(EPS).maps(axes.frame(EPS).prior)
    assert_close(root @ root.T, np.linalg.inv(smooth), 1e7)


def test_proposition_1_similarities_are_extrapolated_from_the_nearest_landmarks(rng):
    """|K_ij - W_pq| is within the bound of the proof, whose |E_i - W_p| is at most sqrt(m) eta d.

    The bound as printed has sqrt(m eta) instead. For exp(-r^2 / 4) the slope eta is at most exp(-1/2) / sqrt(2).
    """
    points, X = rng.uniform(-2, 2, (8, 2)), rng.uniform(-2, 2, (40, 2))
    model = PriorNystroem(prior_weight=np.inf, landmarks=points, kernel=RBF(2.0)).fit(X)
    W = np.exp(-np.square(points[:, None] - points).sum(axis=2) / 4)
    K = model.learned_kernel(X, X)
    E = np.exp(-np.square(X[:, None] - points).sum(axis=2) / 4)
    np.testing.assert_allclose(K, E @ np.linalg.inv(W) @ E.T, atol=1e-9)  # (3), (4)
    distances = np.linalg.norm(X[:, None] - points, axis=2)
    nearest, d = distances.argmin(axis=1), distances.min(axis=1)
    slope, c = np.sqrt(8) * np.exp(-0.5) / np.sqrt(2), 8.0
    bound = slope * (c * (d[:, None] + d) + slope * np.outer(d, d)) * np.linalg.norm(np.linalg.inv(W))
    assert (np.abs(K - W[np.ix_(nearest, nearest)]) <= bound).all()
    np.testing.assert_allclose(model.learned_kernel(points, points), W, atol=1e-9)  # exact at landmarks


def test_equations_1_and_2_eigenvectors_of_the_landmarks_extend_to_all_samples(rng):
    """Features of the plain method span the extended eigenfunctions k(x, z) phi / (m lambda)."""
    points, X = rng.uniform(-2, 2, (6, 2)), rng.uniform(-2, 2, (20, 2))
    model = PriorNystroem(prior_weight=np.inf, landmarks=points, kernel=RBF(2.0)).fit(X)
    W = np.exp(-np.square(points[:, None] - points).sum(axis=2) / 4)
    E = np.exp(-np.square(X[:, None] - points).sum(axis=2) / 4)
    values, phi = np.linalg.eigh(W)
    np.testing.assert_allclose(W @ phi, phi * values, atol=1e-12)  # (2)
    functions = E @ phi / values  # (1), with lambda of the operator values / m
    np.testing.assert_allclose((functions * values) @ functions.T, model.learned_kernel(X, X), atol=1e-9)
