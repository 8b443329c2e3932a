"""The equations of the 2023 paper in the feature spaces, for explicit maps of sources and targets."""

from typing import NamedTuple

import numpy as np
import pytest
import scipy.linalg
from machine_data import NEW, REAL, THREE, TWO, X, either, targets_of
from scipy import sparse
from sklearn.svm import SVC

from lopsided import AsymmetricLSSVC, AsymmetricLSSVR, Nystrom
from lopsided.least_squares.diagnostics import diagnose_primal

TIGHT = 1e-10
C = 0.7


class Primal(NamedTuple):
    """Variables of the primal problem (5) with their multipliers, and the maps and labels they belong to."""

    w: np.ndarray
    v: np.ndarray
    b1: float
    b2: float
    e: np.ndarray
    h: np.ndarray
    alpha: np.ndarray
    beta: np.ndarray

    def lagrangian(self, S, T, y):
        """Equation 8."""
        w, v, b1, b2, e, h, alpha, beta = self
        constraints = alpha @ (1 - e - y * (S @ w + b1)) + beta @ (1 - h - y * (T @ v + b2))
        return w @ v + C / 2 * (e @ e) + C / 2 * (h @ h) + constraints


@pytest.fixture
def solved(rng):
    """Maps phi_s and phi_t of thirty samples, labels of 1 and -1, and the stationary point that a fit gives."""
    S, T = rng.standard_normal((30, 6)), rng.standard_normal((30, 6))
    y = np.where(TWO == "yes", 1.0, -1.0)
    model = AsymmetricLSSVC(C, kernel="precomputed").fit(S @ T.T, TWO)
    alpha, beta = y * model.left_duals_[:, 0], y * model.right_duals_[:, 0]
    w, v = T.T @ (beta * y), S.T @ (alpha * y)
    b1, b2 = float(model.source_intercept_[0]), float(model.target_intercept_[0])
    return S, T, y, Primal(w, v, b1, b2, 1 - y * (S @ w + b1), 1 - y * (T @ v + b2), alpha, beta), model


def test_equations_5_to_11_hold_at_the_solution(solved):
    S, T, y, (w, v, b1, b2, e, h, alpha, beta), model = solved
    H = y[:, None] * (S @ T.T) * y
    np.testing.assert_allclose(alpha / C + H @ beta + y * b1, 1, atol=TIGHT)  # (6), (10), (11)
    np.testing.assert_allclose(beta / C + H.T @ alpha + y * b2, 1, atol=TIGHT)
    np.testing.assert_allclose([y @ alpha, y @ beta], 0, atol=TIGHT)
    np.testing.assert_allclose(C * e, alpha, atol=TIGHT)  # (9)
    np.testing.assert_allclose(C * h, beta, atol=TIGHT)
    np.testing.assert_allclose(model.source_decision_function(S @ T.T), S @ w + b1, atol=TIGHT)  # (7)
    np.testing.assert_allclose(model.target_decision_function(T @ S.T), T @ v + b2, atol=TIGHT)


def test_equations_8_and_9_the_lagrangian_is_stationary_in_every_variable(solved, rng):
    S, T, y, point, _ = solved
    for name in Primal._fields:
        value = np.asarray(getattr(point, name))
        change = rng.standard_normal(value.shape)
        ahead, behind = (point._replace(**{name: value + t * change}).lagrangian(S, T, y) for t in (1, -1))
        assert abs(ahead - behind) <= TIGHT * max(abs(ahead), abs(behind)), name  # a quadratic without a linear term


def test_the_term_of_equation_5_is_a_norm_of_a_pseudo_euclidean_space(solved):
    """w'v = |G'(w, v)|^2 / 2 in the metric diag(1, -1), where G holds the eigenvectors of [[0, I], [I, 0]]."""
    *_, (w, v, *_), _ = solved
    p = len(w)
    values, G = np.linalg.eigh(np.block([[np.zeros((p, p)), np.eye(p)], [np.eye(p), np.zeros((p, p))]]))
    np.testing.assert_allclose(values, np.repeat([-1.0, 1.0], p), atol=TIGHT)
    turned = G.T @ np.concatenate([w, v])
    assert w @ v == pytest.approx(turned @ (values * turned) / 2, rel=TIGHT)


@pytest.mark.parametrize("indefinite", [False, True], ids=["equation_2", "equation_3"])
def test_equations_2_to_4_and_12_symmetric_kernels_give_the_classical_machine(indefinite, rng):
    F = rng.standard_normal((30, 6))
    metric = np.r_[np.ones(4), -np.ones(2) if indefinite else np.ones(2)]
    y, K = np.where(TWO == "yes", 1.0, -1.0), (F * metric) @ F.T
    model = AsymmetricLSSVC(C, kernel="precomputed").fit(K, TWO)
    bordered = np.block([[np.zeros((1, 1)), y[None]], [y[:, None], np.eye(30) / C + y[:, None] * K * y]])
    b, *alpha = np.linalg.solve(bordered, np.r_[0.0, np.ones(30)])
    for duals, intercept in (
        (model.left_duals_, model.source_intercept_),
        (model.right_duals_, model.target_intercept_),
    ):
        np.testing.assert_allclose(y * duals[:, 0], alpha, atol=TIGHT)
        np.testing.assert_allclose(intercept, b, atol=TIGHT)
    w = F.T @ (alpha * y)  # of (2), and with the metric of (3); the gradient of either primal problem vanishes
    xi = 1 - y * ((F * metric) @ w + b)
    np.testing.assert_allclose(metric * w - C * (F * metric).T @ (y * xi), 0, atol=TIGHT)
    assert abs(y @ xi) <= TIGHT


def test_equation_1_a_support_vector_machine_sees_the_symmetric_part_alone(rng):
    S, y = rng.standard_normal((30, 30)), np.where(TWO == "yes", 1.0, -1.0)
    alpha, H = rng.random(30), y[:, None] * S * y
    assert alpha @ H @ alpha == pytest.approx(alpha @ (H + H.T) @ alpha / 2, rel=TIGHT)
    K = S @ S.T + np.triu(S, 1) - np.triu(S, 1).T  # asymmetric, with a semidefinite symmetric part
    one, other = (AsymmetricLSSVC(C, kernel="precomputed", merge="source").fit(G, TWO) for G in (K, (K + K.T) / 2))
    assert np.abs(one.source_decision_function(K) - other.source_decision_function(K)).max() > 0.1
    assert SVC(kernel="precomputed").fit((K + K.T) / 2, TWO).score((K + K.T) / 2, TWO) > 0.9


@either
@pytest.mark.parametrize("kernel", ["sne", "rbf", "precomputed"])
def test_diagnostics_of_a_fit_are_residuals_of_dense_algebra(estimator, kernel, rng):
    data = rng.standard_normal((30, 30)) if kernel == "precomputed" else X
    y = targets_of(estimator)
    model = estimator(C, kernel=kernel).fit(data, y)
    found = model.diagnostics(data, y)
    assert found.worst <= TIGHT
    K = data if kernel == "precomputed" else model.kernel_(data, data)
    Y = np.where(y[:, None] == np.unique(y), 1.0, -1.0) if estimator is AsymmetricLSSVC else y[:, None]
    a, c = model.left_duals_, model.right_duals_
    objective = np.sum(a * (K @ c), axis=0) + (np.square(a).sum(axis=0) + np.square(c).sum(axis=0)) / (2 * C)
    np.testing.assert_allclose(found.objective, objective, rtol=1e-8)
    np.testing.assert_allclose(np.sum((a + c) * Y, axis=0) / 2, objective, rtol=1e-8)
    assert len(str(found).splitlines()) == 1 + len(found.objective)


def test_diagnostics_are_what_dense_algebra_gives_for_any_duals(rng):
    K, Y, a, c = rng.standard_normal((8, 8)), *rng.standard_normal((3, 8, 2))
    e, h = Y - K @ c - 0.3, Y - K.T @ a + 0.2
    found = diagnose_primal(a, c, K @ c, e, h, Y, C)
    for i in range(2):
        terms = a[:, i] @ K @ c[:, i], C / 2 * e[:, i] @ e[:, i], C / 2 * h[:, i] @ h[:, i]
        dual = (a[:, i] + c[:, i]) @ Y[:, i] / 2
        assert found.objective[i] == pytest.approx(sum(terms))
        assert found.gap[i] == pytest.approx((sum(terms) - dual) / (sum(map(abs, terms)) + abs(dual)))
        assert found.source[i] == pytest.approx(scipy.linalg.norm(a[:, i] / C - e[:, i]) / scipy.linalg.norm(Y[:, i]))
        assert found.target[i] == pytest.approx(scipy.linalg.norm(c[:, i] / C - h[:, i]) / scipy.linalg.norm(Y[:, i]))
        assert found.source_sum[i] == pytest.approx(abs(a[:, i].sum()) / np.abs(a[:, i]).sum())
        assert found.target_sum[i] == pytest.approx(abs(c[:, i].sum()) / np.abs(c[:, i]).sum())


def test_diagnostics_see_damping_and_refuse_what_is_not_of_the_fit():
    damped = AsymmetricLSSVC(1.0, damping=1.0, kernel="sne").fit(X, TWO)
    assert damped.diagnostics(X, TWO).worst > 1e-3
    model = AsymmetricLSSVC(C, kernel="sne").fit(sparse.csr_array(X), THREE)
    assert model.diagnostics(sparse.csr_array(X), THREE).worst <= TIGHT
    with pytest.raises(ValueError, match="X holds 7 samples, but the model has duals of 30"):
        model.diagnostics(NEW, THREE[:7])
    with pytest.raises(ValueError, match="whose solver must not be 'nystrom'"):
        AsymmetricLSSVR(C, solver=Nystrom(10), kernel="sne").fit(X, REAL).diagnostics(X, REAL)
