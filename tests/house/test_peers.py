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


def test_pivots_of_cholesky_with_labels_have_the_largest_gain(benchmark_part, rng):
    X, classes = rng.standard_normal((14, 3)), np.arange(14) % 3
    K, Y = np.exp(-np.square(X[:, None] - X).sum(axis=2) / 3), np.eye(3)[classes]
    Y_centred = Y - Y.mean(axis=0)
    share = benchmark_part("prior_baselines").PREDICTION

    def lost(chosen):
        """What the chosen columns leave of the trace and of the labels, in one number."""
        if not chosen:
            return 1.0
        rest = K - K[:, chosen] @ np.linalg.solve(K[np.ix_(chosen, chosen)], K[chosen])
        G = K[:, chosen] - K[:, chosen].mean(axis=0)
        wrong = Y_centred - G @ np.linalg.lstsq(G, Y_centred, rcond=None)[0]
        return (1 - share) * np.trace(rest) / np.trace(K) + share * np.vdot(wrong, wrong) / np.vdot(
            Y_centred, Y_centred
        )

    order = benchmark_part("prior_baselines").pivots(K, Y).tolist()
    for step in range(8):
        others = [lost([*order[:step], i]) for i in range(14) if i not in order[:step]]
        assert lost(order[: step + 1]) == pytest.approx(min(others), abs=1e-12)
    assert sorted(order) == list(range(14))


def test_no_descending_weights_have_more_alignment_than_those_of_the_spectral_transform(benchmark_part, rng):
    U, classes, known = np.linalg.qr(rng.standard_normal((30, 7)))[0], rng.integers(3, size=30), np.arange(18)
    weights = np.square(benchmark_part("prior_baselines").spectral_transform(U, classes, known) / U).mean(axis=0)
    assert (np.diff(weights[1:]) <= 1e-12).all() and weights[-1] >= 0
    T = np.where(classes[known][:, None] == classes[known], 1.0, -0.5)

    def alignment(weights):
        K = (U[known] * weights) @ U[known].T
        return np.vdot(K, T) / np.linalg.norm(K)

    free, steps = rng.random((2000, 1)), rng.random((2000, 6)) ** 4
    others = np.hstack([free, np.cumsum(steps, axis=1)[:, ::-1]])
    best = alignment(weights)
    for other in others:
        assert alignment(other) < best
        assert alignment(weights + 1e-3 * other) <= best + 1e-9
