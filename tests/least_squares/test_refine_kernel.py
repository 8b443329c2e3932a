"""Kernels that few samples chose, compared again on many."""

import numpy as np
import pytest

from lopsided import AsymmetricLSSVC, AsymmetricLSSVR, Nystrom
from lopsided.kernels import RBF, SNE, Laplacian, Linear, StudentT
from lopsided.least_squares import base, refine_kernel, select_kernel
from lopsided.least_squares.select_kernel import Compared, KernelPath

FEW = 60  # samples that choose first
RNG = np.random.default_rng(0)
X, NEW = RNG.uniform(-1, 1, (2, 900, 2))


def wavy(points):
    return np.sin(9 * points[:, 0]) * np.cos(9 * points[:, 1])


Y = wavy(X) + 0.3 * RNG.standard_normal(len(X))


@pytest.fixture(autouse=True)
def small_numbers(monkeypatch):
    monkeypatch.setattr(select_kernel, "FIRST_SAMPLES", FEW)
    monkeypatch.setattr(select_kernel, "MOST_SAMPLES", FEW)
    monkeypatch.setattr(refine_kernel, "LANDMARKS", 200)


def test_many_samples_tell_finer_functions_than_few(monkeypatch):
    refined = AsymmetricLSSVR().fit(X, Y)
    monkeypatch.setattr(refine_kernel, "WORTHWHILE", np.inf)
    by_few = AsymmetricLSSVR().fit(X, Y)
    assert by_few.kernel_path_[0].n_samples == FEW < refined.kernel_path_[0].n_samples == len(X)
    errors = [1 - model.score(NEW, wavy(NEW)) for model in (refined, by_few)]
    assert errors[0] < 0.85 * errors[1]


@pytest.mark.parametrize("labelled", [False, True])
def test_what_is_compared_is_the_held_out_error_of_that_model(labelled):
    machine, y = (AsymmetricLSSVC, Y > 0) if labelled else (AsymmetricLSSVR, Y)
    path = machine(random_state=0).fit(X, y).kernel_path_
    later = [each for each in path if each.n_samples == len(X)]
    assert path[: len(later)] == tuple(sorted(later, key=lambda each: each.error))
    assert len({type(each.kernel) for each in later}) > 1
    for kernel, C, error, score, _ in [] if labelled else later[:3]:  # a given kernel has C by squared errors
        again = machine(kernel=kernel, solver=Nystrom(200), random_state=0).fit(X, y)
        assert pytest.approx(C) == again.C_
        assert again.held_out_score_ == pytest.approx(score)
        held_out = np.clip(again.held_out_predictions_, y.min(), y.max())
        assert np.mean((held_out - y) ** 2) == pytest.approx(error)


def test_bandwidths_become_narrower_until_errors_rise_and_closer_at_the_best():
    path = AsymmetricLSSVR().fit(X, Y).kernel_path_
    best = path[0].kernel
    tried = [each.kernel.bandwidth for each in path if each.n_samples == len(X) and type(each.kernel) is type(best)]
    ratios = np.sort(np.array(tried) / best.bandwidth)
    assert ratios.min() < 0.9  # an error that rose ended the search
    assert (ratios[1:] / ratios[:-1]).min() == pytest.approx(2**0.5)


def test_a_linear_function_stays_linear():
    y = X @ [1.0, -2.0] + 0.1 * RNG.standard_normal(len(X))
    model = AsymmetricLSSVR().fit(X, y)
    assert isinstance(model.kernel_, Linear) or model.score(NEW, NEW @ [1.0, -2.0]) > 0.999


def test_a_few_more_samples_and_a_small_budget_change_nothing():
    n = 3 * FEW - 1
    assert AsymmetricLSSVR().fit(X[:n], Y[:n]).kernel_path_[0].n_samples == FEW
    model = AsymmetricLSSVR(memory_budget="1MB").fit(X, Y)
    assert model.kernel_path_[0].n_samples == FEW


@pytest.mark.parametrize("first", [RBF(0.3), SNE(0.3)])
def test_asymmetric_kernels_are_compared_again_if_one_came_first(first, monkeypatch):
    def ranked(*arguments, **settings):
        others = [StudentT(0.3), Laplacian(0.3)]
        return KernelPath(Compared(kernel, 1.0, 0.1, 0.9, FEW) for kernel in [first, *others])

    monkeypatch.setattr(base, "rank_kernels", ranked)
    path = AsymmetricLSSVR().fit(X, Y).kernel_path_
    kinds = {type(each.kernel) for each in path if each.n_samples == len(X)}
    assert kinds == ({RBF, Laplacian} if first.symmetric else {SNE, StudentT, Laplacian})


def test_a_list_of_kernels_is_compared_as_it_is():
    model = AsymmetricLSSVR(kernel=[Linear()]).fit(X, Y)
    assert [each.n_samples for each in model.kernel_path_] == [FEW]


def test_what_landmarks_cannot_stand_for_is_left_out(monkeypatch):
    def refuse(*arguments, **settings):
        raise ValueError("the approximation vanishes")

    monkeypatch.setattr(refine_kernel, "saddle_of_landmarks", refuse)
    assert AsymmetricLSSVR().fit(X, Y).kernel_path_[0].n_samples == FEW
