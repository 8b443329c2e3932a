"""The peers that benchmarks write from their papers compute what the papers say, by dense formulas."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from lopsided.datasets import make_directed_blocks

GRAPH = make_directed_blocks(120, n_classes=3, mean_degree=6.0, random_state=0)[0]


@pytest.fixture
def peers(benchmark_part):
    return benchmark_part("peers")


def test_hope_factorises_the_katz_similarity(peers):
    A = GRAPH.toarray()
    beta = 0.5 / abs(np.linalg.eigvals(A)).max()
    katz = np.linalg.solve(np.eye(len(A)) - beta * A, beta * A)
    source, target = peers.hope(GRAPH, len(A), 0)
    np.testing.assert_allclose(source @ target.T, katz, atol=1e-3 * katz.max())


def test_personalised_pagerank_is_exact_up_to_the_threshold(peers):
    found, threshold = peers.personalised_pagerank(GRAPH).toarray(), 1e-5
    A = GRAPH.toarray()
    P = A / np.maximum(A.sum(axis=1, keepdims=True), 1)
    exact = 0.5 * np.linalg.inv(np.eye(len(A)) - 0.5 * P)
    np.fill_diagonal(exact, 0)
    assert np.abs(exact - found).max() < 1.1 * threshold
    assert found[found > 0].min() > threshold


def test_strap_factorises_logarithms_of_transpose_proximities(peers):
    turned = sparse.csr_array(GRAPH.T)
    both = (peers.personalised_pagerank(GRAPH) + peers.personalised_pagerank(turned).T).toarray()
    source, target = peers.strap(GRAPH, GRAPH.shape[0], 0)
    np.testing.assert_allclose(source @ target.T, np.log10(np.maximum(both / 1e-5, 1)), atol=1e-3)


def test_pagerank_is_that_of_networkx(peers):
    wanted = nx.pagerank(nx.from_scipy_sparse_array(GRAPH, create_using=nx.DiGraph), tol=1e-12)
    _, rank = peers.pagerank(GRAPH)
    np.testing.assert_allclose(rank[:, 0], [wanted[node] for node in range(GRAPH.shape[0])], rtol=1e-4)


def test_walks_of_node2vec_return_and_leave_as_their_weights_say(peers):
    # A triangle 0, 1, 2 and a leaf 3 at node 1: from 0 to 1, back weighs 1 / p, on to 2 one, and out to 3 1 / q.
    S = nx.to_scipy_sparse_array(nx.Graph([(0, 1), (1, 2), (2, 0), (1, 3)]), nodelist=range(4), dtype=float)
    p, q, many = 0.5, 4.0, np.repeat(1, 40_000)
    edges = np.repeat(np.arange(4), np.diff(S.indptr)) * 4 + S.indices
    steps = peers.walks.next_nodes(S, many, np.zeros_like(many), edges, np.random.default_rng(0), p, q)
    weights = np.array([1 / p, 0, 1, 1 / q])
    np.testing.assert_allclose(np.bincount(steps, minlength=4) / len(many), weights / weights.sum(), atol=0.01)


def test_prone_separates_two_communities(peers):
    rng = np.random.default_rng(0)
    side = np.repeat([0, 1], 60)
    A = sparse.csr_array((rng.random((120, 120)) < np.where(side[:, None] == side, 0.15, 0.01)).astype(float))
    X, same = peers.prone(A, 8, 0)
    assert X is same and X.shape == (120, 8)
    inside = X @ X.T
    assert inside[side[:, None] == side].mean() > inside[side[:, None] != side].mean() + 0.2
