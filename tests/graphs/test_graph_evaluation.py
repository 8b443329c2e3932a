"""The evaluation of embeddings against definitions written out, and its bad input."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score

from lopsided import AsymmetricLSSVC, DirectedGraphEmbedding
from lopsided.datasets import make_citation_graph
from lopsided.exceptions import LopsidedWarning
from lopsided.graphs import classify_nodes, evaluate_links, hide_edges, precision_at_k, reconstruct_graph
from lopsided.kernels import Diffusion

GRAPH, LABELS = make_citation_graph(150, n_classes=3, random_state=0)
RNG = np.random.default_rng(0)
SOURCE, TARGET = RNG.standard_normal((2, 150, 6))


def test_the_classifier_is_the_linear_least_squares_machine():
    scores = classify_nodes(SOURCE, LABELS, n_splits=2, C=0.7, random_state=3)
    order = np.random.RandomState(3).permutation(150)
    train, test = order[:90], order[90:]
    machine = AsymmetricLSSVC(0.7, kernel="linear").fit(SOURCE[train], LABELS[train])
    found = machine.predict(SOURCE[test])
    assert scores.micro_f1[0] == pytest.approx(f1_score(LABELS[test], found, average="micro"))
    assert scores.macro_f1[0] == pytest.approx(f1_score(LABELS[test], found, average="macro"))
    assert scores.micro_f1.shape == (2,)


def test_classes_may_be_two_and_have_names():
    names = np.array(["cat", "dog"])[(SOURCE[:, 0] > 0).astype(int)]
    assert classify_nodes(SOURCE, names, n_splits=3).micro_f1.mean() > 0.9


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_several_labels_for_each_node(make):
    Y = (SOURCE[:, :4] > 0.3).astype(int)
    top = classify_nodes(SOURCE, make(Y), n_splits=2)
    sign = classify_nodes(SOURCE, make(Y), n_splits=2, multilabel="sign")
    assert top.micro_f1.min() > sign.micro_f1.min() > 0.6
    assert top.macro_f1.max() <= 1


@pytest.mark.parametrize("decoder", ["dot", "distance"])
def test_reconstruction_is_what_it_says(decoder, monkeypatch):
    A = GRAPH.toarray() + np.diag(RNG.random(150) > 0.9)
    scores = SOURCE @ TARGET.T
    if decoder == "distance":
        scores = -np.linalg.norm(SOURCE[:, None] - TARGET, axis=2)
    np.fill_diagonal(scores, -np.inf)
    ones = (A > 0) & ~np.eye(150, dtype=bool)
    rebuilt = np.zeros_like(A)
    for i, degree in enumerate(ones.sum(axis=1)):
        rebuilt[i, np.argsort(-scores[i])[:degree]] = 1
    monkeypatch.setattr("lopsided.graphs.reconstruction.BLOCK_BYTES", 8 * 150 * 40)
    found = reconstruct_graph(SOURCE, TARGET, 3.0 * A, decoder=decoder)
    assert found.norm_1 == pytest.approx(np.linalg.norm(ones - rebuilt, 1))
    assert found.norm_2 == pytest.approx(np.linalg.norm(ones - rebuilt, 2))
    assert found.precision == pytest.approx((rebuilt * ones).sum() / ones.sum())
    best = ones.ravel()[np.argsort(-scores, axis=None)[:500]]
    np.testing.assert_allclose(
        precision_at_k(SOURCE, TARGET, A, [1, 100, 500], decoder=decoder), [best[:k].mean() for k in (1, 100, 500)]
    )


def test_distances_do_not_depend_on_the_origin():
    near = [side.astype(np.float32) for side in (SOURCE, TARGET)]
    far = [side + np.float32(2.0**10) for side in near]
    exact = [side.astype(float) - 2.0**10 for side in far]
    found, expected = (
        (reconstruct_graph(*sides, GRAPH, decoder="distance"), precision_at_k(*sides, GRAPH, 300, decoder="distance"))
        for sides in (far, exact)
    )
    assert found == expected


@pytest.mark.parametrize("decoder", ["dot", "distance"])
@pytest.mark.parametrize(("dtype", "unit"), [(np.float32, 2.0**-80), (np.float64, 2.0**600), (np.float64, 2.0**-600)])
def test_the_unit_of_the_vectors_does_not_matter(dtype, unit, decoder, rng):
    """Squares of these vectors are zero or infinite; without a unit, targets were ranked by their numbers."""
    A = rng.random((40, 40)) < 0.2
    source, target = rng.standard_normal((2, 40, 3)).astype(dtype)
    expected = reconstruct_graph(source, target, A, decoder=decoder)
    at_k = precision_at_k(source, target, A, [30, 90], decoder=decoder)
    for other in [unit] if decoder == "distance" else [unit, 1 / unit]:
        vectors = dtype(unit) * source, dtype(other) * target
        assert reconstruct_graph(*vectors, A, decoder=decoder).precision == expected.precision
        np.testing.assert_array_equal(precision_at_k(*vectors, A, [30, 90], decoder=decoder), at_k)


def test_the_graph_itself_is_rebuilt_without_a_fault():
    U, s, Vt = np.linalg.svd(GRAPH.toarray())
    found = reconstruct_graph(U * s, Vt.T, GRAPH)
    assert found == (0.0, 0.0, 1.0)
    assert precision_at_k(U * s, Vt.T, GRAPH, GRAPH.nnz).tolist() == [1.0]


@pytest.mark.parametrize("reversed_share", [0.0, 0.5, 1.0])
def test_hidden_edges_and_other_pairs(reversed_share):
    hidden = hide_edges(GRAPH, share=0.2, reversed_share=reversed_share, random_state=1)
    A = GRAPH.toarray()
    u, v = hidden.positive
    assert len(u) == round(0.2 * GRAPH.nnz) == len(hidden.negative[0])
    assert (A[u, v] == 1).all() and (hidden.adjacency.toarray()[u, v] == 0).all()
    left = hidden.adjacency.toarray()
    left[u, v] = 1
    np.testing.assert_array_equal(left, A)
    p, q = hidden.negative
    assert (A[p, q] == 0).all() and (p != q).all()
    assert (A[q, p] == 1).sum() >= round(reversed_share * len(u))
    again = hide_edges(GRAPH, share=0.2, reversed_share=reversed_share, random_state=1)
    np.testing.assert_array_equal(again.negative, hidden.negative)


def test_an_edge_and_its_reverse_are_no_negative_pair():
    A = np.ones((6, 6)) - np.eye(6)
    A[0, 1] = 0
    hidden = hide_edges(A, share=0.03, reversed_share=1.0)
    assert [pair.tolist() for pair in hidden.negative] == [[0], [1]]


def test_hiding_edges_of_an_undirected_graph_gives_a_warning():
    graph = nx.gnm_random_graph(30, 60, seed=0)
    with pytest.warns(LopsidedWarning, match="every edge has its reverse.*triu"):
        hide_edges(graph)
    hide_edges(sparse.triu(nx.to_scipy_sparse_array(graph)))


def test_links_are_judged_by_rank():
    hidden = hide_edges(GRAPH, share=0.2)
    truth = GRAPH.toarray()
    assert evaluate_links(lambda u, v: truth[u, v], hidden, k=1) == (1.0, 1.0, 1.0)
    blind = evaluate_links(lambda u, v: np.zeros(len(u)), hidden, k=1)
    assert blind == (0.5, 0.5, 0.0)
    positive, negative = np.arange(5.0), np.array([3.5, 0.5, -1.0, -2.0, -3.0])
    small = hidden._replace(positive=(np.arange(5), np.zeros(5)), negative=(np.arange(5, 10), np.zeros(5)))
    scores = np.concatenate([positive, negative])
    found = evaluate_links(lambda u, v: scores[u], small, k=2)
    assert found.hits == 0.8
    assert found.auc == pytest.approx(np.mean(positive[:, None] > negative))


def test_small_graphs_are_judged_by_as_many_pairs_as_they_have():
    hidden = hide_edges(GRAPH, share=0.05)
    count = len(hidden.negative[0])
    with pytest.warns(LopsidedWarning, match=f"k=100 exceeds the number of negative pairs; using hits@{count}"):
        found = evaluate_links(lambda u, v: GRAPH.toarray()[u, v], hidden)
    assert found == (1.0, 1.0, 1.0)


def test_a_directed_embedding_tells_edges_from_their_reverse():
    graph, _ = make_citation_graph(600, n_classes=4, mean_references=8.0, random_state=0)
    hidden = hide_edges(graph, reversed_share=1.0)
    directed, undirected = (
        evaluate_links(
            DirectedGraphEmbedding(32, kernel=kernel, decoder="factors").fit(hidden.adjacency).score_edges, hidden
        ).auc
        for kernel in (Diffusion(direction="both"), Diffusion(direction="undirected"))
    )
    assert directed > undirected + 0.1


def test_whole_numbers_are_embeddings_too():
    S = np.random.default_rng(0).integers(0, 5, (150, 3))
    for decoder in ("dot", "distance"):
        assert reconstruct_graph(S, S, GRAPH, decoder=decoder) == reconstruct_graph(
            S.astype(float), S.astype(float), GRAPH, decoder=decoder
        )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: classify_nodes(SOURCE, LABELS[:9]), "150 rows and labels 9"),
        (lambda: classify_nodes(SOURCE, np.zeros(150)), "labels holds one class only, 0.0; .*at least two"),
        (lambda: classify_nodes(SOURCE, np.where(LABELS == 0, np.nan, LABELS)), "nodes have no label"),
        (lambda: classify_nodes(SOURCE, [None] * 150), "150 nodes have no label"),
        (lambda: classify_nodes(SOURCE, []), "no class"),
        (lambda: precision_at_k(SOURCE, TARGET, GRAPH, 2.5), "k=2.5 must be whole numbers"),
        (lambda: evaluate_links(lambda u, v: [1.0], hide_edges(GRAPH), k=1), r"shape \(1,\) for .* pairs"),
        (lambda: classify_nodes(SOURCE, LABELS, train_size=1.0), "train_size=1.0 of 150 nodes.*share"),
        (lambda: classify_nodes(SOURCE, 2 * np.eye(150), n_splits=1), "zeros and ones"),
        (lambda: classify_nodes(SOURCE, np.eye(150), multilabel="all"), "multilabel='all'"),
        (lambda: reconstruct_graph(SOURCE, TARGET, GRAPH, decoder="cosine"), "decoder='cosine'"),
        (lambda: reconstruct_graph(SOURCE[:9], TARGET, GRAPH), r"source \(9, 6\)"),
        (lambda: precision_at_k(SOURCE, TARGET, GRAPH, 0), "k=0 must be whole numbers from 1"),
        (lambda: hide_edges(GRAPH, share=0.0), "'share' parameter of hide_edges must be a float in the range"),
        (lambda: hide_edges(np.eye(3)), "of 0 edges hides none"),
        (lambda: hide_edges(np.ones((3, 3)), share=0.5), "3 pairs without an edge are needed, but there are only 0"),
        (lambda: evaluate_links(lambda u, v: u, hide_edges(GRAPH), k=0), "k=0 must be a whole number from 1"),
        (lambda: classify_nodes(SOURCE, [{1}, {1, 2}, {2}] * 50), r"node 0 has the labels \{1\}.*MultiLabelBinarizer"),
        (lambda: classify_nodes(SOURCE, [[1], [1, 2], [2]] * 50), "node 0 has the labels.*MultiLabelBinarizer"),
        (lambda: classify_nodes(SOURCE, [("a", "b")] * 150), "MultiLabelBinarizer"),
        (lambda: classify_nodes(SOURCE, SOURCE[:, 0]), "Unknown label type: continuous"),
    ],
    ids=[
        "rows",
        "one_class",
        "nan",
        "None",
        "empty",
        "half",
        "few_scores",
        "split",
        "ones",
        "name",
        "decoder",
        "shape",
        "k",
        "share",
        "loops",
        "full",
        "hits",
        "sets",
        "lists",
        "tuples",
        "real",
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("settings", [{"train_size": "a"}, {"train_size": np.nan}, {"train_size": 1.0}, {"C": "a"}])
def test_settings_of_classes_that_are_no_numbers_are_refused(settings, rng):
    with pytest.raises(ValueError, match=next(iter(settings))):
        classify_nodes(rng.standard_normal((20, 2)), np.arange(20) % 2, **settings)


def test_masked_labels_are_refused(rng):
    labels = np.ma.masked_array(np.arange(20) % 2, mask=np.arange(20) == 3)
    with pytest.raises(ValueError, match="labels has 1 masked entry"):
        classify_nodes(rng.standard_normal((20, 2)), labels)


def test_a_model_in_place_of_its_scores_is_refused():
    hidden = hide_edges(make_citation_graph(60, random_state=0)[0])
    with pytest.raises(TypeError, match="DirectedGraphEmbedding; pass model.score_edges"):
        evaluate_links(DirectedGraphEmbedding(4).fit(hidden.adjacency), hidden)
