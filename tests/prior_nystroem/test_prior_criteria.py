"""Selection of kernel, smoothness and prior weight: errors against explicit refits, folds, and the rule."""

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge

from cases import assert_close, centred
from lopsided import PriorNystroem
from lopsided.kernels import RBF
from lopsided.prior_nystroem.criteria import (
    RIDGE_GRID,
    WEIGHT_GRID,
    Path,
    guessing_error,
    held_out_alignments,
    held_out_errors,
    least_error,
    leave_one_out_errors,
)
from lopsided.prior_nystroem.dictionary import nearest_semidefinite
from lopsided.prior_nystroem.side_information import ClassRows, ClassTargets, PairTargets
from lopsided.prior_nystroem.supervision import LabelledRows, Labels, Pairs, folds_of, read_supervision, thinned

CLASSES = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 0, 1, 2])


def labels(classes, right=None):
    sides = [None if side is None else LabelledRows(np.arange(len(side)), side) for side in (classes, right)]
    return Labels(*sides, balanced=False)


def correlated(A, B):
    return np.corrcoef(np.ravel(A), np.ravel(B))[0, 1]


def test_held_out_errors_are_those_of_explicit_refits(rng):
    """For every fold and weight: the dictionary in m x m, the kernel from it, an LS-SVM from its linear system."""
    F, scales = rng.standard_normal((12, 5)), np.geomspace(2, 0.1, 5)
    folds = folds_of(labels(CLASSES), rng)
    path = held_out_errors(F, np.diag(scales), CLASSES, folds)
    marks = 2 * np.eye(3)[CLASSES] - 1
    for number in range(len(WEIGHT_GRID)):
        errors = np.empty((len(RIDGE_GRID), 12))
        for kept, out in folds:
            E = F[kept] * np.sqrt(scales)
            rows = ClassRows(E, CLASSES[kept])
            known = ClassTargets(rows, rows)
            N = np.diag(1 / scales)
            if np.isfinite(WEIGHT_GRID[number]):
                N = known.minimiser(N, WEIGHT_GRID[number] * known.curvature)
            K = (F * np.sqrt(scales)) @ N @ (F * np.sqrt(scales)).T
            own = nearest_semidefinite(K[np.ix_(kept, kept)])
            ridge = np.trace(K[np.ix_(kept, kept)]) / len(kept)
            for row, penalty in enumerate(RIDGE_GRID):
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
    folds = folds_of(labels(np.zeros(40, int)), rng)
    path = held_out_alignments(information, np.zeros((6, 5)), folds)
    losses = path.errors.mean(axis=1)
    assert losses[0] < 1e-3
    assert losses[-1] == 1


def published_optimum(E, S0, wanted, weight):
    """Minimise weight |S - S0|^2 + |E S E^T - wanted|^2 over semidefinite S by the steps (7) to (9), with momentum."""
    S = before = S0
    curvature = weight + np.linalg.norm(E, 2) ** 4
    root = np.sqrt(weight / curvature)
    for _ in range(3000):
        ahead = S + (1 - root) / (1 + root) * (S - before)
        half_slope = weight * (ahead - S0) + E.T @ (E @ ahead @ E.T - wanted) @ E
        values, U = np.linalg.eigh(ahead - half_slope / curvature)
        before, S = S, (U * np.maximum(values, 0)) @ U.T
    return S


def test_criterion_of_the_paper_is_taken_at_the_optimum_of_equation_6(rng):
    """With S(lambda) from the equations as printed, in the coordinates of S."""
    points, X = 2 * rng.standard_normal((5, 2)), rng.standard_normal((12, 2))
    X[CLASSES == 1] += 1
    model = PriorNystroem.as_published(landmarks=points, kernel=RBF(2.0), tol=0).fit(X, CLASSES)
    E, W = (np.exp(-np.square(side[:, None] - points).sum(axis=2) / 4) for side in (X, points))
    S0, wanted = np.linalg.inv(W), (CLASSES[:, None] == CLASSES).astype(float)
    (path,), scores = model.path_, []
    for relative, (error,) in zip(path.weights, path.errors, strict=True):
        weight = relative * np.linalg.norm(E, 2) ** 4
        S = S0 if np.isinf(relative) else published_optimum(E, S0, wanted, weight)
        scores.append(correlated(centred(S), centred(S0)) * correlated(centred(E @ S @ E.T), centred(wanted)))
        if relative >= 1e-4:  # below, these steps have not converged
            assert 1 - error == pytest.approx(scores[-1], abs=1e-10)
    assert model.prior_weight_ == path.weights[np.argmax(scores)]
    optimum = published_optimum(E, S0, wanted, model.prior_weight_ * np.linalg.norm(E, 2) ** 4)
    assert_close(model.dictionary_, optimum, 1e-10 / np.finfo(float).eps)


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
        leave_one_out_errors(F, classes, balanced=balanced),
    )
    for path in paths:
        assert not path.errors[:, 12].any() and (path.errors[:, :12] > 0).all()


@pytest.mark.parametrize("balanced", [False, True])
def test_guessing_is_to_predict_the_shares_of_classes(balanced):
    marks, nothing = 2 * np.eye(3)[CLASSES] - 1, np.zeros((12, 1))
    errors = np.square(DummyRegressor().fit(nothing, marks).predict(nothing) - marks).mean(axis=1)
    weights = (12 / (3 * np.bincount(CLASSES)))[CLASSES] if balanced else np.ones(12)
    assert guessing_error(CLASSES, balanced=balanced) == pytest.approx(np.mean(weights * errors))


@pytest.mark.parametrize("balanced", [False, True])
def test_leave_one_out_errors_are_those_of_refits(balanced, rng):
    F = rng.standard_normal((12, 5))
    path = leave_one_out_errors(F, CLASSES, balanced=balanced)
    marks, unit = 2 * np.eye(3)[CLASSES] - 1, np.square(F).sum() / 12
    errors = np.empty((len(RIDGE_GRID), 12))
    for row, penalty in enumerate(RIDGE_GRID):
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
    classes = np.repeat([0, 1, 2], [n // 2, n // 10, n - n // 2 - n // 10])
    kept = thinned(labels(classes), 200, rng).left
    assert len(kept.rows) == len(set(kept.rows)) == min(n, 200)
    np.testing.assert_allclose(np.bincount(kept.classes), np.bincount(classes) * len(kept.rows) / n, atol=1)


def test_folds_share_every_class_evenly(rng):
    classes = np.repeat([0, 1], [10, 20])
    for known in (labels(classes), Pairs(np.arange(60).reshape(30, 2), classes.astype(float))):
        folds = folds_of(known, rng)
        assert sorted(np.concatenate([out for _, out in folds])) == list(range(30))
        for kept, out in folds:
            assert sorted([*kept, *out]) == list(range(30))
            assert 2 * (classes[out] == 0).sum() == (classes[out] == 1).sum()


def test_a_pair_in_both_orders_is_one_within_one_set_and_two_between_two(rng):
    X, pairs = np.zeros((6, 1)), (np.array([(0, 1), (1, 0), (2, 3)]), np.array([(5, 4), (4, 5)]))
    for Z, wanted in ((None, [(0, 1), (2, 3), (4, 5)]), (X, [(0, 1), (1, 0), (2, 3), (4, 5), (5, 4)])):
        found, _ = read_supervision(X, None, Z, None, pairs, balanced=False)
        assert list(map(tuple, found.rows.tolist())) == wanted
        assert found.targets.tolist() == [float(i < 4) for i, _ in wanted]
        assert sorted(np.concatenate([out for _, out in folds_of(found, rng)])) == list(range(len(wanted)))


@pytest.mark.parametrize("least", [0.5, 0.0, -1e-16, -0.5])
def test_a_least_error_of_any_sign_is_found(least):
    """An alignment of one leaves an error of zero, or just below it."""
    paths = [Path(np.array([1.0, np.inf]), np.array([[2.0], [2.0]])), Path(np.array([1.0, np.inf]), [[2.0], [least]])]
    paths = [path._replace(errors=np.asarray(path.errors)) for path in paths]
    assert least_error(paths) == (1, np.inf)
