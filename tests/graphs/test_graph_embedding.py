"""DirectedGraphEmbedding: vectors, new nodes, ids, scikit-learn, and graphs that cannot be embedded."""

import pickle
import subprocess
import sys
import tracemalloc
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from cases import as_dense, assert_close
from lopsided import DirectedGraphEmbedding, KernelSVD, Nystrom
from lopsided.datasets import make_citation_graph, make_directed_blocks
from lopsided.exceptions import FallbackWarning, LopsidedWarning, RankWarning
from lopsided.graphs import classify_nodes, evaluate_links, hide_edges
from lopsided.kernels import RBF, SNE, Diffusion, GraphKernel, Katz, NodeKernel, as_kernel

GRAPH, LABELS = make_citation_graph(200, n_classes=3, random_state=0)
KERNELS = ["auto", Diffusion(direction="undirected"), "katz", "node_kernel", SNE(1.0), RBF(1.0), "linear"]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
single_kernel = pytest.mark.parametrize("kernel", KERNELS[1:], ids=repr)


class Samples(DirectedGraphEmbedding):
    """The embedding for those checks of scikit-learn that know X as a square array."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


def new_nodes_only(estimator):
    reason = "transform embeds new nodes by their out-edges; fit_transform knows the in-edges of its nodes as well"
    return dict.fromkeys(("check_transformer_general", "check_transformer_data_not_an_array"), reason)


@pytest.mark.filterwarnings("ignore::lopsided.exceptions.RankWarning")
@parametrize_with_checks(
    [Samples(), Samples(kernel="sne", scaling=1.0, decoder="factors")], expected_failed_checks=new_nodes_only
)
def test_the_embedding_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def test_scikit_learn_knows_that_a_graph_is_no_table_of_samples():
    with pytest.warns(SkipTestWarning, match="Can't test estimator DirectedGraphEmbedding"):
        check_estimator(DirectedGraphEmbedding())


def matrix_of(kernel, graph=GRAPH):
    """All values of a kernel on a graph, whatever DirectedGraphEmbedding computes."""
    kernel, A = as_kernel(kernel), graph.toarray()
    if isinstance(kernel, GraphKernel):
        points = [np.arange(len(A))[:, None]] * 2
        return kernel.set_params(adjacency=graph).fit(*points)(*points)
    return kernel.fit(A, A.T)(A, A.T)


@single_kernel
def test_vectors_are_those_of_the_kernel_svd(kernel):
    model = DirectedGraphEmbedding(5, kernel=kernel, scaling=0.5, center=False, tol=0.0).fit(GRAPH)
    K = matrix_of(kernel)
    linked = (GRAPH.sum(axis=1) + GRAPH.sum(axis=0)) > 0
    U, s, Vt = np.linalg.svd(K)
    best = (U[:, :5] * s[:5]) @ Vt[:5]
    found = model.source_embedding_ @ model.target_embedding_.T
    np.testing.assert_allclose(found, best * np.outer(linked, linked), atol=1e-9 * s[0])
    np.testing.assert_allclose(model.singular_values_, s[:5], rtol=1e-9)


def test_rows_are_compared_with_columns():
    model = DirectedGraphEmbedding(4, kernel=SNE(1.5), self_loops=1.0, scaling=1.0, tol=0.0).fit(GRAPH)
    linked = (GRAPH.sum(axis=1) + GRAPH.sum(axis=0)) > 0
    A = GRAPH + sparse.diags_array(linked.astype(float))
    other = KernelSVD(4, kernel=SNE(1.5), center=True).fit(sparse.csr_array(A))
    left, right = other.transform(sparse.csr_array(A)), other.transform_right(sparse.csr_array(A.T))
    np.testing.assert_allclose(model.source_embedding_[linked], left[linked], atol=1e-10)
    np.testing.assert_allclose(model.target_embedding_[linked], right[linked], atol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "rbf", SNE(1.0)])
def test_a_graph_without_a_path_of_two_edges_gives_a_warning(kernel):
    A = np.zeros((8, 8))
    A[:4, 4:] = np.eye(4) + np.eye(4, k=1)
    with pytest.warns(LopsidedWarning, match="no path of two edges.*use self_loops=1.0, or a graph kernel"):
        DirectedGraphEmbedding(2, kernel=kernel).fit(A)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert DirectedGraphEmbedding(2, kernel=kernel, self_loops=1.0).fit(A).source_embedding_.any()
        DirectedGraphEmbedding(2, kernel="node_kernel").fit(A)


def test_normalisation_comes_before_the_kernel():
    linked = np.flatnonzero(GRAPH.sum(axis=1) + GRAPH.sum(axis=0))
    graph = GRAPH[linked][:, linked]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inside = DirectedGraphEmbedding(4, kernel=NodeKernel(normalize="both", self_loops=1.0)).fit(graph)
    outside = DirectedGraphEmbedding(4, kernel="node_kernel", normalize="both", self_loops=1.0).fit(graph)
    assert_close(outside.singular_values_, inside.singular_values_)


@pytest.mark.parametrize("kernel", ["auto", "katz", "node_kernel"])
@pytest.mark.parametrize("normalize", [None, "both"])
def test_isolated_nodes_take_no_component_though_others_have_self_loops(kernel, normalize):
    rng = np.random.default_rng(0)
    few = rng.random((10, 10)) < 0.3
    many = np.zeros((20, 20))
    many[:10, :10] = few
    small, large = (
        DirectedGraphEmbedding(3, kernel=kernel, normalize=normalize, self_loops=1.0).fit(A) for A in (few, many)
    )
    assert_close(large.singular_values_, small.singular_values_)
    if kernel != "auto":  # the hidden edges that weigh its parts are others
        assert_close(large.source_embedding_[:10], small.source_embedding_)
    assert not large.source_embedding_[10:].any()


def test_isolated_nodes_give_no_warning():
    A = np.zeros((9, 9))
    A[:4, :4] = np.roll(np.eye(4), 1, axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DirectedGraphEmbedding(2, kernel="node_kernel", normalize="both").fit(A)
    A[3] = 0
    with pytest.warns(LopsidedWarning, match="1 node has a row that sums to zero.*self_loops=1.0 gives"):
        DirectedGraphEmbedding(2, kernel="node_kernel", normalize="left").fit(A)


@pytest.mark.parametrize("kernel", [Diffusion(threshold=1e-14), *KERNELS[2:]], ids=repr)
@pytest.mark.parametrize("normalize", [None, "left", "both"])
@pytest.mark.filterwarnings("ignore:.*(node has|nodes have) a")
def test_a_copy_of_a_node_gets_its_vectors(kernel, normalize):
    model = DirectedGraphEmbedding(6, kernel=kernel, normalize=normalize, unit_length=False)
    vectors = model.fit_transform(GRAPH)
    found = model.transform(GRAPH[20:50], GRAPH.T.tocsr()[20:50])
    linked = np.diff(GRAPH.indptr)[20:50] + np.diff(GRAPH.T.tocsr().indptr)[20:50] > 0
    np.testing.assert_allclose(found[linked], vectors[20:50][linked], atol=1e-8 * np.abs(vectors).max())
    assert (found[~linked] == 0).all()


@every_kernel
def test_a_changed_entry_of_a_new_node_changes_its_row_only(kernel):
    """Even if the rows are those of the training graph, all of them."""
    model = DirectedGraphEmbedding(4, kernel=kernel).fit(GRAPH)
    changed = GRAPH.toarray()
    changed[150, 9] += 1e-6
    before, after = model.transform(GRAPH), model.transform(changed)
    np.testing.assert_allclose(np.delete(after, 150, 0), np.delete(before, 150, 0), rtol=0, atol=1e-12)
    if kernel != "auto":  # to which a link is a link, whatever its weight
        assert np.linalg.norm(after[150] - before[150]) < 0.1
    for rows, known in zip(model.edge_vectors(changed), model.edge_vectors(GRAPH), strict=True):
        np.testing.assert_allclose(
            np.delete(rows, 150, 0), np.delete(known, 150, 0), rtol=0, atol=1e-9 * abs(known).max()
        )


def test_ids_of_the_fitted_graph_are_refused_as_new_nodes():
    edges = pd.DataFrame({"source": list("aabccd"), "target": list("bccada")})
    model = DirectedGraphEmbedding(2).fit(edges)
    with pytest.raises(ValueError, match="4 new nodes have ids of nodes of the graph: 'a', .*source_embedding_"):
        model.transform(edges)
    with pytest.raises(ValueError, match="1 new node has an id of nodes of the graph: 'b'"):
        model.transform(pd.DataFrame({"source": ["n"], "target": ["a"]}), edges.iloc[:1])


def test_a_first_line_with_a_known_id_is_an_edge_of_new_nodes(tmp_path):
    """Without digits above ids with digits it would be a header."""
    model = DirectedGraphEmbedding(2).fit(pd.DataFrame({"source": ["bob", "u1", "u2"], "target": ["u1", "u2", "bob"]}))
    path = tmp_path / "new.csv"
    path.write_text("alice,bob\nnew7,u2\n")
    assert model.transform(path).shape[0] == 2


@pytest.mark.parametrize("decoder", ["factors", "learned"])
@pytest.mark.parametrize("kernel", [Diffusion(threshold=1e-14), *KERNELS[2:]], ids=repr)
def test_a_copy_of_a_node_is_scored_like_it(kernel, decoder):
    model = DirectedGraphEmbedding(6, kernel=kernel, decoder=decoder).fit(GRAPH)
    source, target = model.edge_vectors()
    into = GRAPH.T.tocsr()
    found = model.edge_vectors(GRAPH[20:50], into[20:50])
    linked = np.diff(GRAPH.indptr)[20:50] + np.diff(into.indptr)[20:50] > 0
    for new, known, others in zip(found, (source, target), (target, source), strict=True):
        scores = known[20:50][linked] @ others.T
        np.testing.assert_allclose(new[linked] @ others.T, scores, atol=1e-8 * np.abs(scores).max())


def test_new_nodes_of_a_large_graph_take_few_passes(monkeypatch):
    monkeypatch.setattr("lopsided.kernels.graph.base.NEW_NODE_ENTRIES", 50)
    model = DirectedGraphEmbedding(3, kernel="node_kernel").fit(GRAPH)
    passes = []
    original = NodeKernel.left_values
    monkeypatch.setattr(NodeKernel, "left_values", lambda *of: passes.append(1) or original(*of))
    model.transform(GRAPH[:60])
    assert 1 < len(passes) < 10


def test_a_node_that_scores_all_targets_alike_gives_a_warning():
    A = np.zeros((6, 6))
    A[:4, :4] = np.eye(4, k=1) + np.eye(4, k=-2)
    model = DirectedGraphEmbedding(2, decoder="factors").fit(A)
    with pytest.warns(LopsidedWarning, match="^2 nodes score every target alike, .* ranking is arbitrary"):
        assert model.nearest_targets([0, 4, 5], 2).shape == (3, 2)


def test_a_node_without_edges_is_led_to_popular_targets():
    A = np.zeros((6, 6))
    A[[0, 1, 2, 3, 4], [1, 2, 1, 2, 1]] = 1
    model = DirectedGraphEmbedding(2).fit(A)
    assert model.nearest_targets(5, 2).tolist() == [1, 2]
    new, _ = model.edge_vectors(np.zeros((1, 6)))
    assert np.argsort(-(new @ model.edge_vectors()[1].T)[0])[:2].tolist() == [1, 2]


@pytest.mark.parametrize("unit", [1e150, 1e-150])
def test_edges_score_alike_in_any_unit_of_the_weights(unit):
    models = [DirectedGraphEmbedding(4).fit(scale * GRAPH) for scale in (1.0, unit)]
    u, v = np.arange(200), np.arange(200)[::-1]
    np.testing.assert_allclose(*(model.score_edges(u, v) for model in models), rtol=1e-6)
    new = [model.edge_vectors(scale * GRAPH[:9])[0] for model, scale in zip(models, (1.0, unit), strict=True)]
    np.testing.assert_allclose(new[1], new[0], rtol=1e-6)


def test_rows_that_follow_in_a_pipeline_have_length_one():
    vectors = DirectedGraphEmbedding(5).fit_transform(GRAPH)
    linked = (GRAPH.sum(axis=1) + GRAPH.sum(axis=0)) > 0
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), linked)


@pytest.mark.parametrize("unit", [2.0**80, 2.0**-80])
@pytest.mark.parametrize("kernel", [NodeKernel(), Katz(), Diffusion()], ids=repr)
def test_rows_have_length_one_in_any_unit_of_the_weights(kernel, unit):
    """Squares of these weights exceed what float32 holds."""
    model = DirectedGraphEmbedding(2, kernel=kernel)
    graphs = [(scale * GRAPH).astype(np.float32) for scale in (1.0, unit)]
    np.testing.assert_allclose(*(model.fit_transform(A) for A in graphs), atol=1e-5)
    np.testing.assert_allclose(*(model.fit(A).transform(A[:9], A[9:18]) for A in graphs), atol=1e-5)


@pytest.mark.parametrize("threshold", [1e-4, 1e-12])
@pytest.mark.parametrize("dense", [True, False])
def test_the_last_step_of_an_undirected_walk_follows_an_edge(dense, threshold, monkeypatch):
    monkeypatch.setattr("lopsided.kernels.graph.diffusion.ALWAYS_DENSE_NODES", 4096 if dense else 0)
    monkeypatch.setattr("lopsided.kernels.graph.diffusion.WELL_FILLED", 2.0)
    A = GRAPH.toarray()
    A[5], A[:, 5] = 0, 0
    nodes = np.arange(200)[:, None]
    kernel = Diffusion(A, restart=0.3, direction="last", transform=None, threshold=threshold).fit(nodes, nodes)
    K = kernel.matrix_
    assert sparse.issparse(K) != dense
    undirected, out = A + A.T, A.sum(axis=1)
    Q = undirected / np.maximum(undirected.sum(axis=1), 1e-300)[:, None]
    linked = np.eye(200) * (undirected.sum(axis=1) > 0)
    last = np.where(out[:, None] > 0, (np.eye(200) + A / np.maximum(out, 1e-300)[:, None]) / 2, linked)
    expected = 0.3 * np.linalg.inv(np.eye(200) - 0.7 * Q) @ last
    error = 1e-12 if dense else 30 * threshold * (1 + expected.sum(axis=0).max())
    np.testing.assert_allclose(as_dense(K), expected, atol=error)
    assert (as_dense(K)[5] == 0).all() and (as_dense(K)[:, 5] == 0).all()


@every_kernel
def test_isolated_nodes_have_zeros(kernel):
    A = np.zeros((12, 12))
    A[:8, :8] = GRAPH[100:108, :8].toarray() + np.eye(8, k=1)
    model = DirectedGraphEmbedding(3, kernel=kernel).fit(A)
    vectors = np.hstack([model.source_embedding_, model.target_embedding_])
    assert np.isfinite(vectors).all()
    assert (vectors[8:] == 0).all() and vectors[:8].any()
    assert (model.transform(sparse.csr_array((1, 12)), sparse.csr_array((1, 12))) == 0).all()


@pytest.mark.parametrize("decoder", ["factors", "learned"])
def test_new_nodes_may_have_edges_of_any_weight(decoder):
    """Factors do not change with it: they score edges from the new node, where a walk begins."""
    model = DirectedGraphEmbedding(3, decoder=decoder).fit(GRAPH.astype(np.float32))
    ordinary, heavy = (model.edge_vectors(scale * GRAPH[20:40].astype(np.float32))[0] for scale in (1.0, 1e36))
    _, targets = model.edge_vectors()
    assert np.isfinite(heavy).all()
    if decoder == "factors":
        np.testing.assert_array_equal(*(np.argmax(new @ targets.T, axis=1) for new in (ordinary, heavy)))


@pytest.mark.parametrize("scaling", [0.0, 0.5, 1.0])
@single_kernel
def test_scores_by_factors_are_the_kernel_as_far_as_its_rank_goes(scaling, kernel):
    model = DirectedGraphEmbedding(5, kernel=kernel, scaling=scaling, decoder="factors", center=False, tol=0.0)
    model.fit(GRAPH)
    linked = GRAPH.sum(axis=1) + GRAPH.sum(axis=0) > 0
    K = KernelSVD(5, kernel="precomputed").fit(matrix_of(kernel)).reconstruct() * np.outer(linked, linked)
    u, v = np.array([3, 50, 50]), np.array([7, 7, 11])
    np.testing.assert_allclose(model.score_edges(u, v), K[u, v], atol=1e-9 * abs(K).max())


@pytest.mark.parametrize("decoder", ["learned", "factors"])
@every_kernel
def test_scores_of_pairs_are_products_of_edge_vectors_and_rank_the_targets(kernel, decoder):
    model = DirectedGraphEmbedding(5, kernel=kernel, decoder=decoder).fit(GRAPH)
    source, target = model.edge_vectors()
    K = source @ target.T + model.reverse_score_ * (GRAPH.T.toarray() != 0)
    u, v = np.array([3, 50, 50]), np.array([7, 7, 11])
    close = {"rtol": 1e-5, "atol": 1e-5 * abs(K).max()}
    np.testing.assert_allclose(model.score_edges(u, v), K[u, v], **close)
    assert model.score_edges(3, 7) == pytest.approx(K[3, 7], rel=1e-4, abs=1e-5 * abs(K).max())
    K[50, 50] = -np.inf
    found, scores = model.nearest_targets([50, 3], 4, return_scores=True)
    assert found.shape == scores.shape == (2, 4)
    np.testing.assert_allclose(scores[0], np.sort(K[50])[::-1][:4], **close)
    np.testing.assert_array_equal(model.nearest_targets(50, 4), found[0])
    K[GRAPH.nonzero()] = -np.inf
    new = model.nearest_targets([50, 3], 4, new_only=True)
    assert not GRAPH.toarray()[[[50], [3]], new].any()
    np.testing.assert_allclose(K[50, new[0]], np.sort(K[50])[::-1][:4], **close)


@every_kernel
def test_hidden_edges_rank_above_chance(kernel):
    """Kernels of vectors used to put them upside down."""
    graph = make_citation_graph(300, n_classes=3, random_state=1)[0]
    hidden = hide_edges(graph, share=0.2, reversed_share=0.0)
    model = DirectedGraphEmbedding(8, kernel=kernel).fit(hidden.adjacency)
    assert evaluate_links(model.score_edges, hidden, k=20).auc > 0.6


def test_similar_nodes_have_similar_vectors_in_the_role_asked_for():
    model = DirectedGraphEmbedding(8).fit(GRAPH)
    sides = {"source": model.source_embedding_, "target": model.target_embedding_}
    sides["both"] = np.hstack(list(sides.values()))
    for role, vectors in sides.items():
        cosines = cosine_similarity(vectors)[[4, 9]]
        cosines[[0, 1], [4, 9]] = -np.inf
        found, scores = model.most_similar([4, 9], 3, as_=role, return_scores=True)
        np.testing.assert_allclose(scores, np.sort(cosines)[:, ::-1][:, :3], atol=1e-12)
        np.testing.assert_array_equal(model.most_similar(4, 3, as_=role), found[0])
    with pytest.raises(ValueError, match="'as_' parameter of most_similar.*Got 'sources'"):
        model.most_similar(4, as_="sources")


def test_new_nodes_are_scored_by_their_edges():
    table = pd.DataFrame(np.argwhere(GRAPH.toarray()), columns=["source", "target"])
    model = DirectedGraphEmbedding(6).fit(GRAPH)
    out = pd.DataFrame({"source": ["n", "n", "m"], "target": [3, 11, 20]})
    into = pd.DataFrame({"source": [40], "target": ["n"]})
    source, target = model.edge_vectors(out, into)
    known = model.edge_vectors()
    scores = model.score_edges(["n", "n", 40, "m"], [5, 40, "n", "n"], out_edges=out, in_edges=into)
    r = model.reverse_score_
    expected = [
        source[0] @ known[1][5],
        source[0] @ known[1][40] + r,
        known[0][40] @ target[0],
        source[1] @ target[0],
    ]
    np.testing.assert_allclose(scores, expected, rtol=1e-5)
    found, best = model.nearest_targets(k=3, new_only=True, out_edges=out, in_edges=into, return_scores=True)
    assert found.shape == (2, 3) and not {3, 11} & set(found[0])
    np.testing.assert_allclose(best[0, 0], model.score_edges("n", found[0, 0], out_edges=out, in_edges=into), rtol=1e-5)
    assert len(table) == GRAPH.nnz
    with pytest.raises(ValueError, match="nodes of the graph, u, or edges of new nodes, but not both"):
        model.nearest_targets(3, out_edges=out)


@every_kernel
def test_new_nodes_may_link_to_each_other(kernel):
    """A new node that only links to another new one is placed by the known neighbours of that one."""
    model = DirectedGraphEmbedding(6, kernel=kernel).fit(GRAPH)
    chain = [("n", 3), ("n", 11), ("m", "n"), ("l", "m")]
    n, m, last = model.transform(chain, [(7, "n")])
    third = 1 / 3
    direct = model.transform([("m", 3, third), ("m", 11, third), ("m", 7, third)], [(7, "n", 1.0)])[0]
    np.testing.assert_allclose(last, direct, atol=1e-5)
    assert min(np.abs(n - last).max(), np.abs(m - last).max()) > 1e-3


def test_edges_to_unknown_ids_are_refused_or_left_out_with_their_number():
    model = DirectedGraphEmbedding(6).fit(GRAPH)
    edges = [("n", 3), ("n", "nobody"), ("m", "nowhere")]
    with pytest.raises(ValueError, match="2 ids are not nodes of the graph: 'nobody', 'nowhere'.*unknown='ignore'"):
        model.transform(edges)
    with pytest.warns(LopsidedWarning, match="2 edges of unknown ids are left out: 'nobody', 'now"):
        found = model.transform(edges, unknown="ignore")
    np.testing.assert_allclose(found[0], model.transform([("n", 3)])[0], atol=1e-6)
    assert not found[1].any()
    with pytest.raises(ValueError, match="unknown='drop' is neither"):
        model.transform(edges, unknown="drop")


@pytest.mark.parametrize(
    "graph",
    [
        [[0, 1], [0, 0]],
        np.eye(5),
        np.kron(np.eye(2), np.eye(6, k=1) + np.eye(6, k=-2)),
        np.vstack([np.ones((1, 60)), np.eye(60)[1:]]),
        10.0 ** np.arange(-6, 6) * np.eye(12, k=1) + 1e-6 * np.eye(12, k=-3),
        np.ones((6, 6)),
    ],
    ids=["one edge", "self-loops", "two components", "a hub", "weights of any size", "complete"],
)
@pytest.mark.filterwarnings("ignore::lopsided.exceptions.RankWarning")
def test_odd_graphs_have_finite_vectors_and_scores(graph):
    model = DirectedGraphEmbedding(4)
    vectors, n = model.fit_transform(graph), len(graph)
    assert np.isfinite(vectors).all() and vectors.any()
    assert np.isfinite(model.score_edges(np.arange(n), np.arange(n)[::-1])).all()
    assert model.nearest_targets(0, 1).shape == (1,)


def test_direction_alone_tells_classes_apart():
    """Both directions together say nothing of the classes of this graph."""
    graph, labels = make_directed_blocks(1500, n_classes=3, mean_degree=30.0, random_state=0)
    directed, undirected = (DirectedGraphEmbedding(16).fit_transform(A) for A in (graph, graph + graph.T))
    assert classify_nodes(directed, labels).micro_f1.mean() > classify_nodes(undirected, labels).micro_f1.mean() + 0.2


def test_a_model_holds_little_more_than_its_vectors_and_the_graph():
    graph = make_citation_graph(3000, random_state=0)[0]
    model = DirectedGraphEmbedding(32).fit(graph)
    vectors = model.source_embedding_.nbytes + model.target_embedding_.nbytes
    edges = graph.data.nbytes + graph.indices.nbytes + graph.indptr.nbytes
    assert len(pickle.dumps(model)) < 3 * vectors + 6 * edges


def test_a_link_to_itself_takes_no_place_among_new_targets():
    A = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 1]])
    model = DirectedGraphEmbedding(2).fit(A)
    assert set(model.nearest_targets(0, 2, new_only=True)) == {2, 3}
    assert set(map(tuple, np.sort(model.nearest_targets([3, 1], 2, new_only=True)))) == {(1, 2), (0, 3)}
    with pytest.raises(ValueError, match="k=3 exceeds the 2 nodes to which 3 has no edge"):
        model.nearest_targets([3, 1], 3, new_only=True)


def test_the_step_of_a_hub_is_taken_once_for_all_its_pairs():
    n = 1000
    star = sparse.coo_array((np.ones(2 * n - 2), (np.r_[1:n, [0] * (n - 1)], np.r_[[0] * (n - 1), 1:n])), shape=(n, n))
    model = DirectedGraphEmbedding(2).fit(sparse.csr_array(star))
    source, target = model.edge_vectors()
    tracemalloc.start()
    found = model.score_edges(np.arange(n), np.zeros(n, dtype=int)), model.score_edges(np.zeros(n, dtype=int), 0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(found[0], source @ target[0], atol=1e-12, rtol=1e-12)
    np.testing.assert_allclose(found[1], source[0] @ target[0], atol=1e-12, rtol=1e-12)
    assert peak < 100 * n * 8  # a row of the hub for each pair would be n times n


def test_any_hashable_is_an_id():
    graph = nx.DiGraph([("a", (1, 2)), ((1, 2), 3), (3, "a"), ("a", 3)])
    model = DirectedGraphEmbedding(2).fit(graph)
    assert list(model.nodes_) == ["a", (1, 2), 3]
    assert model.nearest_targets((1, 2), 2).shape == (2,)
    assert model.score_edges([(1, 2), "a"], [3, 3]).shape == (2,)


@pytest.mark.parametrize("layout", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
@pytest.mark.parametrize("method", ["score_edges", "nearest_targets", "most_similar"])
def test_a_sparse_matrix_is_no_list_of_ids(method, layout):
    model = DirectedGraphEmbedding(2).fit([(0, 1), (1, 2), (2, 0), (0, 2)])
    ids = sparse.csr_array([[0.0, 1.0]]).asformat(layout)
    with pytest.raises(TypeError, match=r"not a sparse matrix of shape \(1, 2\)"):
        getattr(model, method)(*[ids] * (1 + (method == "score_edges")))


def test_a_mask_is_no_list_of_ids():
    model = DirectedGraphEmbedding(2).fit(np.eye(4, k=1))
    mask = np.array([False, True, True, False])
    for ids in (mask, mask.tolist(), pd.Series(mask)):
        with pytest.raises(ValueError, match="4 ids are not nodes of the graph: False, True"):
            model.nearest_targets(ids, k=1)
    truths = DirectedGraphEmbedding(2).fit(pd.DataFrame({"source": [True, False], "target": [False, True]}))
    assert truths.score_edges(np.array([True, False]), False).shape == (2,)


def test_sets_and_bytes_are_ids():
    ids = [frozenset([1, 2]), b"xy", "z"]
    model = DirectedGraphEmbedding(2).fit(nx.DiGraph([(ids[0], ids[1]), (ids[1], ids[2]), (ids[2], ids[0])]))
    for node in ids:
        assert model.nearest_targets(node, 1).shape == (1,)
    with pytest.raises(ValueError, match="1 id is not a node of the graph: frozenset"):
        model.nearest_targets(frozenset([3]), 1)


@pytest.mark.parametrize(("graph", "new"), [("0,1\n1,2\n2,0\n", "n1,1\n"), ("a,b\nb,7\n7,a\n", "5,7\n")])
def test_new_edges_in_a_file_have_ids_of_the_kind_of_the_graph(graph, new, tmp_path):
    (tmp_path / "graph.csv").write_text("source,target\n" + graph)
    (tmp_path / "new.csv").write_text("source,target\n" + new)
    model = DirectedGraphEmbedding(2).fit(tmp_path / "graph.csv")
    row = (model.nodes_.astype(str) == new.strip().split(",")[1]).astype(float)[None]
    np.testing.assert_allclose(model.transform(tmp_path / "new.csv"), model.transform(row))


def test_numbers_among_other_ids_are_found_from_a_file(tmp_path):
    model = DirectedGraphEmbedding(2).fit(nx.DiGraph([(1, "a"), ("a", 2), (2, 1), ("2", 1)]))
    (tmp_path / "new.csv").write_text("source,target\nn,1\nn,2\n")
    np.testing.assert_allclose(model.transform(tmp_path / "new.csv"), model.transform([[1, 0, 0, 1]]))


def test_a_new_node_is_one_in_both_files(tmp_path):
    (tmp_path / "graph.csv").write_text("source,target\n0,1\n1,2\n2,0\n")
    (tmp_path / "out.csv").write_text("source,target\n5,1\n")
    (tmp_path / "in.csv").write_text("source,target\n1,5\n1,n1\n")
    model = DirectedGraphEmbedding(2).fit(tmp_path / "graph.csv")
    assert model.transform(tmp_path / "out.csv", in_edges=tmp_path / "in.csv").shape == (2, 4)
    (tmp_path / "out.csv").write_text("source,target\n5,1\n5,zz\n")
    with pytest.raises(ValueError, match="1 id is not a node of the graph: 'zz'"):
        model.transform(tmp_path / "out.csv")


def test_sums_of_graph_kernels_are_refused_with_a_way_out():
    for kernel in (2 * NodeKernel(), NodeKernel() + Katz(), Katz().T):
        with pytest.raises(ValueError, match="KernelSVD on node numbers"):
            DirectedGraphEmbedding(2, kernel=kernel).fit(np.eye(5, k=1))


def test_a_kernel_of_another_graph_is_refused():
    own = DirectedGraphEmbedding(3, kernel=Katz(GRAPH.toarray()), self_loops=1.0).fit(GRAPH)
    assert_close(
        own.singular_values_, DirectedGraphEmbedding(3, kernel=Katz(), self_loops=1.0).fit(GRAPH).singular_values_
    )
    for kernel in (NodeKernel(np.eye(200)), Diffusion(GRAPH.T), Katz(np.eye(3))):
        with pytest.raises(
            ValueError, match="adjacency of .* is not that of the graph .200 nodes.*leave it out.*KernelSVD"
        ):
            DirectedGraphEmbedding(3, kernel=kernel).fit(GRAPH)


def test_a_function_compares_sparse_rows_with_sparse_columns():
    def function(X, Z):
        assert isinstance(X, sparse.csr_array) and isinstance(Z, sparse.csr_array)
        return (X @ Z.T).toarray()

    found, expected = (DirectedGraphEmbedding(3, kernel=kernel).fit(GRAPH) for kernel in (function, "linear"))
    assert_close(found.singular_values_, expected.singular_values_)


def test_settings_of_the_solver_reach_the_kernel_svd():
    settings = {"solver": Nystrom(120), "tol": 0.0, "random_state": 3}
    found = DirectedGraphEmbedding(3, kernel=RBF(1.0), **settings).fit(GRAPH)
    expected = KernelSVD(3, kernel=RBF(1.0), center=True, **settings).fit(GRAPH)
    np.testing.assert_array_equal(found.singular_values_, expected.singular_values_)
    assert found.solver_.name == expected.solver_.name and found.solver_.reason


def test_as_many_sources_as_targets_are_scored():
    model = DirectedGraphEmbedding(2).fit(np.eye(5, k=1))
    with pytest.raises(ValueError, match="u holds 2 nodes and v 3"):
        model.score_edges([0, 1], [0, 1, 2])


def test_grids_of_networkx_have_tuples_as_nodes():
    graph = nx.grid_2d_graph(3, 3, create_using=nx.DiGraph)
    model = DirectedGraphEmbedding(2).fit(graph)
    assert model.nodes_.tolist() == list(graph.nodes)
    assert model.score_edges((0, 0), (0, 1)) > model.score_edges((0, 0), (2, 2))
    with pytest.raises(ValueError, match=r"1 id is not a node of the graph: \(7, 7\);"):
        model.score_edges((7, 7), (0, 1))
    with pytest.raises(ValueError, match="tables of edges or as rows.*not as Graph; the vectors of the fitted nodes"):
        model.transform(nx.grid_2d_graph(2, 2))


def test_it_is_a_transformer_among_others():
    pipeline = make_pipeline(DirectedGraphEmbedding(16, scaling=1.0), RidgeClassifier())
    pipeline.fit(GRAPH[:150][:, :150], LABELS[:150])
    assert pipeline.score(GRAPH[150:][:, :150], LABELS[150:]) > 0.5
    search = GridSearchCV(pipeline, {"directedgraphembedding__n_components": [4, 8]}, cv=2).fit(GRAPH, LABELS)
    assert search.best_estimator_[0].n_features_in_ == 200
    model = DirectedGraphEmbedding(2).set_output(transform="pandas")
    assert list(model.fit_transform(GRAPH)) == ["node0", "node1", "node2", "node3"]
    model = DirectedGraphEmbedding(2, kernel="katz").set_output(transform="pandas")
    assert list(model.fit_transform(GRAPH)) == ["source0", "source1", "target0", "target1"]
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.nearest_targets(5, 3), model.nearest_targets(5, 3))
    grid = clone(DirectedGraphEmbedding(kernel=Diffusion())).set_params(kernel__restart=0.4)
    assert grid.kernel.restart == 0.4 and grid.kernel.adjacency is None


def test_a_wrong_kernel_is_shown_before_it_is_refused():
    assert "foo" in DirectedGraphEmbedding(kernel="foo")._repr_html_()
    assert DirectedGraphEmbedding(kernel="diffusion").__sklearn_tags__().input_tags.positive_only
    assert not DirectedGraphEmbedding(kernel="katz").__sklearn_tags__().input_tags.positive_only


def test_the_kernel_that_was_given_stays_as_it_was():
    kernel = Diffusion()
    DirectedGraphEmbedding(2, kernel=kernel, memory_budget="1GB").fit(GRAPH)
    assert kernel.adjacency is None and kernel.memory_budget is None and not hasattr(kernel, "matrix_")


def test_a_small_graph_has_short_vectors_with_a_warning():
    with pytest.warns(RankWarning, match="n_components=128 exceeds the number of nodes; keeping 4"):
        assert DirectedGraphEmbedding().fit(np.eye(4, k=1)).source_embedding_.shape == (4, 4)


@pytest.mark.parametrize(
    ("kernel", "budget"), [(Diffusion(direction="undirected", threshold=1e-6), 50_000), (SNE(1.0), 1000)], ids=repr
)
def test_a_graph_above_the_budget_is_embedded_with_a_warning(kernel, budget):
    with pytest.warns(FallbackWarning, match=f"budget of {budget} bytes"):
        model = DirectedGraphEmbedding(2, kernel=kernel, memory_budget=budget).fit(GRAPH)
    assert np.isfinite(model.source_embedding_).all() and model.source_embedding_.any()


def test_a_budget_too_small_for_the_graph_is_refused():
    with pytest.raises(ValueError, match=r"memory_budget=1000 \(1,000 bytes\) is too small.*raise it"):
        DirectedGraphEmbedding(2, memory_budget=1000).fit(GRAPH)


@pytest.mark.parametrize(
    ("parameters", "graph", "message"),
    [
        ({}, np.zeros((3, 3)), "3 nodes but no edges"),
        ({}, np.ones((2, 3)), r"shape \(2, 3\).*KernelSVD"),
        ({}, np.zeros((0, 0)), "minimum of 1 is required"),
        ({}, -np.ones((3, 3)), "Negative values in data"),
        ({"kernel": Katz(beta=1.0)}, np.ones((3, 3)), "beta=1 must be below"),
        ({"normalize": "left", "kernel": "rbf"}, -np.ones((3, 3)), "row 0 sums to -3"),
        (
            {"kernel": "linear", "decoder": "learned"},
            -np.ones((3, 3)),
            "decoder='learned'.*least is -1.*decoder='factors'",
        ),
        ({"kernel": "graph"}, np.eye(3), "unknown kernel 'graph'"),
        ({"n_components": 0}, np.eye(3), "n_components.*Got 0"),
    ],
    ids=["edgeless", "not_square", "empty", "negative", "beta", "sums", "signs", "name", "components"],
)
@pytest.mark.filterwarnings("ignore::lopsided.exceptions.RankWarning")
def test_bad_graphs_are_refused(parameters, graph, message):
    with pytest.raises(ValueError, match=message):
        DirectedGraphEmbedding(**parameters).fit(graph)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda m: m.nearest_targets("q", 1), "1 id is not a node of the graph: 'q'"),
        (lambda m: m.score_edges(["a", "r", "s"], "a"), "2 ids are not nodes of the graph: 'r', 's'"),
        (lambda m: m.nearest_targets("a", 3), "k=3 must be a whole number from 1 to .* 2"),
        (lambda m: m.nearest_targets("a", 2, new_only=True), "k=2 exceeds the 1 nodes to which a has no edge"),
        (lambda m: m.transform(pd.DataFrame({"source": ["n"], "target": ["q"]})), "not a node of the graph: 'q'"),
        (lambda m: m.transform([("n", "aa")]), "not a node of the graph: 'aa'"),
        (lambda m: m.transform(None), "no edges of new nodes are given; pass X"),
        (lambda m: m.transform(np.ones((1, 5))), "X has 5 features.*expecting 3.*every node"),
        (lambda m: m.transform(np.ones((1, 3)), np.ones((2, 3))), "X holds 1 new nodes and in_edges 2"),
    ],
    ids=["target", "edges", "k", "new", "table", "list", "none", "width", "rows"],
)
def test_unknown_nodes_are_named(use, message):
    model = DirectedGraphEmbedding(2).fit(pd.DataFrame({"source": list("abc"), "target": list("bca")}))
    with pytest.raises(ValueError, match=message):
        use(model)


def test_the_example_runs():
    path = Path(__file__).parents[2] / "examples" / "embed_graph.py"
    done = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "paper-900 might cite" in done.stdout


def test_a_matrix_that_is_changed_after_fit_does_not_change_the_model():
    A = make_citation_graph(80, random_state=0)[0].astype(float)
    model = DirectedGraphEmbedding(4).fit(A)
    vectors, (edges, _) = model.transform(A), model.edge_vectors(A[:3])
    changed, original = A, A.copy()
    changed.data *= np.arange(1, A.nnz + 1)
    np.testing.assert_array_equal(model.transform(original), vectors)
    np.testing.assert_array_equal(model.edge_vectors(original[:3])[0], edges)


@pytest.mark.parametrize("empty", [[], ()])
def test_an_empty_list_is_a_table_without_edges(empty):
    with pytest.raises(ValueError, match="the graph has no edges"):
        DirectedGraphEmbedding().fit(empty)
    with pytest.raises(ValueError, match="the tables hold no edges"):
        DirectedGraphEmbedding(2).fit(np.eye(5, k=1)).transform(empty)
