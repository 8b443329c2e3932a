"""Laws of directed graphs: one graph in every form, renamed and weighted, against dense algebra and scikit-learn."""

import pickle
import tracemalloc
from dataclasses import replace
from datetime import date, timedelta

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

from lopsided import DirectedGraphEmbedding
from lopsided.datasets import make_citation_graph, make_directed_blocks
from lopsided.graphs import classify_nodes, evaluate_links, hide_edges
from lopsided.graphs.kernel_choice import Recipe
from lopsided.graphs.learn_decoder import learned, with_better_ranking
from lopsided.graphs.parts import fit_part
from lopsided.graphs.trials import trials
from lopsided.io import read_graph
from lopsided.kernels import Diffusion, Katz, NodeKernel

N = 24
EXACT = 1e-10


def weighted_graph():
    """Weights all different, so that singular values are too; a self-loop; every node has edges; one edge each pair."""
    rng = np.random.default_rng(5)
    A = np.where(rng.random((N, N)) < 0.15, rng.uniform(0.5, 2.0, (N, N)).round(3), 0)
    A[np.arange(N), np.roll(np.arange(N), 1)] = rng.uniform(0.5, 2.0, N).round(3)
    A[4, 4] = 0.75
    return A


A = weighted_graph()
SOURCE, TARGET = np.nonzero(A)
WEIGHT = A[SOURCE, TARGET]
TABLE = pd.DataFrame({"source": SOURCE, "target": TARGET, "weight": WEIGHT})
KERNELS = ["auto", Diffusion(direction="undirected", transform="root"), "katz", NodeKernel(), "sne", "rbf", "linear"]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


FORMS = {
    **{
        f"{fmt}_{kind}": make(A).asformat(fmt)
        for fmt in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
        for kind, make in (("array", sparse.csr_array), ("matrix", sparse.csr_matrix))
    },
    "lists": A.tolist(),
    "read-only": np.frombuffer(A.tobytes()).reshape(N, N),
    "fortran": np.asfortranarray(A),
    "networkx": nx.from_numpy_array(A, create_using=nx.DiGraph),
    "pandas": TABLE,
    "pandas, shuffled": TABLE.sample(frac=1, random_state=0)[["weight", "target", "source"]],
    "pandas, adjacency": pd.DataFrame(A)[::-1].T[::-1].T,
    "tuples": list(zip(SOURCE.tolist(), TARGET.tolist(), WEIGHT.tolist(), strict=True)),
    "split edges": pd.concat([TABLE.assign(weight=0.25 * WEIGHT), TABLE.assign(weight=0.75 * WEIGHT)]),
}


def scores(model, nodes=range(N)):
    """All pairs, by ids."""
    return np.array([model.score_edges(u, list(nodes)) for u in nodes])


def fitted(graph, kernel="auto", k=5, **parameters):
    """The plain kernel SVD of a graph: what is learned from hidden edges depends on the order of the nodes."""
    plain = {"decoder": "factors", "center": False, "tol": 0.0}
    return DirectedGraphEmbedding(k, kernel=kernel, **(plain | parameters)).fit(graph)


def precision(kernel):
    """The default computes in single precision."""
    return 1e-5 if kernel == "auto" else EXACT


def vectors(model):
    return normalize(np.hstack([model.source_embedding_, model.target_embedding_]))


SCORES = scores(fitted(A))


@pytest.mark.parametrize("graph", FORMS.values(), ids=FORMS)
def test_a_graph_scores_its_edges_alike_in_every_form(graph):
    """Files are read in tests/io."""
    before = pickle.dumps(graph)
    model = fitted(graph)
    np.testing.assert_allclose(scores(model), SCORES, atol=precision("auto"))
    np.testing.assert_array_equal(vectors(fitted(read_graph(graph))), vectors(model))
    assert isinstance(graph, nx.DiGraph) or pickle.dumps(graph) == before  # networkx caches its views


@pytest.mark.parametrize("form", [name for name in FORMS if name.endswith(("array", "matrix"))])
def test_rows_of_new_nodes_are_not_modified(form):
    rows, before = FORMS[form], pickle.dumps(FORMS[form])
    fitted(A, "sne", self_loops=1.0, normalize="both").transform(rows, rows)
    assert pickle.dumps(rows) == before


def test_ids_keep_their_type_and_their_order(tmp_path):
    for ids in ([10, 7, 3], ["x", "é", "10"], [-1, 2**40, 0], [2**70, 1, 2]):
        table = pd.DataFrame({"source": ids, "target": np.roll(np.array(ids, dtype=object), 1)})
        table.to_csv(tmp_path / "ids.csv", index=False)
        for graph in (table, nx.from_pandas_edgelist(table, create_using=nx.DiGraph)):
            assert sorted(map(str, read_graph(graph).nodes)) == sorted(map(str, ids))
            assert {type(node) for node in read_graph(graph).nodes.tolist()} == {type(ids[0])}
        model = fitted(tmp_path / "ids.csv", k=2)
        assert [str(node) for node in model.nodes_] == [str(ids[i]) for i in (0, 2, 1)]
        assert set(model.nearest_targets(model.nodes_[1], 2)) == {model.nodes_[0], model.nodes_[2]}


DAYS, SPANS = (
    {"source": three, "target": three[1:] + three[:1]}
    for three in ([date(2020, 1, i) for i in (1, 2, 3)], [timedelta(i, microseconds=1) for i in (1, 2, 3)])
)
NANOSECOND = pd.Timedelta(1, "ns")
MOMENTS = {
    **{f"pandas, {unit}": pd.DataFrame(DAYS).astype(f"datetime64[{unit}]") for unit in ("s", "us", "ns")},
    "pandas, finer than Python": pd.DataFrame(DAYS).astype("datetime64[ns]") + NANOSECOND,
    "pandas, zone": pd.DataFrame(DAYS).astype("datetime64[ns]").apply(lambda column: column.dt.tz_localize("UTC")),
    "pandas, spans": pd.DataFrame(SPANS),
    "pandas, finer spans": pd.DataFrame(SPANS).astype("timedelta64[ns]") + NANOSECOND,
    "polars, dates": pl.DataFrame(DAYS),
    "polars, times": pl.DataFrame(DAYS).cast(pl.Datetime("ns")),
    "polars, spans": pl.DataFrame(SPANS),
    "pyarrow, dates": pa.table(DAYS),
    "pyarrow, milliseconds": pa.table(DAYS).cast(pa.schema(dict.fromkeys(DAYS, pa.date64()))),
    "pyarrow, times": pa.table(DAYS).cast(pa.schema(dict.fromkeys(DAYS, pa.timestamp("ns")))),
}


@pytest.mark.parametrize("table", MOMENTS.values(), ids=MOMENTS)
def test_dates_and_times_are_found_as_nodes_hold_them_and_as_the_table_does(table):
    model = fitted(table, k=2)
    column = table["source"]
    expected = model.score_edges(model.nodes_, model.nodes_[0])
    assert len(expected) == 3
    for ids in (column, list(column), column.to_numpy(), list(column.to_numpy())):
        np.testing.assert_array_equal(model.score_edges(ids, ids[0]), expected)


@every_kernel
def test_renaming_the_nodes_permutes_their_vectors(kernel):
    order = np.random.default_rng(0).permutation(N)
    model, renamed = fitted(A, kernel), fitted(A[np.ix_(order, order)], kernel)
    np.testing.assert_allclose(vectors(renamed), vectors(model)[order], atol=precision(kernel))


@pytest.mark.parametrize("kernel", [Diffusion(), Katz(beta=0.1), NodeKernel(), "rbf", "linear"], ids=repr)
def test_turning_all_edges_round_exchanges_the_vectors(kernel):
    """SNE and the walks of "undirected" and "last" are divided by the sums of one side."""
    np.testing.assert_allclose(scores(fitted(A.T, kernel)), scores(fitted(A, kernel)).T, atol=EXACT)


@pytest.mark.parametrize("kernel", ["auto", Katz(), NodeKernel(normalize="both")], ids=repr)
def test_the_unit_of_the_weights_does_not_matter(kernel):
    """Beyond what Katz allows the bounds of the spectral radius, a thousandth."""
    expected = scores(fitted(A, kernel))
    tolerance = 5e-3 * expected.max() if isinstance(kernel, Katz) else precision(kernel)
    np.testing.assert_allclose(scores(fitted(1000 * A, kernel)), expected, atol=tolerance)


def personalised_pagerank(A, restart):
    """Where walks of at least one step end, by dense algebra."""
    P = A / np.maximum(A.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.linalg.solve(np.eye(len(A)) - (1 - restart) * P, restart * (1 - restart) * P)


def steps(A):
    """Chances of a step along the edges; every node has one."""
    return A / A.sum(axis=1, keepdims=True)


def test_the_default_knows_what_is_near():
    """Roots of chances that a walk either way, whose last step follows an edge or stays, gets there."""
    P, walks = steps(A), np.linalg.inv(np.eye(N) - 0.8 * steps(A + A.T))
    near = 0.2 * walks @ (np.eye(N) + P) / 2
    np.testing.assert_allclose(scores(fitted(A, k=N)), np.sqrt(np.where(near < 1e-4, 0, near)), atol=precision("auto"))


CUT_BY_AN_EDGE = {  # by hiding one, so that hidden edges join what is far apart
    "cycle": nx.cycle_graph(60, nx.DiGraph),
    "two cycles": nx.disjoint_union(nx.cycle_graph(30, nx.DiGraph), nx.cycle_graph(30, nx.DiGraph)),
    "tree, down": nx.balanced_tree(2, 6, nx.DiGraph),
    "tree, up": nx.balanced_tree(2, 6, nx.DiGraph).reverse(),
    "tree of three": nx.balanced_tree(3, 4, nx.DiGraph),
    "recursive tree": nx.DiGraph(
        [(int(v * draw), v) for v, draw in enumerate(np.random.default_rng(0).random(200)) if v]
    ),
}


@pytest.mark.parametrize("graph", CUT_BY_AN_EDGE.values(), ids=CUT_BY_AN_EDGE)
def test_known_edges_score_more_than_other_pairs_where_hidden_ones_are_far_apart(graph):
    model = DirectedGraphEmbedding(n_components=16).fit(graph)
    n = len(model.nodes_)
    pairs = np.flatnonzero(~np.eye(n, dtype=bool))
    scores = model.score_edges(model.nodes_[pairs // n], model.nodes_[pairs % n])
    assert roc_auc_score(model.adjacency_.toarray().ravel()[pairs] > 0, scores) > 0.6


def test_the_learned_decoder_adds_up_what_its_parts_say_of_a_pair():
    """F, P F and the cosine of linear SVD in both directions, logarithms of degrees, the reverse edge."""
    model = DirectedGraphEmbedding(N, kernel=NodeKernel(), tol=0.0).fit(A)
    decoder, links = model._decoder, A > 0
    U, s, Vt = np.linalg.svd(A)
    out, into = np.log1p(links.sum(axis=1)), np.log1p(links.sum(axis=0))
    d, expected = decoder.formula.degree, decoder.formula.constant + decoder.formula.reverse * links.T
    expected = expected + np.add.outer(d[0] * out + d[1] * into, d[2] * out + d[3] * into)
    terms = {"factors": A, "step": steps(A) @ A, "cosine": normalize(U * s) @ normalize(Vt.T * s).T}
    for name, values in terms.items():
        expected += decoder.formula.forward[0][name] * values + decoder.formula.backward[0][name] * values.T
    np.testing.assert_allclose(scores(model), expected, atol=1e-8 * abs(expected).max())
    assert min(decoder.formula.forward[0].values()) >= 0


def test_diffusion_scores_are_logarithms_of_personalised_pagerank():
    threshold = 1e-12
    K = (personalised_pagerank(A, 0.15) + personalised_pagerank(A.T, 0.15).T) / 2
    found = scores(fitted(A, Diffusion(threshold=threshold), k=N))
    np.testing.assert_allclose(found, np.log(np.maximum(K / threshold, 1)), atol=1e-7)


def test_katz_scores_are_those_of_the_dense_inverse():
    model = fitted(A, Katz(beta=0.1), k=N)
    np.testing.assert_allclose(scores(model), np.linalg.inv(np.eye(N) - 0.1 * A) - np.eye(N), atol=EXACT)


def test_self_loops_and_degrees_come_before_the_kernel():
    G = A + 2.0 * np.eye(N)
    for side, divided in (
        ("left", G / G.sum(axis=1, keepdims=True)),
        ("right", G / G.sum(axis=0)),
        ("both", G / np.sqrt(np.outer(G.sum(axis=1), G.sum(axis=0)))),
    ):
        model = fitted(A, "linear", k=N, self_loops=2.0, normalize=side)
        np.testing.assert_allclose(scores(model), divided @ divided, atol=EXACT)


def test_an_edge_of_weight_zero_is_none_in_every_form(tmp_path):
    table = pd.DataFrame({"source": [0, 1, 2, 3], "target": [1, 2, 0, 0], "weight": [1.0, 2.0, 1.0, 0.0]})
    stored = sparse.csr_array((table.weight, (table.source, table.target)), shape=(4, 4))
    network = nx.from_pandas_edgelist(table, edge_attr="weight", create_using=nx.DiGraph)
    for graph in (stored, stored.toarray(), table, network):
        read = read_graph(graph)
        assert read.adjacency.nnz == 3 and len(read.nodes) == 4
        assert (vectors(fitted(graph, k=2))[3] == 0).all()
    assert stored.nnz == 4


@every_kernel
def test_new_nodes_do_not_depend_on_each_other_or_on_the_form_of_their_edges(kernel):
    model = fitted(A, kernel)
    out_edges, in_edges = A[:3, ::-1].copy(), A[5:8]
    together = model.transform(out_edges, in_edges)
    for i in range(3):
        alone = model.transform(sparse.coo_array(out_edges[i : i + 1]), in_edges[i : i + 1].tolist())
        np.testing.assert_allclose(alone, together[i : i + 1], atol=precision(kernel))
    nothing = np.zeros_like(out_edges[:1])
    silent = model.transform(np.vstack([nothing, out_edges]), np.vstack([in_edges[:1], in_edges]))[:1]
    np.testing.assert_allclose(silent, model.transform(nothing, in_edges[:1]), atol=precision(kernel))
    u, v = np.nonzero(out_edges)
    x, y = np.nonzero(in_edges)
    tables = (
        pl.DataFrame({"source": [f"new {i}" for i in u], "target": v, "weight": out_edges[u, v]}),
        pd.DataFrame({"source": y, "target": [f"new {i}" for i in x], "weight": in_edges[x, y]}),
    )
    np.testing.assert_allclose(model.transform(*tables), together, atol=precision(kernel))


def test_new_nodes_may_have_only_in_edges():
    model, row = fitted(A), A[5:6]
    nothing = np.zeros_like(row)
    np.testing.assert_allclose(model.transform(None, row), model.transform(nothing, row), atol=EXACT)
    assert (model.transform(None, row)[:, 5:] != 0).any()


@pytest.mark.parametrize("kernel", ["sne", "rbf", "linear"])
def test_the_side_of_which_nothing_is_known_has_zeros(kernel):
    model = fitted(A, kernel, unit_length=False)
    both = model.transform(A[3:5], A.T[3:5])
    sources, targets = model.transform(A[3:5]), model.transform(None, A.T[3:5])
    np.testing.assert_allclose(sources + targets, both, atol=EXACT)
    assert not sources[:, 5:].any() and not targets[:, :5].any()


@pytest.mark.parametrize("ranking", ["factors", "learned"])
def test_nearest_targets_are_those_of_all_pairs(ranking):
    """Of all pairs by proximity alone, or by all that the decoder learned."""
    graph = make_directed_blocks(300, random_state=0)[0]
    model = DirectedGraphEmbedding(32).fit(graph)
    model._decoder = replace(model._decoder, formula=model._decoder.formula._replace(ranking=ranking))
    sources, targets = model.edge_vectors()
    by_scores = by_ranking = sources @ targets.T + model.reverse_score_ * (graph.T.toarray() != 0)
    if ranking == "factors":
        proximity = model._parts_[0]
        by_ranking = proximity.U * proximity.s @ proximity.V.T
    has_edges = np.diff(graph.indptr) + np.bincount(graph.indices, minlength=graph.shape[0]) > 0
    products = np.where(has_edges[:, None], by_ranking, by_scores)
    np.fill_diagonal(products, -np.inf)
    found = model.nearest_targets(model.nodes_, 7)
    np.testing.assert_allclose(np.take_along_axis(products, found, 1), -np.sort(-products, axis=1)[:, :7], rtol=1e-5)
    assert (found != np.arange(graph.shape[0])[:, None]).all()


def test_targets_are_ranked_by_whatever_finds_more_hidden_ones():
    """Learned scores as they are, but factors instead of scores that say the opposite."""
    graph = make_citation_graph(600, n_classes=12, random_state=4)[0]
    seen = trials(graph, 0)
    recipe, linked, settings = Recipe(Diffusion(), 32, False), np.ones(600, dtype=bool), {"memory_budget": None}
    parts_of = [[fit_part(recipe, trial.adjacency, linked, settings)] for trial in seen]
    formula = learned(parts_of, seen)
    assert with_better_ranking(formula, parts_of, seen).ranking == "learned"
    opposite = formula._replace(forward=({term: -weight for term, weight in formula.forward[0].items()},))
    assert with_better_ranking(opposite, parts_of, seen).ranking == "factors"


@every_kernel
def test_float32_stays_and_says_the_same(kernel):
    model, single = fitted(A, kernel), fitted(A.astype(np.float32), kernel)
    new = A[:2].astype(np.float32)
    for found in (vectors(single), single.transform(new, new)):
        assert found.dtype == np.float32
    np.testing.assert_allclose(scores(single), scores(model), atol=1e-4 * model.singular_values_[0])


@every_kernel
def test_models_are_copied_and_repeated_to_the_bit(kernel):
    model = fitted(A, kernel)
    for other in (pickle.loads(pickle.dumps(model)), clone(model).fit(A)):
        np.testing.assert_array_equal(vectors(other), vectors(model))
        np.testing.assert_array_equal(other.transform(A[:4], A[:4]), model.transform(A[:4], A[:4]))


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_frames_have_a_row_for_each_node(container):
    """An edge list has another length than its nodes."""
    model = DirectedGraphEmbedding(3, kernel=NodeKernel()).set_output(transform=container)
    for graph in (TABLE, A):
        frame = model.fit_transform(graph)
        assert list(frame.columns) == [*(f"source{i}" for i in range(3)), *(f"target{i}" for i in range(3))]
        np.testing.assert_array_equal(frame.to_numpy(), vectors(model))
        assert container != "pandas" or list(frame.index) == list(model.nodes_)
    new = model.transform(pd.DataFrame({"source": ["x", "x", "y"], "target": [0, 1, 2]}))
    assert new.shape == (2, 6)
    assert container != "pandas" or list(new.index) == ["x", "y"]


def test_a_pipeline_reads_an_edge_list():
    graph, labels = make_citation_graph(150, n_classes=2, homophily=0.9, random_state=0)
    edges = pd.DataFrame(np.transpose(graph.nonzero()), columns=["source", "target"])
    pipeline = make_pipeline(DirectedGraphEmbedding(8), LogisticRegression())
    nodes = read_graph(edges).nodes
    pipeline.fit(edges, labels[nodes])
    copies = edges.assign(source="copy of " + edges.source.astype(str))
    truth = labels[edges.source.drop_duplicates()]
    assert pipeline.score(copies, truth) > 0.7


@pytest.mark.parametrize("reversed_share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_hidden_edges_and_other_pairs_are_apart(reversed_share, seed):
    graph, _ = make_citation_graph(400, random_state=0)
    graph = graph + sparse.eye_array(400)
    left, positive, negative = hide_edges(graph, share=0.2, reversed_share=reversed_share, random_state=seed)
    hidden = sparse.csr_array((np.ones(len(positive[0])), positive), shape=graph.shape)
    assert ((left + hidden) != graph).nnz == 0 and left.nnz + hidden.nnz == graph.nnz
    pairs = set(zip(*(side.tolist() for side in negative), strict=True))
    assert len(pairs) == len(negative[0]) == hidden.nnz == round(0.2 * (graph.nnz - 400))
    assert all(u != v and graph[u, v] == 0 for u, v in pairs)
    turned = [(u, v) for u, v in pairs if hidden[v, u]]
    if reversed_share:
        assert len(turned) >= 0.95 * reversed_share * hidden.nnz
        assert np.mean([v for _, v in turned]) == pytest.approx(positive[0].mean(), rel=0.1)  # of all nodes alike
    again = hide_edges(graph, share=0.2, reversed_share=reversed_share, random_state=seed)
    np.testing.assert_array_equal(again.negative, negative)


def test_pairs_that_are_no_edges_are_found_among_few():
    A = np.ones((6, 6))
    A[[0, 1, 2], [3, 4, 5]] = 0
    _, _, negative = hide_edges(A, share=0.1, reversed_share=0.0)
    assert set(zip(*(side.tolist() for side in negative), strict=True)) == {(0, 3), (1, 4), (2, 5)}


def test_links_are_judged_by_their_definitions():
    hidden = hide_edges(make_citation_graph(400, random_state=0)[0])
    model = fitted(hidden.adjacency, k=16)
    found = evaluate_links(model.score_edges, hidden, k=20)
    sources, targets = model.edge_vectors()
    S = sources @ targets.T
    positive, negative = S[hidden.positive], S[hidden.negative]
    wins = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    assert found.auc == pytest.approx(wins.mean())
    better = [(positive >= score).sum() / ((positive >= score).sum() + (negative >= score).sum()) for score in positive]
    assert found.average_precision == pytest.approx(np.mean(better))
    assert found.hits == np.mean([(negative >= score).sum() < 20 for score in positive])


def least_squares_decisions(X, Y, test_X, C):
    """The LS-SVM's dual: [0 1'; 1 K + I/C] [b; a] = [0; y]."""
    n = len(X)
    M = np.block([[np.zeros((1, 1)), np.ones((1, n))], [np.ones((n, 1)), X @ X.T + np.eye(n) / C]])
    solution = np.linalg.solve(M, np.vstack([np.zeros((1, Y.shape[1])), Y]))
    return test_X @ X.T @ solution[1:] + solution[0]


def test_a_class_that_no_test_node_has_does_not_count():
    """As scikit-learn's macro F1 does; rare classes would lower the mean by chance."""
    X, labels = np.repeat([[1.0, 0.0], [0.0, 1.0]], 20, axis=0), np.repeat(["a", "b"], 20)
    labels[0] = "rare"
    found = classify_nodes(X, labels, n_splits=30)
    assert (found.macro_f1[found.micro_f1 == 1] == 1).all() and (found.micro_f1 == 1).any()


@pytest.mark.parametrize("multilabel", ["top", "sign"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_several_labels_are_judged_as_by_scikit_learn(multilabel, make):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((80, 6)), (rng.random((80, 5)) < 0.3).astype(int)
    found = classify_nodes(X, make(Y), n_splits=2, multilabel=multilabel, random_state=3)
    rng = np.random.RandomState(3)
    for micro, macro in zip(*found, strict=True):
        order = rng.permutation(80)
        train, test = order[:48], order[48:]
        decisions = least_squares_decisions(X[train], 2.0 * Y[train] - 1, X[test], 1.0)
        bars = np.zeros(len(test))
        if multilabel == "top":
            pairs = zip(decisions, Y[test].sum(axis=1), strict=True)
            bars = np.array([np.sort([*row, np.inf])[-count - 1] for row, count in pairs])
        guess = decisions >= bars[:, None]
        for score, mean in ((micro, "micro"), (macro, "macro")):
            assert score == pytest.approx(f1_score(Y[test], guess, average=mean, zero_division=0))


@pytest.mark.parametrize("kernel", ["auto", "sne", "katz"])
@pytest.mark.filterwarnings("ignore:.*score every target alike")
def test_no_array_of_all_pairs_is_formed(kernel):
    n = 20_000
    graph, _ = make_citation_graph(n, random_state=0)
    tracemalloc.start()
    try:
        model = DirectedGraphEmbedding(4, kernel=kernel, tol=0.1).fit(graph)
        model.nearest_targets(range(100), 5)
        model.transform(graph[:100], graph.T.tocsr()[:100])
        hide_edges(graph)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < n * n  # bytes, of the smallest type there is


def test_columns_of_a_file_are_found_by_the_names_that_are_given(tmp_path):
    """Texts do not tell a header from an edge, but its names do."""
    path = tmp_path / "g.csv"
    path.write_text("citing,cited\na,b\nb,a\n")
    assert list(read_graph(path, source="citing", target="cited").nodes) == ["a", "b"]
    assert list(read_graph(path, source="cited", target="citing").nodes) == ["b", "a"]
    with pytest.raises(ValueError, match="source='who' is not among the columns 'citing', 'cited'"):
        read_graph(path, source="who", target="cited")


NEW = pd.DataFrame({"source": ["new", "new"], "target": [0, 1]})
SIGNED = np.where(np.arange(N) == 3, -1.0, A[:1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.transform(NEW, A[:1]), "tables of edges or as rows.*not as DataFrame and ndarray"),
        (lambda m: m.transform(A[:1], NEW), "tables of edges or as rows.*not as ndarray and DataFrame"),
        (lambda m: m.transform(nx.DiGraph([("new", 0)])), "tables of edges or as rows.*not as DiGraph"),
        (lambda m: m.transform(hide_edges(A)), "tables of edges or as rows.*not as HiddenEdges"),
        (lambda m: m.transform({0: [1]}), "tables of edges or as rows.*not as dict"),
        (lambda m: m.transform(SIGNED), "Negative values.*the least is -1"),
        (lambda m: m.transform(A[:1], SIGNED), "Negative values.*the least is -1"),
        (lambda m: m.transform(NEW.assign(weight=-1.0)), "Negative values.*the least is -1"),
        (lambda m: m.transform(np.full((1, N), np.nan)), "X contains NaN"),
        (lambda m: m.transform(None, NEW), "2 new nodes have ids of nodes of the graph: 0, 1"),
        (lambda m: m.score_edges(0, np.array([1, N])), f"1 id is not a node of the graph: {N};"),
        (
            lambda m: read_graph(TABLE.set_axis(["source", "Source", "target"], axis=1)),
            "could be the source",
        ),
        (lambda m: classify_nodes(A, A[:, :1] > 0), r"array of shape \(n_nodes,\)"),
        (lambda m: classify_nodes(A, np.arange(N) % 2, C=0.0), "C=0.0 positive"),
        (lambda m: classify_nodes(A, np.arange(N) % 2, n_splits=0), "n_splits=0 must be a whole number of at least 1"),
        (
            lambda m: classify_nodes(A, np.arange(N) % 2, n_splits=2.0),
            "n_splits=2.0 must be a whole number of at least 1",
        ),
    ],
)
def test_impossible_requests_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(fitted(A))


def test_hidden_edges_of_an_undirected_graph_run_either_way():
    """If ids are sorted by degree and sources always come first, degrees would be learned for one side only."""
    graph, _ = make_citation_graph(400, random_state=0)
    u, v = np.concatenate([trial.hidden for trial in trials(sparse.csr_array(graph + graph.T), seed=0)], axis=1)
    assert 0.4 < np.mean(u < v) < 0.6


def test_needless_components_do_not_spoil_scores():
    """Five groups in a cycle need five components; with 128 of them noise told edges from other pairs."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 5, 500)
    follows = (group[None, :] - group[:, None]) % 5 == 1
    graph = sparse.csr_array(rng.random((500, 500)) < np.where(follows, 0.1, 0.005), dtype=float)
    known, edges, others = hide_edges(graph, reversed_share=0.0)
    truth = np.repeat([1, 0], [len(edges[0]), len(others[0])])
    models = [DirectedGraphEmbedding(k).fit(known) for k in (8, 128)]
    few, many = (roc_auc_score(truth, np.append(m.score_edges(*edges), m.score_edges(*others))) for m in models)
    assert many > few - 0.02


def test_links_without_a_direction_count_less():
    cycle, _ = make_directed_blocks(300, random_state=0)
    weights = [DirectedGraphEmbedding(16).fit(A).weights_[1] for A in (cycle, cycle + cycle.T)]
    assert weights[1] <= 0.5 < weights[0]
