"""NodeKernel: the entries of an adjacency as a kernel, in the library and in scikit-learn."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from cases import PLENTY
from lopsided import AsymmetricLSSVC, KernelSVD, Nystrom
from lopsided.datasets import make_citation_graph
from lopsided.exceptions import LopsidedWarning
from lopsided.kernels import RBF, Katz, NodeKernel
from lopsided.operators import as_operator, is_matrix_free

A = np.array([[0, 2, 1, 0], [0, 0, 1, 0], [3, 0, 0, 1], [1, 0, 0, 0]], dtype=float)
LEFT, RIGHT = np.array([[2], [0], [2]]), np.array([[1], [3]])
every_form = pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.coo_array], ids=lambda f: f.__name__)


def expected(normalize, loops):
    G = A + loops * np.eye(4)
    rows, columns = G.sum(axis=1, keepdims=True), G.sum(axis=0)
    return {None: G, "left": G / rows, "right": G / columns, "both": G / np.sqrt(rows * columns)}[normalize]


@every_form
@pytest.mark.parametrize("loops", [0.0, 0.5])
@pytest.mark.parametrize("normalize", [None, "left", "right", "both"])
def test_values_are_entries_of_the_normalised_adjacency(normalize, loops, make):
    adjacency = make(A)
    kernel = NodeKernel(adjacency, normalize=normalize, self_loops=loops)
    G = expected(normalize, loops)[[2, 0, 2]][:, [1, 3]]
    np.testing.assert_allclose(kernel(LEFT, RIGHT), G, rtol=1e-14)
    np.testing.assert_allclose(kernel.T(RIGHT, LEFT), G.T, rtol=1e-14)
    np.testing.assert_allclose((2 * kernel + kernel)(LEFT, RIGHT), 3 * G, rtol=1e-14)
    np.testing.assert_array_equal(adjacency.toarray() if sparse.issparse(adjacency) else adjacency, A)


def test_both_sides_normalised_bound_the_singular_values_by_one():
    graph, _ = make_citation_graph(300, random_state=0)
    nodes = np.arange(300)[:, None]
    K = NodeKernel(graph, normalize="both", self_loops=1.0)(nodes, nodes)
    assert np.linalg.norm(K, 2) == pytest.approx(1.0, rel=1e-12)


@every_form
def test_the_operator_keeps_the_form_of_the_adjacency(make):
    kernel = NodeKernel(make(A)).fit(LEFT, RIGHT)
    operator = as_operator(kernel, LEFT, RIGHT, budget=PLENTY)
    assert sparse.issparse(operator.K) == (make is not np.asarray)
    np.testing.assert_array_equal(operator.take(), A[[2, 0, 2]][:, [1, 3]])
    np.testing.assert_array_equal(as_operator(kernel.T, RIGHT, LEFT, budget=PLENTY).take(), operator.take().T)


def test_nodes_without_edges_keep_their_zeros_with_a_warning():
    graph = np.zeros((3, 3))
    graph[0, 1] = 1.0
    nodes = np.arange(3)[:, None]
    with pytest.warns(LopsidedWarning, match="2 nodes have a row that sums to zero.*self_loops=1.0"):
        np.testing.assert_array_equal(NodeKernel(graph, normalize="left")(nodes, nodes), graph)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NodeKernel(graph, normalize="left", self_loops=1.0)(nodes, nodes)
        NodeKernel(graph)(nodes, nodes)


def test_self_loops_that_are_there_are_not_advised():
    with pytest.warns(LopsidedWarning, match="1 node has a row that sums to zero.*negative weights cancel"):
        NodeKernel([[0.0, -1.0], [1.0, 0.0]], normalize="left", self_loops=1.0)([[0]], [[1]])


@pytest.mark.parametrize(
    ("kernel", "nodes", "message"),
    [
        (NodeKernel(A), [[4]], "^4 is not a node.*from 0 to 3"),
        (NodeKernel(A), [[-1]], "^-1 is not a node"),
        (NodeKernel(A), [[0.5]], "0.5 is not a node"),
        (NodeKernel(A), [[0, 1]], r"one column.*\(2, 2\)"),
        (NodeKernel(A[:3]), [[0]], r"shape \(3, 4\).*square"),
        (NodeKernel(np.where(A > 2, np.nan, A)), [[0]], "adjacency contains NaN"),
        (NodeKernel(-A, normalize="left"), [[0]], "row 2 sums to -4.*weights >= 0"),
        (NodeKernel(1e-310 * A, normalize="right"), [[0]], "column 0 sums to 4e-310.*reciprocal; rescale the weights"),
        (
            NodeKernel(np.float32(1e38) * A.astype("f"), normalize="both"),
            [[0]],
            "row 2 sums to inf, .*float32 cannot",
        ),
        (NodeKernel(A, normalize="rows"), [[0]], "normalize.*Got 'rows'"),
        (NodeKernel(A, self_loops=-1.0), [[0]], "self_loops.*Got -1.0"),
        (NodeKernel("graph"), [[0]], "adjacency.*Got 'graph'"),
    ],
    ids=[
        "beyond",
        "negative",
        "fraction",
        "two_columns",
        "not_square",
        "nan",
        "weights",
        "tiny",
        "huge",
        "name",
        "loops",
        "text",
    ],
)
def test_bad_nodes_and_graphs_are_refused(kernel, nodes, message):
    with pytest.raises(ValueError, match=message):
        kernel(nodes, nodes)


def test_a_grid_search_classifies_nodes_straight_from_the_adjacency():
    graph, labels = make_citation_graph(400, n_classes=3, random_state=0)
    nodes = np.arange(400)[:, None]
    model = AsymmetricLSSVC(0.5, kernel=NodeKernel(graph, normalize="both"), merge="stack")
    grid = {"kernel__self_loops": [0.3, 1.0], "C": [0.1, 0.5]}
    search = GridSearchCV(model, grid, cv=3).fit(nodes[:300], labels[:300])
    assert search.score(nodes[300:], labels[300:]) > 0.7
    assert search.best_estimator_.solver_.name in ("sparse_lu", "dense", "spectral")


def test_a_fold_sees_the_rows_and_the_columns_of_its_nodes():
    """Both blocks of the held-out nodes enter: with the target function alone the columns decide."""
    graph, labels = make_citation_graph(300, n_classes=2, homophily=0.9, random_state=1)
    nodes = np.arange(300)[:, None]
    for merge in ("source", "target"):
        model = AsymmetricLSSVC(0.5, kernel=NodeKernel(graph, normalize="both", self_loops=1.0), merge=merge)
        assert cross_val_score(model, nodes, labels, cv=3).mean() > 0.6
        fitted = model.fit(nodes[:200], labels[:200])
        G = model.kernel_.matrix_.toarray()
        block = G[200:, :200] @ fitted.right_duals_ + fitted.source_intercept_
        if merge == "target":
            block = G[:200, 200:].T @ fitted.left_duals_ + fitted.target_intercept_
        np.testing.assert_allclose(fitted.decision_function(nodes[200:]), block[:, 0], rtol=1e-10)


def test_a_node_kernel_is_cloned_and_decomposed_like_any_other():
    kernel = NodeKernel(sparse.csr_array(A), normalize="both", self_loops=1.0)
    assert clone(kernel).get_params()["normalize"] == "both"
    nodes = np.arange(4)[:, None]
    model = KernelSVD(2, kernel=kernel).fit(nodes, Z=nodes)
    s = np.linalg.svd(expected("both", 1.0), compute_uv=False)
    np.testing.assert_allclose(model.singular_values_, s[:2], rtol=1e-12)


@pytest.mark.parametrize("kernel", [NodeKernel, Katz])
def test_arithmetic_on_a_kernel_of_a_graph_keeps_its_structure(kernel, monkeypatch):
    monkeypatch.setattr("lopsided.svd.policy.LARGE_MATRIX", 1 << 10)
    graph = sparse.random_array((900, 900), density=0.01, rng=np.random.default_rng(0), format="csr")
    nodes, k = np.arange(900)[:, None], kernel(graph)
    s = KernelSVD(3, kernel=k, memory_budget="10MB").fit(nodes, Z=nodes).singular_values_
    for made, factor in ((k.T, 1), (2 * k, 2), ((2 * k).T, 2), (2 * k.T, 2), (k + k, 2), (3 * (k + 2 * k).T, 9)):
        model = KernelSVD(3, kernel=made, memory_budget="10MB").fit(nodes, Z=nodes)
        np.testing.assert_allclose(model.singular_values_, factor * s, rtol=1e-10)
        assert model.solver_.name == "krylov"
        assert not as_operator(model.kernel_, nodes, nodes, budget=0).matrix_free


def test_a_kernel_of_a_graph_and_one_of_vectors_add_up():
    graph = sparse.random_array((60, 60), density=0.1, rng=np.random.default_rng(0), format="csr")
    nodes, k = np.arange(60.0)[:, None], NodeKernel(graph) + RBF(5.0)
    K = graph.toarray() + RBF(5.0)(nodes, nodes)
    for budget in (0, 1 << 20):
        A = as_operator(k.fit(nodes, nodes), nodes, nodes, budget=budget)
        np.testing.assert_allclose(A.take(), K, atol=1e-14)
        assert A.matrix_free == (budget == 0) == is_matrix_free(k, nodes, nodes, budget)


@pytest.mark.parametrize("kernel", [NodeKernel(A).T, 2 * NodeKernel(A), NodeKernel(A) + RBF()], ids=repr)
def test_landmarks_of_nodes_cannot_be_means_under_any_composition(kernel):
    with pytest.raises(ValueError, match="landmarks='kmeans' needs points.*numbers of nodes"):
        KernelSVD(1, kernel=kernel, solver=Nystrom(landmarks="kmeans")).fit([[0], [1]], Z=[[1], [2]])
