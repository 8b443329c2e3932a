"""Embeddings of graphs whose edges are in blocks on disk are those of the same edges in memory."""

import json
import pickle

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow.dataset
import pytest
from scipy import sparse

from lopsided import DirectedGraphEmbedding
from lopsided._core import AdjacencyBlocks
from lopsided.distributed import open_graph, store_graph
from lopsided.graphs import Graph
from lopsided.io import read_graph, save
from lopsided.kernels import Katz, NodeKernel
from lopsided.kernels.graph.radius import spectral_radius
from lopsided.operators import Stored, as_operator
from lopsided.testing import check_operator

N, M, K = 400, 2400, 6
TOL = 1e-10  # of what is asked of the answers, relative to their size
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")  # of dask itself with pandas 3.1


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("lopsided.distributed.graphs.BLOCK_EDGES", 300)
    monkeypatch.setattr("lopsided.distributed.graphs.SAMPLED", 8)


def table(kind=int, seed=0):
    """Edges of a graph with hubs and weights, of which some are repeated, and one has no weight."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"source": rng.zipf(1.7, M) % N, "target": rng.integers(N, size=M), "weight": rng.random(M) + 0.1}
    )
    frame = pd.concat([frame, frame[:300], pd.DataFrame({"source": [3], "target": [N], "weight": [0.0]})])
    return frame.astype({"source": kind, "target": kind}).reset_index(drop=True)


def lazy(frame, npartitions=5):
    return dd.from_pandas(frame, npartitions=npartitions, sort=False)


def assert_close(found, expected):
    assert found.shape == expected.shape and found.dtype == expected.dtype
    assert np.abs(found - expected).max() <= TOL * np.abs(expected).max()


@pytest.mark.parametrize("kind", [int, str])
def test_a_folder_of_parquet_files_gives_the_adjacency_of_its_edges(tmp_path, kind, scheduler):
    frame = table(kind)
    lazy(frame).to_parquet(tmp_path / "edges")
    found, expected = store_graph(tmp_path / "edges", tmp_path / "graph"), read_graph(frame)
    assert np.array_equal(found.nodes, expected.nodes) and found.nodes.dtype == expected.nodes.dtype
    assert found.adjacency.shape == expected.adjacency.shape and found.adjacency.nnz == expected.adjacency.nnz
    assert len(found.adjacency.rows.heights) > 3 and len(found.adjacency.columns.heights) > 3
    for blocks, matrix in ((found.adjacency, expected.adjacency), (found.adjacency.T, expected.adjacency.T)):
        assert (blocks[:] != matrix).nnz == 0
        assert np.array_equal(blocks[[5, 2]].toarray(), matrix.toarray()[[5, 2]])
    degrees = [(expected.adjacency != 0).sum(axis=axis) for axis in (1, 0)]
    assert all(map(np.array_equal, found.adjacency.degrees, degrees))
    assert not (tmp_path / "graph" / "pieces").exists()


KERNELS = {
    "links": (NodeKernel(), {}),
    "ones": (NodeKernel(binary=True), {}),
    "Katz": (Katz(beta=0.01), {}),
    "normalised": (NodeKernel(normalize="left", self_loops=1.0), {}),
    "normalised by the embedding": (NodeKernel(), {"normalize": "right", "self_loops": 0.5}),
    "centred": (NodeKernel(), {"center": True}),
    "to rounding": (NodeKernel(), {"tol": 0.0}),
    "by LAPACK": (Katz(beta=0.01), {"solver": "lapack"}),
}


@pytest.mark.parametrize(("kernel", "settings"), KERNELS.values(), ids=KERNELS)
def test_every_kernel_gives_what_edges_in_memory_give(tmp_path, kernel, settings):
    frame = table(str)
    settings = {"kernel": kernel, "decoder": "factors", **settings}
    expected = DirectedGraphEmbedding(K, **settings).fit(frame)
    found = DirectedGraphEmbedding(K, **settings).fit(store_graph(lazy(frame), tmp_path))
    assert found.solver_.name == expected.solver_.name
    assert_close(found.singular_values_, expected.singular_values_)
    assert_close(found.source_embedding_, expected.source_embedding_)
    assert_close(found.target_embedding_, expected.target_embedding_)


def test_nodes_are_scored_and_new_ones_placed_as_in_memory(tmp_path):
    frame = table(str)
    expected = DirectedGraphEmbedding(K, kernel=Katz(beta=0.01), decoder="factors").fit(frame)
    found = DirectedGraphEmbedding(K, kernel=Katz(beta=0.01)).fit(store_graph(lazy(frame), tmp_path))
    u, v = frame["source"][:50].tolist(), frame["target"][20:70].tolist()
    assert_close(found.score_edges(u, v), expected.score_edges(u, v))
    assert np.array_equal(found.most_similar(u[:5], 4), expected.most_similar(u[:5], 4))
    for new_only in (False, True):
        assert np.array_equal(
            found.nearest_targets(u[:5], 4, new_only=new_only), expected.nearest_targets(u[:5], 4, new_only=new_only)
        )
    new = [("newcomer", u[0], 2.0), ("newcomer", v[1], 1.0)]
    assert_close(found.transform(new), expected.transform(new))
    with pytest.raises(TypeError, match="is a graph in blocks on disk, .* pickle the model"):
        save(found, tmp_path / "model.lopsided")
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.nearest_targets(u[0], 4, new_only=True), found.nearest_targets(u[0], 4, new_only=True))


def test_worker_processes_embed_the_same(tmp_path, client):
    frame = table()
    expected = DirectedGraphEmbedding(K, kernel=NodeKernel(), decoder="factors").fit(frame)
    found = DirectedGraphEmbedding(K, kernel=NodeKernel()).fit(store_graph(lazy(frame), tmp_path))
    assert_close(found.source_embedding_, expected.source_embedding_)


def test_single_precision_stays(tmp_path):
    graph = store_graph(lazy(table()), tmp_path, dtype=np.float32)
    assert DirectedGraphEmbedding(K, kernel=NodeKernel()).fit(graph).source_embedding_.dtype == np.float32


def blocks_of(A, folder):
    """Blocks of a matrix with nonnegative entries."""
    entries = sparse.coo_array(A)
    frame = pd.DataFrame({"source": entries.row, "target": entries.col, "weight": entries.data})
    graph = store_graph(lazy(frame, 3), folder)
    return graph.adjacency, A[graph.nodes][:, graph.nodes]


def test_blocks_are_an_operator(tmp_path):
    A, matrix = blocks_of(np.random.default_rng(0).random((30, 30)) * (np.eye(30, k=3) + np.eye(30, k=-1)), tmp_path)
    left, right = np.linspace(1, 2, len(matrix)), np.linspace(2, 1, len(matrix))
    cases = {
        "plain": (A, matrix),
        "binary": (A.binary(), matrix != 0),
        "scaled": (A.scaled(left, None).scaled(left, right), np.diag(left**2) @ matrix @ np.diag(right)),
        "loops": (A.with_loops(left).scaled(left, right), np.diag(left) @ (matrix + np.diag(left)) @ np.diag(right)),
        "sizes": (abs(-2.0 * A), 2 * matrix),
    }
    for blocks, expected in cases.values():
        check_operator(Stored(blocks))
        np.testing.assert_allclose(blocks[:].toarray(), expected, rtol=1e-14)
        np.testing.assert_allclose(blocks.sum(axis=0), expected.sum(axis=0), rtol=1e-13)
    nodes = np.arange(len(matrix))[:, None].astype(float)
    beta = 0.3 / np.abs(np.linalg.eigvals(expected)).max()
    walks = Katz(blocks, beta=beta).fit(nodes, nodes)
    np.testing.assert_allclose(
        as_operator(walks, nodes, nodes, budget=0) @ np.eye(len(matrix)),
        np.linalg.inv(np.eye(len(matrix)) - beta * expected) - np.eye(len(matrix)),
        atol=1e-13,
    )


GRAPHS = {
    "a cycle": np.roll(np.eye(7), 1, axis=1),
    "no cycle": np.triu(np.ones((9, 9)), 1),
    "two cycles of several radii, and a path between and around them": np.pad(
        sparse.block_diag([3 * np.ones((4, 4)), np.eye(3, k=1), np.ones((5, 5))]).toarray(), 1
    )
    + np.eye(14, k=1),
    "random": np.random.default_rng(3).random((60, 60)) * (np.random.default_rng(4).random((60, 60)) < 0.05),
}


@pytest.mark.parametrize("A", GRAPHS.values(), ids=GRAPHS)
def test_bounds_of_the_spectral_radius_from_products_alone(tmp_path, A):
    blocks, matrix = blocks_of(A, tmp_path)
    radius = np.abs(np.linalg.eigvals(matrix)).max() if np.linalg.matrix_power(matrix, len(matrix)).any() else 0.0
    low, high = spectral_radius(blocks)
    assert low <= radius * (1 + 1e-9) and radius <= high * (1 + 1e-9) and high - low <= 1e-3 * high
    nodes = np.arange(len(matrix))[:, None].astype(float)
    assert Katz(blocks).fit(nodes, nodes).beta_ == pytest.approx(Katz(matrix).fit(nodes, nodes).beta_, rel=2e-3)


def test_a_complete_folder_is_opened_and_a_half_written_one_written_anew(tmp_path, monkeypatch):
    first, edges = store_graph(lazy(table()), tmp_path), lazy(table())
    with monkeypatch.context() as patch:
        patch.setattr("lopsided.distributed.graphs._edges", lambda *_: pytest.fail("read again"))
        assert (store_graph(edges, tmp_path).adjacency[:] != first.adjacency[:]).nnz == 0
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    del manifest["heights"]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "out-1.data.npy").write_bytes(b"cut short")
    with pytest.raises(ValueError, match="half-written; repeat the call of store_graph"):
        open_graph(tmp_path)
    assert (store_graph(edges, tmp_path).adjacency[:] != first.adjacency[:]).nnz == 0


def test_other_folders_are_left_as_they_are(tmp_path):
    store_graph(lazy(table()), tmp_path / "graph")
    (tmp_path / "graph" / "into-1.indptr.npy").rename(tmp_path / "aside")
    with pytest.raises(ValueError, match="lacks a file or holds a damaged one"):
        open_graph(tmp_path / "graph")
    for other in (lazy(table(seed=1)), lazy(table(), 3)):
        with pytest.raises(ValueError, match="holds another graph"):
            store_graph(other, tmp_path / "graph")
    with pytest.raises(ValueError, match="name an empty or a new folder"):
        store_graph(lazy(table()), tmp_path)
    with pytest.raises(ValueError, match=r"has no manifest.json"):
        open_graph(tmp_path)
    (tmp_path / "manifest.json").write_text('{"kind": "lopsided row blocks, 1"}')
    with pytest.raises(ValueError, match="not 'lopsided graph, 1'"):
        open_graph(tmp_path)
    (tmp_path / "manifest.json").write_text('{"kind"')
    with pytest.raises(ValueError, match="is damaged"):
        open_graph(tmp_path)


def test_what_is_wrong_with_edges_is_named_by_partition(tmp_path):
    def stored(**changes):
        frame = table()
        for column, value in changes.items():
            frame.loc[1300, column] = value
        return store_graph(lazy(frame, 3), tmp_path / f"{len(list(tmp_path.iterdir()))}")

    with pytest.raises(ValueError, match=r"partition 1 of the edges: edge \d+ has no target"):
        stored(target=np.nan)
    with pytest.raises(ValueError, match=r"partition 1 of the edges: edge \d+ has the weight inf"):
        stored(weight=np.inf)
    frame = table(str)
    with pytest.raises(ValueError, match="it is unclear which of the 4 columns"):
        store_graph(lazy(frame.set_axis(["a", "b", "c"], axis=1).assign(d=1)), tmp_path / "unnamed")
    with pytest.raises(ValueError, match="no edges, hence no nodes"):
        store_graph(lazy(frame[:0], 1), tmp_path / "empty")
    with pytest.raises(ValueError, match=r"node ids are of the types float.*astype\(int\)"):
        store_graph(lazy(table(float)), tmp_path / "floats")
    with pytest.raises(ValueError, match="dtype=int64 must be float32 or float64"):
        store_graph(lazy(frame), tmp_path / "whole", dtype=int)
    with pytest.raises(TypeError, match="not a dask dataframe, an Arrow dataset or a folder"):
        store_graph(frame, tmp_path / "memory")


def test_what_needs_all_edges_says_so(tmp_path):
    frame = table()
    frame.to_parquet(tmp_path / "edges.parquet")
    for edges in (lazy(frame), pyarrow.dataset.dataset(tmp_path / "edges.parquet"), tmp_path):
        with pytest.raises(TypeError, match=r"store_graph\(edges, folder\)"):
            DirectedGraphEmbedding().fit(edges)
    graph = store_graph(pyarrow.dataset.dataset(tmp_path / "edges.parquet"), tmp_path / "graph")
    assert isinstance(graph, Graph) and isinstance(graph.adjacency, AdjacencyBlocks)
    for kernel in ("auto", "diffusion", "sne", NodeKernel(graph.adjacency[:])):
        with pytest.raises(ValueError, match="needs all edges in memory, but those of this graph are in blocks"):
            DirectedGraphEmbedding(K, kernel=kernel).fit(graph)
    with pytest.raises(ValueError, match="use decoder='factors'"):
        DirectedGraphEmbedding(K, kernel=NodeKernel(), decoder="learned").fit(graph)
    with pytest.raises(ValueError, match="pass all of them to the kernel"):
        DirectedGraphEmbedding(K, kernel=NodeKernel(binary=True), self_loops=1.0).fit(graph)
