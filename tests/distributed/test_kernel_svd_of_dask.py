"""KernelSVD of dask collections is that of the same rows in memory, whatever the chunks and the scheduler."""

import pickle
import subprocess
import sys
from itertools import pairwise

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow.dataset
import pytest
from scipy import sparse

from lopsided import KernelSVD, Nystrom
from lopsided.exceptions import FallbackWarning
from lopsided.kernels import RBF, Linear

N, M, WIDTH, K = 900, 400, 5, 3
TOL = 1e-10  # of what is asked of the answers, relative to their size
CHUNKS = [900, 250, (1, 600, 299)]
SETTINGS = {
    "rbf": {"kernel": "rbf"},
    "a given bandwidth, centred": {"kernel": RBF(3.0), "center": True},
    "laplacian": {"kernel": "laplacian"},
    "linear": {"kernel": "linear"},
    "a normalised kernel": {"kernel": "sne"},
    "student": {"kernel": "student_t"},
    "a sum": {"kernel": RBF() + Linear()},
    "k-means": {"kernel": "rbf", "solver": Nystrom(60, landmarks="kmeans")},
    "leverage": {"kernel": "rbf", "solver": Nystrom(60, landmarks="leverage")},
    "pivoted": {"kernel": "rbf", "solver": Nystrom(60, landmarks="pivoted")},
    "plain": {"kernel": "rbf", "solver": Nystrom(60, extension="plain")},
    "given rows": {"kernel": "rbf", "solver": Nystrom(landmarks=(np.arange(0, 900, 9), np.arange(50)))},
}


def points(n, seed=0, is_sparse=False, dtype=float):
    rng = np.random.default_rng(seed)
    if is_sparse:
        return sparse.random_array((n, 30), density=0.2, rng=rng, format="csr", dtype=dtype)
    return rng.standard_normal((n, WIDTH)).astype(dtype)


def in_dask(X, chunks):
    """A dask array of rows, of sparse blocks if X is sparse."""
    if not sparse.issparse(X):
        return da.from_array(X, chunks=(chunks, X.shape[1]))
    heights = da.core.normalize_chunks((chunks, X.shape[1]), X.shape)[0]
    edges = np.concatenate([[0], np.cumsum(heights)])
    parts = [dask.delayed(X[a:b]) for a, b in pairwise(edges)]
    meta = sparse.csr_array((0, 0), dtype=X.dtype)
    blocks = [da.from_delayed(part, (b, X.shape[1]), meta=meta) for part, b in zip(parts, heights, strict=True)]
    return da.concatenate(blocks)


def model(**settings):
    return KernelSVD(K, **{"solver": Nystrom(60), **settings})


def assert_close(found, expected, tol=TOL):
    found = np.asarray(found)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    assert np.abs(found - expected).max() <= tol * np.abs(expected).max()


def assert_same_model(found, expected, X, Z, tol=TOL):
    assert_close(found.singular_values_, expected.singular_values_, tol)
    assert_close(found.left_vectors_, expected.left_vectors_, tol)
    assert_close(found.right_vectors_, expected.right_vectors_, tol)
    assert_close(found.transform(X), expected.transform(X), tol)
    assert_close(found.transform_right(Z), expected.transform_right(Z), tol)
    for mean, in_memory in zip(found.means_ or (), expected.means_ or (), strict=True):
        assert_close(mean, in_memory, tol)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_every_setting_gives_what_rows_in_memory_give(settings):
    X, Z = points(N), points(M, seed=1)
    expected = model(**settings).fit(X, Z=Z)
    found = model(**settings).fit(in_dask(X, 250), Z=Z)
    assert_same_model(found, expected, X, Z)


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
def test_chunks_and_scheduler_do_not_change_the_answer(chunks, is_sparse, scheduler):
    X, Z = points(N, is_sparse=is_sparse), points(M, seed=1, is_sparse=is_sparse)
    expected = model().fit(X, Z=Z)
    lazy, lazy_right = in_dask(X, chunks), in_dask(Z, 150)
    found = model().fit(lazy, Z=lazy_right)
    assert_same_model(found, expected, X, Z)
    for embedded, rows, of_memory in (
        (found.transform(lazy), lazy, expected.transform(X)),
        (found.transform_right(lazy_right), lazy_right, expected.transform_right(Z)),
    ):
        assert isinstance(embedded, da.Array) and embedded.chunks[0] == rows.chunks[0]
        assert_close(embedded, of_memory)


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_one_set_on_both_sides_has_one_set_of_landmarks(is_sparse):
    X = points(N, is_sparse=is_sparse)
    expected = model().fit(X, Z=X)
    for right in (lazy := in_dask(X, 300), lazy.copy()):
        found = model().fit(lazy, Z=right)
        assert found.landmarks_[0] is found.landmarks_[1]
        assert_same_model(found, expected, X, X)


def test_many_rows_are_sampled_as_in_memory(monkeypatch):
    monkeypatch.setattr("lopsided.nystrom.extension.SAMPLE_ROWS", 200)
    X, Z = points(N), points(M, seed=1)
    assert_same_model(model().fit(in_dask(X, 250), Z=in_dask(Z, 90)), model().fit(X, Z=Z), X, Z)


def test_single_precision_stays():
    X, Z = points(N, dtype=np.float32), points(M, seed=1, dtype=np.float32)
    found, expected = model().fit(in_dask(X, 250), Z=in_dask(Z, 90)), model().fit(X, Z=Z)
    assert_same_model(found, expected, X, Z, tol=2e-3)  # rounding of 2^-24, magnified where singular values are small
    assert found.transform(in_dask(X, 250)).dtype == np.float32


@pytest.mark.parametrize("compatibility", ["random", "given"])
def test_sides_of_two_widths_are_mapped_block_by_block(compatibility):
    X, Z = points(N), np.random.default_rng(2).standard_normal((M, 3))
    how = {"compatibility": "random" if compatibility == "random" else np.eye(WIDTH)[:, :3]}
    assert_same_model(model(**how).fit(in_dask(X, 250), Z=in_dask(Z, 90)), model(**how).fit(X, Z=Z), X, Z)


def test_vectors_are_lazy_and_orthonormal_and_the_rest_is_numpy():
    X = in_dask(points(N), 250)
    found = model().fit(X, Z=points(M, seed=1))
    lazy = {name for name, value in vars(found).items() if isinstance(value, da.Array)}
    assert lazy == {"left_vectors_"}
    U = found.left_vectors_.compute()
    np.testing.assert_allclose(U.T @ U, np.eye(K), atol=1e-12)
    assert (U[np.abs(U).argmax(axis=0), range(K)] > 0).all()
    np.testing.assert_allclose(model().fit_transform(X, Z=points(M, seed=1)), U * found.singular_values_)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of dask itself with pandas 3.1
def test_frames_and_arrow_datasets_are_rows_with_names(tmp_path):
    X, Z = points(N), points(M, seed=1)
    frame = pd.DataFrame(X, columns=list("abcde"))
    expected = model().fit(frame, Z=Z)
    dd.from_pandas(frame, npartitions=3).to_parquet(tmp_path)
    sources = dd.from_pandas(frame, npartitions=3), dd.read_parquet(tmp_path), pyarrow.dataset.dataset(tmp_path)
    for source in sources:
        found = model().fit(source, Z=Z)
        assert_same_model(found, expected, frame, Z)
        assert found.feature_names_in_.tolist() == list("abcde")
        assert_close(found.transform(source), expected.transform(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        found.transform(dd.from_pandas(frame[list("bacde")], npartitions=2))


def test_only_landmarks_travel_with_a_transform():
    X = in_dask(points(N), 250)
    found = model().fit(X, Z=points(M, seed=1))
    travelling = found.transform(X)
    sizes = [len(pickle.dumps(layer)) for layer in travelling.dask.layers.values()]
    of_source = max(len(pickle.dumps(layer)) for layer in X.dask.layers.values())
    assert sum(sizes) < of_source + 60 * WIDTH * 8 * 6 + 20_000


# What may be wrong with the input


def fails(X, match, error=ValueError, **settings):
    with pytest.raises(error, match=match):
        model(**settings).fit(X, Z=points(M, seed=1))


def test_chunks_of_unknown_size_are_refused():
    X = in_dask(points(N), 250)
    fails(X[X[:, 0] > 0], r"unknown size.*compute_chunk_sizes")


def test_chunks_of_columns_are_joined_with_a_warning():
    X, Z = points(N), points(M, seed=1)
    with pytest.warns(FallbackWarning, match="2 chunks of columns"):
        found = model().fit(da.from_array(X, chunks=(250, 3)), Z=Z)
    assert_same_model(found, model().fit(X, Z=Z), X, Z)


def spoilt(block, block_id=None, *, value, where):
    block = block.copy()
    if block_id[0] == where:
        block[7, 2] = value
    return block


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_a_value_that_is_not_finite_is_named_by_chunk_and_row(is_sparse, scheduler):
    if is_sparse:
        X = points(N, is_sparse=True).tolil()
        X[750 + 7, 2] = np.nan
        X = in_dask(sparse.csr_array(X), 250)
    else:
        X = in_dask(points(N), 250).map_blocks(spoilt, value=np.nan, where=3, meta=np.empty((0, 0)))
    Z = points(M, seed=1, is_sparse=is_sparse)
    with pytest.raises(ValueError, match=r"chunk 3 of X holds nan in its row 7, column 2 \(row 757 of X\)"):
        model().fit(X, Z=Z)
    with pytest.raises(ValueError, match=r"chunk 3 of X holds inf"):
        fitted = model().fit(points(N), Z=points(M, seed=1))
        fitted.transform(
            in_dask(points(N), 250).map_blocks(spoilt, value=np.inf, where=3, meta=np.empty((0, 0)))
        ).compute()


def other(block, block_id=None, *, kind):
    return block.astype(kind) if block_id[0] == 2 else block


@pytest.mark.parametrize("dtype", ["complex128", "U5", "object"])
def test_a_chunk_of_another_dtype_is_named(dtype):
    X = in_dask(points(N), 250).map_blocks(other, kind=dtype, meta=np.empty((0, 0)))
    fails(X, "chunk 2 of X is .*, but X is float64")


def test_a_chunk_of_more_digits_is_not_cut():
    X = in_dask(points(N, dtype=np.float32), 250)
    fails(X.map_blocks(other, kind=float, meta=np.empty((0, 0), np.float32)), "chunk 2 of X is float64.*lose digits")


def test_a_chunk_of_integers_among_floats_is_read():
    X, Z = np.rint(3 * points(N)), points(M, seed=1)
    lazy = in_dask(X, 250).map_blocks(other, kind=np.int64, meta=np.empty((0, 0)))
    assert_same_model(model().fit(lazy, Z=Z), model().fit(X, Z=Z), X, Z)


def test_a_chunk_that_is_shorter_than_announced_is_named():
    X = in_dask(points(N), 300)
    X = X.map_blocks(lambda block: block[:-1], meta=np.empty((0, 0)), chunks=X.chunks)
    fails(X, r"chunk \d of X has shape \(299, 5\), but its declared chunks say \(300, 5\)")


def test_what_needs_all_rows_says_so():
    X = in_dask(points(N), 250)
    with pytest.raises(ValueError, match="sketch_columns"):
        model().fit(X)
    fails(X, "all rows in memory.*Nystrom", solver="krylov")
    fails(X, "tol=0.1 needs products", tol=0.1)
    fails(in_dask(points(N, is_sparse=True), 250), "needs all points in memory", compatibility="pca")
    with pytest.raises(ValueError, match="sums over all right points"):
        model(kernel="sne", solver=Nystrom(60, denominators="all")).fit(X, Z=X)
    fails(dd.from_pandas(pd.DataFrame({"a": ["x", "y"]}), npartitions=1), "columns a of X are not numeric")
    fails(X[:, 0], "1 dimensions")
    assert model(solver="auto").fit(X, Z=points(M, seed=1)).solver_.name == "nystrom"


DEAD_SCHEDULER = """
import logging, subprocess, sys
import dask.array as da, numpy as np
from distributed import Client
from lopsided import KernelSVD, Nystrom

if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    start = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    scheduler = subprocess.Popen([*start, "--scheduler-file", sys.argv[1]], stderr=subprocess.DEVNULL)
    client = Client(scheduler_file=sys.argv[1], timeout=2)
    scheduler.kill()
    scheduler.wait()
    X = da.from_array(np.random.default_rng(0).standard_normal((300, 4)), chunks=(100, 4))
    try:
        KernelSVD(2, solver=Nystrom(20)).fit(X, Z=X)
    except ConnectionError as error:
        print("told:", error)
"""


def test_a_dead_scheduler_is_named(tmp_path):
    (tmp_path / "script.py").write_text(DEAD_SCHEDULER)
    command = [sys.executable, tmp_path / "script.py", tmp_path / "scheduler.json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert "told: the dask scheduler does not respond" in done.stdout, done.stderr
