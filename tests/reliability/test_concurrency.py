"""Estimators used and fitted from several threads and processes give the same answers."""

import pytest

from soak.concurrency import after_fork, in_backend, nested, used_at_once
from soak.models import estimators


@pytest.mark.parametrize("name", estimators(quick=True))
def test_a_fitted_estimator_answers_eight_threads_alike(name):
    assert used_at_once([name], 1)[2] == []


def test_estimators_fit_on_threads_of_joblib():
    assert in_backend("threading", list(estimators(quick=True)))[2] == []


def test_estimators_fit_in_a_forked_process():
    assert after_fork(["KernelSVD/0", "AsymmetricLSSVC/1", "PriorNystroem/0", "KernelBiclustering/0"])[2] == []


def test_searches_within_searches_give_the_scores_of_one_worker():
    assert nested(40)[2] == []
