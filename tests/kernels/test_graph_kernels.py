"""Diffusion and Katz: values against dense algebra, new nodes, bounds, budgets and bad graphs."""

import tracemalloc
import warnings

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from cases import PLENTY, assert_close
from lopsided import AsymmetricLSSVC, DirectedGraphEmbedding, KernelSVD
from lopsided._core import jobs
from lopsided._core.arrays import canonical
from lopsided.datasets import make_citation_graph
from lopsided.exceptions import ConvergenceWarning, FallbackWarning, LopsidedWarning
from lopsided.kernels import Diffusion, Katz, NodeKernel
from lopsided.kernels.graph.radius import spectral_radius
from lopsided.kernels.graph.walks import Walk, visits
from lopsided.operators import as_operator

N = 40
NODES = np.arange(N)[:, None]
EXACT = 1e-12
DIRECTIONS = ["out", "in", "both", "undirected"]


def random_graph(seed=0, density=0.08):
    """Weights, a self-loop, a node without out-edges, one without in-edges, one without any, and cycles."""
    A = sparse.random_array((N, N), density=density, rng=np.random.default_rng(seed)).toarray()
    A[3], A[:, 5], A[7], A[:, 7], A[1, 1] = 0, 0, 0, 0, 0.5
    return A


def pagerank(A, restart):
    """Walks of one step or more, by dense algebra."""
    degrees = A.sum(axis=1, keepdims=True)
    P = np.divide(A, degrees, out=np.zeros_like(A), where=degrees > 0)
    return restart * (np.linalg.inv(np.eye(len(A)) - (1 - restart) * P) - np.eye(len(A)))


def expected_diffusion(A, restart, direction):
    out, back = pagerank(A, restart), pagerank(A.T, restart).T
    return {"out": out, "in": back, "both": (out + back) / 2, "undirected": pagerank(A + A.T, restart)}[direction]


def test_a_threshold_that_no_walk_reaches_is_refused():
    A = np.eye(9, k=1) + np.eye(9, k=-1)
    for direction in ("both", "last"):
        with pytest.raises(ValueError, match="no walk is as likely as threshold=0.99.*restart=0.15"):
            Diffusion(A, threshold=0.99, direction=direction).fit(*2 * [np.arange(9.0)[:, None]])


def test_the_default_of_katz_does_not_depend_on_the_unit_of_weights():
    A, nodes = np.eye(9, k=1) + np.eye(9, k=-1), np.arange(9.0)[:, None]
    expected = Katz(A).fit(nodes, nodes)(nodes, nodes)
    np.testing.assert_allclose(Katz(1e200 * A).fit(nodes, nodes)(nodes, nodes), expected, rtol=1e-9)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.coo_array], ids=lambda f: f.__name__)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_diffusion_is_personalised_pagerank(direction, make):
    A = random_graph()
    kernel = Diffusion(make(A), restart=0.3, direction=direction, transform=None, threshold=1e-15)
    np.testing.assert_allclose(kernel(NODES, NODES), expected_diffusion(A, 0.3, direction), atol=EXACT)


@pytest.mark.parametrize(("unit", "dtype"), [(1e-310, float), (1e308, float), (2e38, np.float32), (1e-42, np.float32)])
@pytest.mark.parametrize("direction", [*DIRECTIONS, "last"])
def test_diffusion_does_not_depend_on_the_unit_of_weights(direction, unit, dtype):
    A = (random_graph() > 0).astype(dtype)
    plain, scaled = (
        Diffusion(B, direction=direction, transform=None).fit(NODES, NODES) for B in (A, (unit * A).astype(dtype))
    )
    atol = 10 * np.finfo(dtype).eps
    np.testing.assert_allclose(scaled(NODES, NODES), plain(NODES, NODES), atol=atol)
    one, other = (
        (kernel.left_values(*edges).toarray(), kernel.right_values(*edges).toarray())
        for kernel, B in ((plain, A), (scaled, (unit * A).astype(dtype)))
        for edges in [(sparse.csr_array(B[:9]), sparse.csr_array(B.T[:9]))]
    )
    np.testing.assert_allclose(other, one, atol=atol)


def test_a_weight_that_cannot_be_divided_by_does_not_stop_the_walks():
    nodes = np.arange(2.0)[:, None]
    kernel = Diffusion(np.array([[0, 1e-310], [1, 0]]), transform=None).fit(nodes, nodes)
    expected = Diffusion(np.array([[0, 1.0], [1, 0]]), transform=None)(nodes, nodes)
    np.testing.assert_allclose(kernel(nodes, nodes), expected)
    edges = sparse.csr_array([[1.0, 0.0]])
    with pytest.raises(ValueError, match="edge of weight 1 from node 0 to a new one is so much heavier.*1e-310"):
        kernel.right_values(edges, edges)


def test_an_edge_of_weight_zero_to_a_new_node_is_none():
    A, nodes = np.eye(3, k=1), np.arange(3.0)[:, None]
    kernel = Diffusion(A, transform=None).fit(nodes, nodes)
    none, zero = sparse.csr_array((1, 3)), sparse.csr_array(([0.0], ([0], [2])), shape=(1, 3))
    assert not kernel.right_values(none, zero).toarray().any()


@pytest.mark.parametrize("direction", [*DIRECTIONS, "last"])
def test_negative_weights_of_new_nodes_are_refused_though_others_cancel_them(direction):
    kernel = Diffusion(random_graph(), direction=direction).fit(NODES, NODES)
    out_edges, in_edges = (sparse.csr_array(([weight], ([0], [0])), shape=(1, N)) for weight in (-1.0, 2.0))
    for values in (kernel.left_values, kernel.right_values):
        for edges in ((out_edges, in_edges), (in_edges, out_edges)):
            with pytest.raises(ValueError, match="Negative values in data.*the least is -1"):
                values(*edges)


def test_the_transforms_keep_zeros():
    A, threshold = random_graph(), 1e-3
    plain, root, log = (
        Diffusion(A, transform=name, threshold=threshold)(NODES, NODES) for name in (None, "root", "log")
    )
    np.testing.assert_allclose(root, np.sqrt(plain))
    np.testing.assert_allclose(log, np.log(np.maximum(plain / threshold, 1)))
    assert (log[plain == 0] == 0).all() and (plain == 0).any()


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("threshold", [1e-2, 1e-4])
def test_what_the_threshold_costs_is_within_its_bound(threshold, direction):
    A, restart = make_citation_graph(300, random_state=1)[0], 0.2
    nodes = np.arange(300)[:, None]
    found = Diffusion(A, restart=restart, direction=direction, transform=None, threshold=threshold)(nodes, nodes)
    exact = expected_diffusion(A.toarray(), restart, direction)
    assert (found <= exact + EXACT).all()
    steps = np.log(threshold) / np.log(1 - restart)
    side = 2 * max(exact.sum(axis=0).max(), exact.sum(axis=1).max())
    assert (exact - found).max() <= threshold * (1 + steps * (restart + side))


def test_what_the_threshold_leaves_is_what_the_docstring_says():
    A, threshold = random_graph(), 1e-2
    for direction, least in (("out", 1), ("in", 1), ("undirected", 1), ("both", 0.5)):
        values = Diffusion(A, direction=direction, transform=None, threshold=threshold).fit(NODES, NODES).matrix_.data
        assert least * threshold <= values.min() < 1.3 * least * threshold
    dense = Diffusion(A, direction="last", transform=None, threshold=threshold)(NODES, NODES)
    assert 0 < dense[dense > 0].min() < threshold / 2
    log = Diffusion(A, direction="last", threshold=threshold)(NODES, NODES)
    np.testing.assert_allclose(log, np.log(np.maximum(dense / threshold, 1)), atol=EXACT)


def test_hubs_that_are_not_left_cost_no_more_than_their_bound():
    A, _ = make_citation_graph(300, random_state=1)
    walk, restart, threshold, faint = Walk.on(canonical(A + A.T)), 0.2, 1e-3, 1e-3
    every, few = (visits(walk.P, walk.P, restart=restart, threshold=threshold, faint=f).toarray() for f in (0.0, faint))
    assert (few <= every + EXACT).all() and (few < every - EXACT).any()
    exact, steps = pagerank((A + A.T).toarray(), restart), np.log(threshold) / np.log(1 - restart)
    lost = threshold * (1 + steps * (restart + exact.sum(axis=0)))
    assert (exact - few <= lost + steps * faint * walk.peaks * walk.sums).all()


def test_diffusion_does_not_depend_on_blocks_or_threads(monkeypatch):
    A, _ = make_citation_graph(300, random_state=2)
    nodes = np.arange(300)[:, None]
    whole = Diffusion(A)(nodes, nodes)
    monkeypatch.setattr("lopsided.kernels.graph.walks.BLOCK_ROWS", 7)
    np.testing.assert_allclose(Diffusion(A)(nodes, nodes), whole, rtol=1e-12)


def test_walks_stay_within_the_memory_of_their_thread():
    A = sparse.random_array((600, 600), density=0.02, rng=np.random.default_rng(0), format="csr")
    walk, settings = Walk.on(A), {"restart": 0.1, "threshold": 1e-5}
    whole, budget = visits(walk.P, walk.P, **settings), 24e6
    tracemalloc.start()
    with jobs(1, budget):
        found = visits(walk.P, walk.P, **settings)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_close(found.toarray(), whole.toarray(), 1e-12)
    assert peak < budget / 4 + 3 * (found.data.nbytes + found.indices.nbytes)


def test_single_precision_is_kept():
    A = random_graph().astype(np.float32)
    for kernel in (Diffusion(A), Katz(A), NodeKernel(A, normalize="both", self_loops=1.0)):
        assert kernel(NODES, NODES).dtype == np.float32


@pytest.mark.parametrize("signed", [False, True])
def test_katz_is_the_resolvent(signed):
    A = random_graph()
    A = A * np.sign(np.random.default_rng(1).standard_normal(A.shape)) if signed else A
    kernel = Katz(A).fit(NODES, NODES)
    radius = np.abs(np.linalg.eigvals(np.abs(A))).max()
    low, high = kernel.radius_
    assert low <= radius * (1 + EXACT) and radius <= high * (1 + EXACT)
    assert kernel.beta_ == pytest.approx(0.5 / radius, rel=2e-3)
    K = np.linalg.inv(np.eye(N) - kernel.beta_ * A) @ (kernel.beta_ * A)
    np.testing.assert_allclose(kernel(NODES, NODES), K, atol=EXACT)
    np.testing.assert_allclose(kernel(NODES[:3], NODES), K[:3], atol=EXACT)


def test_katz_is_multiplied_and_never_formed():
    kernel = Katz(random_graph()).fit(NODES, NODES)
    rows, columns = NODES[[4, 2, 4, 0]], NODES[[1, 8, 3]]
    A, K = as_operator(kernel, rows, columns, budget=PLENTY), kernel(rows, columns)
    rng = np.random.default_rng(0)
    V, U = rng.standard_normal((3, 2)), rng.standard_normal((4, 2))
    assert_close(A @ V, K @ V)
    assert_close(A.T @ U, K.T @ U)
    assert_close(A.take(), K)
    assert_close(A.T.take([1, 0], [3]), K.T[[1, 0]][:, [3]])
    assert_close(as_operator(kernel.T, columns, rows, budget=PLENTY) @ U, K.T @ U)


@pytest.mark.parametrize(
    ("A", "radius"),
    [
        (np.diag([1.0, 1.0, 1.0], 1), 0.0),
        (np.roll(np.eye(5), 1, axis=1), 1.0),
        (np.kron(np.diag([1.0, 2.0]), np.roll(np.eye(3), 1, axis=1)), 2.0),
        (np.ones((4, 4)), 4.0),
        (np.diag([3.0, 0.0, 1.0]), 3.0),
        (np.array([[0, 1e6, 0], [0, 0, 1], [1, 0, 0]]), 100.0),
        (np.array([[0, 1e200], [1e-200, 0]]), 1.0),
        (np.kron(np.diag([1e-150, 1e150]), [[0, 1, 0], [0, 0, 4], [2, 0, 0]]), 2e150),
    ],
    ids=["path", "cycle", "two_cycles", "complete", "loops", "scaled_cycle", "far_scaled", "far_units"],
)
def test_the_spectral_radius_of_known_graphs(A, radius):
    low, high = spectral_radius(sparse.csr_array(A))
    assert low <= radius * (1 + EXACT) and radius <= high * (1 + EXACT)
    assert high - low <= 1e-3 * high


@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_the_spectral_radius_close_in_on_a_badly_scaled_graph(seed):
    """D^-1 A D has the eigenvalues of A."""
    A = random_graph(seed, density=0.12)
    d = 10 ** np.random.default_rng(seed).uniform(-8, 8, N)
    radius = np.abs(np.linalg.eigvals(A)).max()
    low, high = spectral_radius(sparse.csr_array(A * d / d[:, None]))
    assert radius * (1 - 2e-3) < low <= radius * (1 + 1e-9) and radius * (1 - 1e-9) <= high < radius * (1 + 2e-3)


def test_edges_in_no_cycle_do_not_change_the_default_of_katz():
    nodes = np.arange(3.0)[:, None]
    betas = [Katz([[0, 1, 0], [0.3, 0, w], [0, 0, 0]]).fit(nodes, nodes).beta_ for w in (0, 1, 1e4, 1e300)]
    np.testing.assert_allclose(betas, 0.5 / np.sqrt(0.3), rtol=1e-3)


def test_bounds_that_stay_apart_cause_a_warning():
    cycle = np.roll(np.diag(10 ** np.random.default_rng(0).uniform(-3, 3, 300)), 1, axis=1)
    with pytest.warns(ConvergenceWarning, match="is between .* and .*, and .* steps did not narrow the gap"):
        low, high = spectral_radius(sparse.csr_array(cycle))
    assert low <= np.exp(np.log(cycle[cycle > 0]).mean()) <= high


def test_a_graph_without_cycles_takes_any_beta():
    A = np.diag([1.0, 1.0], 1)
    nodes = np.arange(3)[:, None]
    np.testing.assert_allclose(Katz(A, beta=5.0)(nodes, nodes), [[0, 5, 25], [0, 0, 5], [0, 0, 0]])
    assert Katz(A).fit(nodes, nodes).beta_ == 0.5


def test_a_beta_at_the_bound_causes_a_warning():
    with pytest.warns(ConvergenceWarning, match="lower beta"):
        Katz(np.ones((2, 2)), beta=0.5 - 1e-9)([[0]], [[1]])


KERNELS = [
    *(Diffusion(direction=name, threshold=1e-15, transform=None) for name in DIRECTIONS),
    Katz(),
    NodeKernel(),
    *(NodeKernel(normalize=name) for name in ("left", "right", "both")),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.filterwarnings("ignore:.*(node has|nodes have) a")
def test_a_copy_of_a_node_has_its_values(kernel):
    """A new node with the edges of a known one, which sees the graph as that one does."""
    A = random_graph()
    np.fill_diagonal(A, 0)
    kernel = clone(kernel).set_params(adjacency=A).fit(NODES, NODES)
    K = kernel(NODES, NODES)
    out_edges, in_edges = sparse.csr_array(A), sparse.csr_array(A.T)
    for found, exact in (
        (kernel.left_values(out_edges, in_edges), K),
        (kernel.right_values(out_edges, in_edges), K.T),
    ):
        found = found.toarray() if sparse.issparse(found) else found
        np.testing.assert_allclose(found, exact, atol=1e-11)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.filterwarnings("ignore:.*(node has|nodes have) a")
def test_products_of_new_nodes_are_those_of_their_values(kernel, monkeypatch):
    monkeypatch.setattr("lopsided.kernels.graph.base.NEW_NODE_ENTRIES", 3 * N)
    A = random_graph()
    kernel = clone(kernel).set_params(adjacency=A).fit(NODES, NODES)
    edges, V = (sparse.csr_array(A[:9]), sparse.csr_array(A.T[:9])), np.random.default_rng(0).random((N, 2))
    np.testing.assert_allclose(kernel.left_products(*edges, V), kernel.left_values(*edges) @ V, atol=1e-11)
    np.testing.assert_allclose(kernel.right_products(*edges, V), kernel.right_values(*edges) @ V, atol=1e-11)


@pytest.mark.parametrize("signs", [[1, 1, 1], [1, -1, 1]])
def test_sums_over_walks_that_overflow_are_refused(signs):
    A = np.diag(1e200 * np.array(signs), k=1)
    A[0, 2] = 1e200
    nodes = np.arange(4)[:, None]
    with pytest.raises(ValueError, match="sum over walks overflows float64; lower beta"):
        Katz(A, beta=0.1)(nodes, nodes)
    with pytest.raises(ValueError, match="lower beta"):
        DirectedGraphEmbedding(2, kernel=Katz(beta=0.1)).fit(A)
    assert np.isfinite(Katz(A)(nodes, nodes)).all()


@pytest.mark.parametrize("kernel", [NodeKernel, Katz, Diffusion])
def test_a_networkx_graph_must_be_read_first(kernel):
    with pytest.raises(TypeError, match="adjacency must be a matrix, not a DiGraph; pass read_graph.*adjacency"):
        kernel(nx.DiGraph([(0, 1)]))([[0]], [[1]])


@pytest.mark.parametrize("number", [1e300, -1e300, 0.5])
def test_invalid_node_numbers_are_refused_without_a_warning(number):
    with pytest.raises(ValueError, match="is not a node"):
        NodeKernel(np.eye(3))([[number]], [[0]])


def test_products_of_katz_sum_walks_once_for_all_new_nodes(monkeypatch):
    widths = []
    original = Katz.walks
    monkeypatch.setattr(Katz, "walks", lambda self, V, **of: widths.append(V.shape[1]) or original(self, V, **of))
    A, _ = make_citation_graph(300, random_state=0)
    model = DirectedGraphEmbedding(3, kernel="katz").fit(A)
    widths.clear()
    model.transform(A[:200], A.T.tocsr()[:200])
    assert widths == [3, 3]


def test_a_matrix_above_the_budget_is_made_coarser_with_a_warning():
    A, _ = make_citation_graph(500, random_state=0)
    nodes = np.arange(500)[:, None]
    with pytest.warns(FallbackWarning, match="threshold=1e-05 would exceed the budget of 100000 bytes; .* is taken"):
        kernel = Diffusion(A, direction="undirected", threshold=1e-5, memory_budget=1e5).fit(nodes, nodes)
    assert kernel.threshold_ > 1e-5
    assert kernel.matrix_.nnz * 12 < 1e5
    with pytest.warns(FallbackWarning, match="is taken"):  # the next finer one does not fit
        asked = Diffusion(A, direction="undirected", threshold=kernel.threshold_ / 2, memory_budget=1e5)
        assert asked.fit(nodes, nodes).threshold_ == kernel.threshold_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Diffusion(A, threshold=1e-3).fit(nodes, nodes).threshold_ == 1e-3


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Diffusion(), "compares the nodes of a graph: give Diffusion.adjacency.*DirectedGraphEmbedding"),
        (Diffusion(-np.eye(3)), "Negative values in data.*the least is -1"),
        (Diffusion(np.ones((2, 3))), r"shape \(2, 3\).*KernelSVD"),
        (Diffusion(np.eye(3), restart=1.0), "restart.*Got 1.0"),
        (Diffusion(np.eye(3), direction="up"), "direction.*Got 'up'"),
        (Diffusion(np.eye(3), threshold=0.0), "threshold.*Got 0.0"),
        (
            Katz(np.ones((3, 3)), beta=0.5),
            "beta=0.5 must be below 1 / .spectral radius. = 0.333.*beta=None, which is 0.16",
        ),
        (Katz(np.eye(3), beta=-1.0), "beta.*Got -1.0"),
    ],
    ids=["no_graph", "negative", "not_square", "restart", "direction", "threshold", "beta", "negative_beta"],
)
def test_bad_graphs_and_parameters_are_refused(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel([[0]], [[1]])


@pytest.mark.parametrize("name", ["diffusion", "katz", "node_kernel"])
def test_a_kernel_of_nodes_asked_for_by_name_needs_a_graph(name):
    with pytest.raises(ValueError, match="compares the nodes of a graph"):
        KernelSVD(kernel=name).fit(NODES, Z=NODES)


@pytest.mark.parametrize("make", [Diffusion, Katz])
@pytest.mark.filterwarnings("ignore:C=.* is far outside the useful range")
def test_the_least_squares_machine_is_that_of_the_matrix(make):
    A, labels = make_citation_graph(120, n_classes=3, random_state=0)
    nodes, train, test = np.arange(120)[:, None], slice(0, 90), slice(90, 120)
    K = make(A)(nodes, nodes)
    of_nodes = AsymmetricLSSVC(0.01, kernel=make(A)).fit(nodes[train], labels[train])
    of_values = AsymmetricLSSVC(0.01, kernel="precomputed").fit(K[train, train], labels[train])
    np.testing.assert_allclose(
        of_nodes.decision_function(nodes[test]),
        of_values.decision_function(K[test, train], Z=K[train, test].T),
        atol=1e-9,
    )


def test_the_singular_values_are_those_of_the_matrix():
    for kernel in (Diffusion(random_graph()), Katz(random_graph())):
        s = np.linalg.svd(kernel(NODES, NODES), compute_uv=False)
        np.testing.assert_allclose(KernelSVD(4, kernel=kernel).fit(NODES, Z=NODES).singular_values_, s[:4], rtol=1e-9)


@pytest.mark.parametrize(
    "compose",
    [
        lambda A: 0.5 * NodeKernel(A),
        lambda A: Katz(A) + NodeKernel(A),
        lambda A: Diffusion(A) * NodeKernel(A),
        lambda A: (0.5 * Katz(A)).T,
    ],
)
@pytest.mark.parametrize("budget", [None, 1])
def test_compositions_of_kernels_of_nodes_are_decomposed_as_they_are(compose, budget):
    A = np.array([[0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 0], [0.5, 0, 1, 0]])
    kernel, nodes = compose(A), np.arange(4.0)[:, None]
    found = KernelSVD(2, kernel=kernel, memory_budget=budget).fit(nodes, Z=nodes).singular_values_
    assert_close(found, np.linalg.svd(kernel(nodes, nodes), compute_uv=False)[:2])


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_long_walks_are_solved_at_once(direction, dtype):
    A, nodes = sparse.random_array((100, 100), density=0.2, rng=np.random.default_rng(0)), np.arange(100)[:, None]
    A, restart = A.toarray().astype(dtype), 1e-4
    forward, back = pagerank(A, restart), pagerank(A.T, restart).T
    expected = {"out": forward, "in": back, "both": (forward + back) / 2, "undirected": pagerank(A + A.T, restart)}
    kernel = Diffusion(A, restart=restart, direction=direction, transform=None, threshold=1e-8, memory_budget="50MB")
    found = kernel.fit(nodes, nodes)  # 180,000 steps: a quarter of an hour if they were followed
    np.testing.assert_allclose(found(nodes, nodes), expected[direction], atol=1e-5 if dtype == np.float32 else 1e-8)
    new = found.left_values(*2 * [canonical(sparse.csr_array(A[:3]))])
    assert np.isfinite(new.data).all()


def test_walks_that_take_minutes_say_so(monkeypatch):
    monkeypatch.setattr("lopsided.kernels.graph.diffusion.COSTLY_WORK", 1e4)
    with pytest.warns(LopsidedWarning, match=r"restart=0.1 and threshold=0.0001 take up to 87 steps over"):
        Diffusion(random_graph(), restart=0.1, threshold=1e-4).fit(NODES, NODES)
