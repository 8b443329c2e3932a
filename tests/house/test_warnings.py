"""Every warning names the line of the caller that it is about, however deep in the library it arises."""

import ast
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lopsided
from cases import centred, with_spectrum
from lopsided import (
    AsymmetricLSSVC,
    DirectedGraphEmbedding,
    KernelBiclustering,
    KernelSVD,
    LearnedKernelSVDRegressor,
    Nystrom,
    PriorNystroem,
)
from lopsided.exceptions import (
    AccuracyWarning,
    ConvergenceWarning,
    FallbackWarning,
    LopsidedWarning,
    NearSingularWarning,
    RankWarning,
)
from lopsided.kernels import SNE, Diffusion, Katz, Linear, NodeKernel, Polynomial
from lopsided.operators import Stored
from lopsided.svd.krylov import krylov

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3))
y = np.where(np.arange(40) < 20, 0, 1)
GRAPH = (RNG.random((30, 30)) < 0.2).astype(float)
NODES = np.arange(30)[:, None]
TWO = np.arange(2)[:, None]


def near_singular():
    s = np.linalg.svd(centred(SNE(1.0)(X, X)), compute_uv=False)
    AsymmetricLSSVC(1 / s[4], kernel=SNE(1.0)).fit(X, y)


def unconverged_krylov():
    K = with_spectrum(np.linspace(1, 0.99, 200), 200, 200, RNG)
    krylov(Stored(K), 5, rng=RNG, max_steps=4)


def diverging_rounds():
    settings = {"optimizer": "adam", "learning_rate": 1e60, "n_iter_no_change": 3, "max_iter": 8}
    LearnedKernelSVDRegressor(kernel=Polynomial(8), **settings).fit(X, X[:, 0])


WARNINGS = {
    "near singular": (NearSingularWarning, near_singular),
    "krylov": (ConvergenceWarning, unconverged_krylov),
    "learned": (ConvergenceWarning, diverging_rounds),
    "katz": (ConvergenceWarning, lambda: Katz(np.ones((2, 2)), beta=0.5 - 1e-9)([[0]], [[1]])),
    "prior, steps": (ConvergenceWarning, lambda: PriorNystroem(10, prior_weight=1e-4, tol=1e-12, max_iter=1).fit(X, y)),
    "prior, rank": (RankWarning, lambda: PriorNystroem(50).fit(X)),
    "prior, labels": (LopsidedWarning, lambda: PriorNystroem(10).fit(X, np.zeros(40, dtype=int))),
    "katz, by scipy": (
        ConvergenceWarning,
        lambda: KernelSVD(1, kernel=Katz(np.ones((2, 2)), beta=0.5 - 1e-9)).fit(TWO, Z=TWO),
    ),
    "in a search": (
        RankWarning,
        lambda: GridSearchCV(make_pipeline(PriorNystroem(50), LogisticRegression()), {}, cv=2).fit(X, y),
    ),
    "in a pipeline": (RankWarning, lambda: make_pipeline(StandardScaler(), PriorNystroem(50)).fit(X)),
    "fit_transform": (RankWarning, lambda: PriorNystroem(50).fit_transform(X)),
    "solver": (FallbackWarning, lambda: KernelSVD(38, solver="krylov").fit(X, Z=X)),
    "landmarks": (RankWarning, lambda: KernelSVD(6, kernel=Linear(), solver=Nystrom(12)).fit(X, Z=X)),
    "leverage": (
        RankWarning,
        lambda: KernelSVD(6, kernel="linear", solver=Nystrom(12, landmarks="leverage")).fit(X, Z=X),
    ),
    "tolerance": (
        AccuracyWarning,
        lambda: KernelSVD(2, solver=Nystrom(landmarks=(range(4), range(4))), tol=1e-9).fit(X, Z=X[::-1]),
    ),
    "nodes": (RankWarning, lambda: DirectedGraphEmbedding(31).fit(GRAPH)),
    "budget": (FallbackWarning, lambda: DirectedGraphEmbedding(2, kernel=SNE(1.0), memory_budget=1000).fit(GRAPH)),
    "degrees": (LopsidedWarning, lambda: NodeKernel(np.eye(3, k=1), normalize="left")([[0]], [[1]])),
    "threshold": (
        FallbackWarning,
        lambda: Diffusion(GRAPH, direction="undirected", threshold=1e-9, memory_budget=8000).fit(NODES, NODES),
    ),
    "clusters": (LopsidedWarning, lambda: KernelBiclustering(4).fit(X)),
    "alike": (LopsidedWarning, lambda: KernelBiclustering(3).fit(np.ones((6, 6)))),
}


@pytest.mark.parametrize(("category", "provoke"), WARNINGS.values(), ids=WARNINGS)
def test_warnings_name_the_line_of_the_caller(category, provoke):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        provoke()
    ours = [warning for warning in caught if issubclass(warning.category, LopsidedWarning)]
    assert ours and all(warning.filename == __file__ for warning in ours)
    assert ours[0].category is category


def test_one_function_warns_and_none_touches_the_filters():
    """Filters belong to the process: threads that put them back at the same time leave those of one another."""
    for path in Path(lopsided.__file__).parent.rglob("*.py"):
        names = {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
        assert "warn" not in names or path.name == "exceptions.py", path
        of_the_command = path.parent.name == "cli"  # which has the process to itself
        assert of_the_command or not names & {"catch_warnings", "simplefilter", "filterwarnings"}, path
