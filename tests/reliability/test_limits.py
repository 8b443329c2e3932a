"""What does not fit the memory budget is refused before the work, with the smallest budget that works."""

import re

import numpy as np
import pytest

from lopsided import AsymmetricLSSVC, AsymmetricLSSVR, KernelSVD, Nystrom
from lopsided.exceptions import FallbackWarning
from soak import limits
from soak.limits import LEAK, interrupt, run_case

N = 500
X = np.random.default_rng(0).standard_normal((N, 4))
Y = np.arange(N) % 2
ASKED = {
    "lapack": lambda budget: KernelSVD(3, kernel="rbf", solver="lapack", memory_budget=budget).fit(X, Z=X[::-1]),
    "nystrom": lambda budget: KernelSVD(3, kernel="rbf", solver=Nystrom(N), memory_budget=budget).fit(X, Z=X),
    **{
        name: lambda budget, name=name: AsymmetricLSSVC(0.1, kernel="rbf", solver=name, memory_budget=budget).fit(X, Y)
        for name in ("dense", "symmetric", "spectral")
    },
    "regression": lambda budget: AsymmetricLSSVR(0.1, kernel="sne", solver="dense", memory_budget=budget).fit(X, Y),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_solver_that_exceeds_the_budget_is_refused_with_the_smallest_that_works(name):
    with pytest.raises(ValueError, match="above the budget of 100000; raise memory_budget to that") as caught:
        ASKED[name](100_000)
    needed = int(re.search("needs? ([0-9]+) bytes", str(caught.value))[1])
    with pytest.raises(ValueError, match="above the budget"):
        ASKED[name](needed - 1)
    ASKED[name](needed)


def test_too_many_components_for_the_budget_are_refused_before_the_work():
    with pytest.raises(ValueError, match="solver='lapack' needs .* bytes .* use fewer components"):
        KernelSVD(N, kernel="rbf", memory_budget="1MB").fit(X, Z=X[::-1])
    with pytest.warns(FallbackWarning, match="lapack gives the answer"):
        KernelSVD(N, kernel="rbf", solver="krylov", memory_budget="100MB").fit(X, Z=X[::-1])


def test_an_interrupt_ends_a_fit_and_leaves_the_model_as_it_was(monkeypatch):
    monkeypatch.setattr(limits, "INTERRUPTED_AFTER", 0.05)  # seconds; the fits last longer
    found = interrupt("LearnedKernelSVDRegressor/0")
    assert found["threads"] == 0 and not found["files"] and not found["changed"]


def test_fits_leave_neither_memory_nor_open_files_behind():
    found = run_case("leak", "KernelSVD/0", "100")  # in a process without the sockets of other tests
    assert found["bytes"] <= LEAK and found["files"] == 0
