"""Splits of edges and scores of links, as the benchmarks draw and compute them."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components


@pytest.fixture
def protocols(benchmark_part):
    return benchmark_part("linkprotocols")


@pytest.fixture(params=[True, False], ids=["directed", "undirected"])
def graph(request, benchmark_part):
    return benchmark_part("graphsets").generated(request.param)


@pytest.fixture(params=["half_reversed", "public"])
def protocol(request, protocols):
    return getattr(protocols, request.param)


def test_hidden_edges_are_edges_that_the_graph_to_learn_from_lacks(protocol, graph, protocols):
    split = protocol(graph, 0)
    whole = protocols.largest_component(graph.adjacency) if protocol is protocols.public else graph.adjacency
    assert (whole[split.positive] == 1).all()
    assert (split.adjacency[split.positive] == 0).all()
    assert (whole[split.negative] == 0).all()
    assert len(split.positive[0]) == len(split.negative[0]) > 0
    assert (split.adjacency > whole).nnz == 0
    if not graph.directed:
        assert (split.adjacency != split.adjacency.T).nnz == 0


def test_splits_depend_on_the_seed_alone(protocol, graph):
    first, again, other = (protocol(graph, seed) for seed in (1, 1, 2))
    assert (first.adjacency != again.adjacency).nnz == 0
    np.testing.assert_array_equal(first.negative, again.negative)
    assert (first.adjacency != other.adjacency).nnz > 0


def test_public_split_keeps_the_graph_connected_and_four_fifths_of_its_edges(graph, protocols):
    split = protocols.public(graph, 0)
    edges = protocols.largest_component(graph.adjacency).nnz
    assert connected_components(split.adjacency, connection="weak")[0] == 1
    assert split.adjacency.nnz == pytest.approx(0.8 * edges, abs=4)
    assert len(split.positive[0]) * (1 if graph.directed else 2) == pytest.approx(0.15 * edges, abs=2)


def test_a_scorer_that_knows_the_answer_is_perfect_and_its_negative_the_worst(graph, protocols, benchmark_part):
    split = protocols.half_reversed(graph, 0)
    by_matrix = benchmark_part("contenders").ByMatrix
    knows, errs = (by_matrix(sign * graph.adjacency, split.adjacency) for sign in (1, -1))
    assert set(protocols.separation(knows, split).values()) == {1.0}
    assert protocols.recall(knows, split, graph.directed) == 1
    assert protocols.separation(errs, split)["AUC"] == 0
    assert protocols.recall(errs, split, graph.directed) < 0.3


def test_ranks_and_hits_by_hand(protocols):
    class Fixed:
        def pairs(self, u, v):
            return u

    negative = np.arange(100.0)
    positive = np.array([200.0, 99.0, 79.5])  # ranks 1, 1.5 and 21
    found = protocols.separation(Fixed(), protocols.Split(None, (positive, positive), (negative, negative)))
    assert found["Hits@20"] == pytest.approx(2 / 3) and found["Hits@50"] == 1 and "Hits@100" not in found
    assert found["MRR"] == pytest.approx((1 + 1 / 1.5 + 1 / 21) / 3)
