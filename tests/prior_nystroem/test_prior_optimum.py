"""With tol=0 the dictionary is the optimum of equation (6) itself: independent solutions, and optimality conditions."""

import numpy as np
import pytest

from cases import assert_close
from lopsided import PriorNystroem
from lopsided.exceptions import ConvergenceWarning
from lopsided.kernels import RBF
from lopsided.prior_nystroem import newton
from lopsided.prior_nystroem.dictionary import Iteration, learn_dictionary
from lopsided.prior_nystroem.many_pairs import ManyPairTargets
from lopsided.prior_nystroem.side_information import ClassRows, ClassTargets, PairTargets

ULPS = 1e-10 / np.finfo(float).eps  # agreement to 1e-10
every_solver = pytest.mark.parametrize("solver", ["gradient", "accelerated"])


def of_classes(rng, size):
    """A loss on classes: the library's, and as rows, entries of the kernel that count, and their targets."""
    E, classes = rng.standard_normal((3 * size, size)), rng.integers(3, size=3 * size)
    rows = ClassRows(E, classes)
    targets = (classes[:, None] == classes).astype(float)
    return ClassTargets(rows, rows), E, np.ones_like(targets), targets


def drawn_pairs(rng, size):
    E, n = rng.standard_normal((3 * size, size)), 3 * size
    i, j = np.unique(np.sort(rng.integers(n, size=(3 * n, 2)), axis=1), axis=0).T
    targets = (rng.random(len(i)) < 0.4).astype(float)
    counted, wanted = np.zeros((n, n)), np.zeros((n, n))
    counted[i, j] = counted[j, i] = 1
    wanted[i, j] = wanted[j, i] = targets
    return E, i, j, targets, counted, wanted


def of_pairs(rng, size):
    E, i, j, targets, counted, wanted = drawn_pairs(rng, size)
    return PairTargets(E[i], E[j], targets, np.where(i == j, 1.0, 2.0)), E, counted, wanted


def of_many_pairs(rng, size):
    E, i, j, targets, counted, wanted = drawn_pairs(rng, size)
    return ManyPairTargets.of(E, E, (i, j), targets), E, counted, wanted


every_loss = pytest.mark.parametrize("loss", [of_classes, of_pairs, of_many_pairs])


def half_slope(N, E, counted, wanted, weight, N0):
    return weight * (N - N0) + E.T @ (counted * (E @ N @ E.T - wanted)) @ E


def by_momentum(E, counted, wanted, weight, N0):
    """Projected gradient steps with the momentum of a known condition number, as many as it needs for all digits."""
    curvature = weight + np.linalg.norm(E, 2) ** 4
    root = np.sqrt(weight / curvature)
    N = before = N0
    for _ in range(int(40 / root)):
        ahead = N + (1 - root) / (1 + root) * (N - before)
        values, U = np.linalg.eigh(ahead - half_slope(ahead, E, counted, wanted, weight, N0) / curvature)
        before, N = N, (U * np.maximum(values, 0)) @ U.T
    return N


@every_solver
@every_loss
@pytest.mark.parametrize("size", [2, 5, 12])
def test_with_no_tolerance_the_dictionary_is_that_of_another_solver(size, loss, solver):
    """Over random problems, most of them with an active constraint."""
    active = 0
    for seed in range(4):
        rng = np.random.default_rng([size, seed])
        information, E, counted, wanted = loss(rng, size)
        scales = np.geomspace(3, 0.02, size)
        for relative in (1e-3, 1e-1):
            weight = relative * np.linalg.norm(E, 2) ** 4
            found = learn_dictionary(information, scales, weight, Iteration(solver, 0.0, 100))
            expected = by_momentum(E, counted, wanted, weight, np.diag(1 / scales))
            assert_close(found.N, expected, ULPS)
            assert (np.diff(found.objectives) <= 0).all()
            active += np.linalg.matrix_rank(expected, tol=1e-9, hermitian=True) < size
    assert active >= 2


@every_loss
@pytest.mark.parametrize("relative", [1e-10, 1e-8, 1e-6, 1e-4, 1e-2])
def test_with_no_tolerance_the_optimality_conditions_hold_at_every_weight(relative, loss, rng):
    """N and the gradient are semidefinite, and their product is zero: no other solver is needed to tell."""
    information, E, counted, wanted = loss(rng, 20)
    scales, weight = np.geomspace(3, 0.02, 20), relative * np.linalg.norm(E, 2) ** 4
    N = learn_dictionary(information, scales, weight, Iteration(tol=0.0)).N
    slope = half_slope(N, E, counted, wanted, weight, np.diag(1 / scales))
    terms = np.linalg.norm(E, 2) ** 2 * (np.linalg.norm(counted * (E @ N @ E.T)) + np.linalg.norm(wanted))
    assert np.linalg.eigvalsh(N)[0] >= -1e-12 * np.linalg.norm(N)
    assert np.linalg.eigvalsh(slope)[0] >= -1e-12 * terms
    assert np.linalg.norm(N @ slope) <= 1e-12 * terms * np.linalg.norm(N)


def test_the_published_method_finds_the_optimum_of_equation_6(rng):
    """In the coordinates of S, from the equations as printed."""
    points, X, classes = 2 * rng.standard_normal((6, 2)), rng.standard_normal((15, 2)), np.arange(15) % 3
    X[classes == 1] += 1
    E, W = (np.exp(-np.square(side[:, None] - points).sum(axis=2) / 4) for side in (X, points))
    wanted = (classes[:, None] == classes).astype(float)
    for relative in (1e-5, 1e-4):
        settings = {"landmarks": points, "kernel": RBF(2.0), "prior_weight": relative, "tol": 0.0}
        model = PriorNystroem.as_published(**settings).fit(X, classes)
        weight, W_inverse = relative * np.linalg.norm(E, 2) ** 4, np.linalg.inv(W)
        assert model.solver_.name == "gradient"  # so that the constraint is active
        assert_close(model.dictionary_, by_momentum(E, np.ones_like(wanted), wanted, weight, W_inverse), ULPS)


def test_newton_steps_that_do_not_converge_give_a_warning(rng, monkeypatch):
    monkeypatch.setattr(newton, "MOST_STEPS", 0)
    information, E, *_ = of_pairs(rng, 6)
    weight = 1e-4 * np.linalg.norm(E, 2) ** 4
    with pytest.warns(ConvergenceWarning, match="after 3 gradient steps, of at most 3; raise max_iter"):
        learn_dictionary(information, np.geomspace(3, 0.02, 6), weight, Iteration(tol=0.0, max_iter=3))
