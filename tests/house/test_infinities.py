"""Infinities of both signs, whose sum is no number, are refused by a message alone, also in sparse data."""

import numpy as np
import pytest
from scipy import sparse

from lopsided import KernelSVD
from lopsided.biclustering import coherence_index
from lopsided.graphs import classify_nodes, reconstruct_graph
from lopsided.kernel_svd import split_condition
from lopsided.plotting import plot_biclusters, plot_embeddings
from lopsided.recommendation import ndcg_at_k, ranking_scores, recall_at_k

N = 6
ENDLESS = np.diag([np.inf, -np.inf, 1.0, 1.0, 1.0, 1.0])
ITEMS = np.tile([0, 1], (N, 1))
SIDES = [np.arange(N) % 2] * 2
GRAPH = np.roll(np.eye(N), 1, axis=1)  # a cycle
DENSE = {
    "classify_nodes": lambda X: classify_nodes(X, np.arange(N) % 2),
    "reconstruct_graph": lambda X: reconstruct_graph(X, X, GRAPH),
    "split_condition": split_condition,
    "plot_embeddings": lambda X: plot_embeddings((X, X)),
}
SPARSE = {
    "coherence_index": lambda X: coherence_index(abs(X), np.arange(N) % 2),
    "plot_biclusters": lambda X: plot_biclusters(X, SIDES),
    "recall_at_k": lambda X: recall_at_k(ITEMS, X),
    "ndcg_at_k": lambda X: ndcg_at_k(ITEMS, X),
    "ranking_scores": lambda X: ranking_scores(ITEMS, X),
    "nearest_right": lambda X: KernelSVD(2, kernel="linear").fit(np.eye(N)).nearest_right(np.arange(N), exclude=X),
}
BOTH = [(name, function, kind) for name, function in SPARSE.items() for kind in (np.asarray, sparse.csc_array)]
CASES = [*((name, function, np.asarray) for name, function in DENSE.items()), *BOTH]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "function", "kind"), CASES, ids=[f"{each[0]}-{each[2].__name__}" for each in CASES])
def test_infinities_of_both_signs_are_refused_without_a_warning_of_numpys(name, function, kind, dtype):
    with pytest.raises(ValueError, match="infinity"):
        function(kind(ENDLESS.astype(dtype)))
