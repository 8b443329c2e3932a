"""Click logs, hashed tables and svmlight files as lazy rows."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from lopsided.datasets import make_click_log
from lopsided.distributed import hash_rows, read_svmlight, sketch_columns


def together(X):
    blocks = dask.compute(*X.to_delayed().ravel())
    return sparse.vstack(blocks, format="csr")


def test_a_click_log_has_the_shape_and_the_signal_that_it_announces():
    X, y = make_click_log(20_000, 5000, block_rows=6000, random_state=1)
    rows, clicks = together(X), y.compute()
    assert rows.shape == X.shape == (20_000, 5000) and clicks.shape == (20_000,)
    assert rows.dtype == np.float32 and rows.has_canonical_format and set(np.unique(clicks)) == {0, 1}
    again = together(make_click_log(20_000, 5000, block_rows=6000, random_state=1)[0])
    assert (rows != again).nnz == 0
    assert (rows != together(make_click_log(20_000, 5000, block_rows=6000, random_state=2)[0])).nnz > 0
    counts = np.sort(np.bincount(rows.indices, minlength=5000))[::-1]
    assert counts[:50].sum() > 0.1 * counts.sum()  # a power law, where an even spread has a hundredth
    assert 0.2 < clicks.mean() < 0.35
    together_with = rows[clicks == 1].sum(axis=0) / np.maximum(rows.sum(axis=0), 1)
    assert np.ptp(np.asarray(together_with).ravel()[np.asarray(rows.sum(axis=0)).ravel() > 100]) > 0.1


@pytest.mark.parametrize("wrong", [{"n_samples": 0}, {"n_columns": 0}, {"n_fields": 0}, {"block_rows": 0}], ids=str)
def test_a_click_log_of_nothing_is_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}.* must be .*0"):
        make_click_log(**{"n_samples": 10, **wrong})


def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"site": rng.choice(list("abc"), 60), "ad": rng.integers(9, size=60).astype(str), "cost": 1.5})


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of dask itself with pandas 3.1
def test_hashing_gives_every_category_one_column(tmp_path):
    frame = table()
    frame.loc[7, "site"] = None
    dd.from_pandas(frame, npartitions=3).to_parquet(tmp_path)
    of_folder, of_frame = hash_rows(str(tmp_path), 1 << 16), hash_rows(dd.from_pandas(frame, npartitions=4), 1 << 16)
    found, other = together(of_folder), together(of_frame)
    assert found.shape == (60, 1 << 16) and (found != other).nnz == 0  # whatever the partitions
    expected = pd.get_dummies(frame[["site", "ad"]]).to_numpy(float)
    expected = np.column_stack([expected, frame["cost"]])
    np.testing.assert_allclose((found @ found.T).toarray(), expected @ expected.T)  # the same rows but for their order


def written(path, n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, 40), density=0.2, rng=rng, format="csr")
    y = rng.integers(2, size=n)
    dump_svmlight_file(X, y, str(path), zero_based=False)
    return X, y


def test_svmlight_files_are_read_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("lopsided.distributed.sources.PIECE_BYTES", 3000)
    parts = [written(tmp_path / f"{i}.svm", seed=i) for i in range(2)]
    X, y = read_svmlight([tmp_path / "0.svm", tmp_path / "1.svm"], 40, dtype=float)
    assert X.shape == (400, 40) and X.numblocks[0] > 4
    np.testing.assert_allclose(together(X).toarray(), np.vstack([part.toarray() for part, _ in parts]))
    assert np.array_equal(y.compute(), np.concatenate([labels for _, labels in parts]))
    hashed = together(read_svmlight(tmp_path / "0.svm", 1 << 20, hashed=True, dtype=float)[0])
    np.testing.assert_allclose((hashed @ hashed.T).toarray(), (parts[0][0] @ parts[0][0].T).toarray())


@pytest.mark.parametrize("line", ["1 3:x", "1 2:1 nonsense", "spam 1:1", "1 41:2"])
def test_a_malformed_line_is_named_by_its_number(tmp_path, monkeypatch, line):
    monkeypatch.setattr("lopsided.distributed.sources.PIECE_BYTES", 3000)
    path = tmp_path / "bad.svm"
    written(path)
    lines = path.read_text().splitlines()
    lines[150] = line
    path.write_text("\n".join(lines) + "\n")
    X, _ = read_svmlight(path, 40)
    with pytest.raises(ValueError, match=r"bad.svm, line 151: .* is not a sample"):
        together(X)
    (tmp_path / "empty.svm").write_text("# nothing\n")
    with pytest.raises(ValueError, match="no line holds a sample"):
        read_svmlight(tmp_path / "empty.svm", 40)


def test_sketched_columns_keep_products_on_average():
    X = np.random.default_rng(0).standard_normal((300, 20))
    lazy = da.from_array(X, chunks=(70, 20))
    products = [
        (Z := sketch_columns(lazy, range(4), compatibility="random", random_state=seed, unit_length=False).toarray())
        @ Z.T
        for seed in range(400)
    ]
    np.testing.assert_allclose(np.mean(products, axis=0), X[:, :4].T @ X[:, :4], atol=15)
    lengths = np.linalg.norm(sketch_columns(lazy, [3, 1], compatibility="random").toarray(), axis=1)
    np.testing.assert_allclose(lengths, np.sqrt(np.square(X).sum(axis=1).mean()))
    with pytest.raises(ValueError, match="columns reach from 0 to 20; they are numbered 0 to 19"):
        sketch_columns(lazy, [0, 20])
    with pytest.raises(TypeError, match="sketch_columns takes dask collections"):
        sketch_columns(X, [0])


def test_columns_mapped_by_rows_have_the_singular_vectors_of_the_matrix():
    X = np.random.default_rng(0).standard_normal((300, 20))
    lazy = da.from_array(X, chunks=(70, 20))
    Z = sketch_columns(lazy, 20, unit_length=False).toarray()
    np.testing.assert_allclose(Z, X.T @ X)
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    found, values, _ = np.linalg.svd(X @ Z.T, full_matrices=False)
    np.testing.assert_allclose(values, s**3)
    np.testing.assert_allclose(np.abs(np.sum(found * U, axis=0)), 1)


def test_the_most_frequent_columns_are_taken():
    X = sparse.csr_array(np.arange(40).reshape(8, 5) % 3 > [[1, 0, -1, 0, 2]], dtype=float)
    lazy = da.concatenate([da.from_delayed(dask.delayed(X[i : i + 2]), (2, 5), meta=X[:0]) for i in range(0, 8, 2)])
    counts = (X != 0).sum(axis=0)
    Z = sketch_columns(lazy, 2)
    assert set(Z.nonzero()[1]) <= set(np.argsort(-counts)[:2])
    with pytest.raises(ValueError, match="columns=6 must be from 1 to the 5 columns"):
        sketch_columns(lazy, 6)
    with pytest.raises(ValueError, match="must be one of 'rows', 'random'"):
        sketch_columns(lazy, 2, compatibility="pca")
