"""Points that come in pieces: files, objects that are sliced, iterators of blocks, and results written to files."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from cases import assert_close
from lopsided import KernelSVD, Nystrom
from lopsided._core import rows as _rows
from lopsided.kernels import RBF, SNE
from lopsided.svd import SOLVERS

POINTS = np.random.default_rng(0).standard_normal((90, 4)).astype(np.float32)
RIGHT = np.random.default_rng(1).standard_normal((70, 4)).astype(np.float32)
NYSTROM = Nystrom(40)
every_solver = pytest.mark.parametrize("solver", [*SOLVERS, NYSTROM])


class Sliced:
    """What h5py and zarr offer and no more: a shape, a type and slices of rows."""

    def __init__(self, points, rows=None):
        self._points = points
        self.shape = (rows or points.shape[0], points.shape[1])
        self.dtype = points.dtype
        self.largest = 0

    def __getitem__(self, rows):
        assert isinstance(rows, slice), "only slices of rows"
        self.largest = max(self.largest, rows.stop - rows.start)
        return self._points[rows]


def blocks(points, length=17):
    return (points[start : start + length] for start in range(0, points.shape[0], length))


def mapped(path, points):
    points.tofile(path)
    return np.memmap(path, dtype=points.dtype, mode="r", shape=points.shape)


CONTAINERS = {
    "memmap": lambda points, path: mapped(path, points),
    "sliced": lambda points, path: Sliced(points),
    "generator": lambda points, path: blocks(points),
    "list_iterator": lambda points, path: iter([points[:1], points[1:60], points[60:60], points[60:]]),
    "single_block": lambda points, path: iter([points]),
    "lists": lambda points, path: (block.tolist() for block in blocks(points.astype(float))),
}
every_container = pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)


def model_of(solver=NYSTROM, kernel=None, **parameters):
    model = KernelSVD(3, kernel=kernel or RBF(2.0), solver=solver, random_state=0)
    return model.set_params(**parameters)


def assert_same(model, other, ulps=1e4):
    assert_close(model.singular_values_, other.singular_values_, ulps)
    assert_close(model.left_vectors_, other.left_vectors_, ulps)
    assert_close(model.right_vectors_, other.right_vectors_, ulps)


@every_solver
@every_container
def test_the_container_changes_nothing(container, solver, tmp_path):
    listed = container is CONTAINERS["lists"]
    X, Z = (side.astype(float) if listed else side for side in (POINTS, RIGHT))
    expected = model_of(solver).fit(X, Z=Z)
    model = model_of(solver).fit(container(POINTS, tmp_path / "X"), Z=container(RIGHT, tmp_path / "Z"))
    assert_same(model, expected)
    assert model.left_vectors_.dtype == (float if listed else np.float32)
    assert (model.n_features_in_, model.n_features_right_) == (4, 4)
    for method, points in (("transform", X), ("transform_right", Z)):
        given = container(points[:50].astype(POINTS.dtype), tmp_path / method)
        found = getattr(model, method)(given)
        assert_close(found, getattr(expected, method)(points[:50]), ulps=1e4)
    assert_close(
        model_of(solver).fit_transform(container(POINTS, tmp_path / "again"), Z=Z), model.transform(X), ulps=1e5
    )


@every_container
def test_rows_and_columns_of_one_matrix_may_come_in_pieces(container, tmp_path):
    A = POINTS[:40, :3]
    assert_close(
        KernelSVD(2).fit(container(A, tmp_path / "A")).singular_values_,
        KernelSVD(2).fit(A.astype(float)).singular_values_.astype(np.float32),
        ulps=100,
        dtype=np.float32,
    )


@every_container
def test_kernel_values_may_come_in_pieces(container, tmp_path):
    K = RBF(2.0)(POINTS, RIGHT)
    model = model_of(kernel="precomputed").fit(container(K, tmp_path / "K"))
    assert_close(model.singular_values_, model_of().fit(POINTS, Z=RIGHT).singular_values_, 1e4, dtype=np.float32)
    found = model.transform(container(K, tmp_path / "again"))
    assert_close(found, model.left_vectors_ * model.singular_values_, ulps=1e4, dtype=np.float32)


def test_sparse_blocks_stay_sparse():
    X, Z = (sparse.csr_array(np.where(np.abs(side) > 1, side, 0)) for side in (POINTS, RIGHT))
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        given = [(kind(block) for block in blocks(side)) for side in (X, Z)]
        model = model_of(kernel=SNE(2.0)).fit(given[0], Z=given[1])
        assert_same(model, model_of(kernel=SNE(2.0)).fit(X, Z=Z))
        assert sparse.issparse(model.X_fit_) and model.X_fit_.dtype == np.float32
    stacked = _rows.as_indexable(blocks(X), "X")
    assert np.array_equal(stacked.toarray(), X.toarray()) and stacked.dtype == np.float32


def test_blocks_of_whole_numbers_are_read_as_floats():
    numbers = (10 * POINTS).astype(np.int32)
    for given in (blocks(numbers), blocks(sparse.csr_array(numbers)), Sliced(numbers)):
        rows = _rows.as_indexable(given, "X")
        assert rows.dtype == np.float64
        dense = rows.toarray() if sparse.issparse(rows) else rows
        assert np.array_equal(dense, numbers)


@pytest.mark.parametrize("cast", [lambda X: pd.DataFrame(X).astype("Float64"), lambda X: X.astype(np.longdouble)])
def test_blocks_of_one_type_are_read_whatever_type_it_is(cast):
    rows = _rows.as_indexable((cast(block) for block in blocks(POINTS)), "X")
    assert rows.dtype == np.float64 and np.array_equal(rows, POINTS)


def test_a_mask_that_hides_nothing_is_no_matter():
    assert np.array_equal(_rows.as_indexable(Sliced(np.ma.masked_invalid(POINTS)), "X"), POINTS)


def test_blocks_of_a_foreign_byte_order_keep_their_values():
    rows = _rows.as_indexable(blocks(POINTS.astype(">f4")), "X")
    assert np.array_equal(rows, POINTS)


def test_objects_are_read_in_slices_that_are_small_and_cover_every_row(monkeypatch):
    monkeypatch.setattr(_rows, "BLOCK_BYTES", 8 * 4 * 7)
    given = Sliced(POINTS)
    assert np.array_equal(_rows.as_indexable(given, "X"), POINTS)
    assert given.largest == 7


def test_what_scikit_learn_reads_is_handed_on_as_it_is(tmp_path):
    for points in (POINTS, sparse.csr_array(POINTS), POINTS.tolist(), mapped(tmp_path / "X", POINTS), None, 3.0):
        assert _rows.as_indexable(points, "X") is points


def test_gathered_blocks_cannot_be_changed_and_leave_no_file(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rows = _rows.as_indexable(blocks(POINTS), "X")
    assert isinstance(rows, np.memmap) and not rows.flags.writeable
    assert list(tmp_path.iterdir()) == []


BAD = {
    "no_blocks": (iter([]), "X has no row blocks; an iterator can be read only once"),
    "no_rows": (iter([np.empty((0, 4))]), "0 sample"),
    "no_rows_sparse": (iter([sparse.csr_array((0, 4))]), "0 sample"),
    "no_rows_sliced": (Sliced(np.empty((0, 4))), "0 sample"),
    "widths": (iter([POINTS, POINTS[:, :3]]), r"block 1 of X has shape \(90, 3\); it must have 4 columns"),
    "sparse_widths": (iter([sparse.csr_array(POINTS), sparse.csr_array(POINTS[:, :3])]), "block 1 of X.*4 columns"),
    "one_dimension": (iter(POINTS), r"block 0 of X has shape \(4,\); it must have two dimensions"),
    "types": (
        iter([POINTS, POINTS.astype(float)]),
        "block 1 of X is float64, but the first is float32; give all one dtype",
    ),
    "sparse_types": (
        iter([sparse.csr_array(POINTS), sparse.csr_array(POINTS, dtype=float)]),
        "block 1 of X is float64, but the first is float32",
    ),
    "kinds": (iter([sparse.csr_array(POINTS), POINTS]), "X mixes sparse and dense blocks"),
    "kinds_turned": (iter([POINTS, sparse.csr_array(POINTS)]), "X mixes sparse and dense blocks"),
    "complex": (iter([POINTS + 1j]), "[Cc]omplex"),
    "complex_sparse": (iter([sparse.csr_array(POINTS + 1j)]), "[Cc]omplex"),
    "complex_sliced": (Sliced(POINTS + 1j), "[Cc]omplex"),
    "complex_later": (iter([POINTS.astype(float), POINTS + 1j]), "block 1 of X is complex"),
    "text": (iter([np.array([["a", "b"]])]), "could not convert|dtype='numeric'|block 0 of X is <U1"),
    "nan": (iter([POINTS, np.full((1, 4), np.nan, np.float32)]), "contains NaN"),
    "masked": (iter([POINTS, np.ma.masked_less(POINTS[:1], 9)]), "block 1 of X has 4 masked entries; fill them"),
    "masked_sliced": (Sliced(np.ma.masked_greater(POINTS, 1)), "block 0 of X has [0-9]+ masked entries"),
    "ends_early": (Sliced(POINTS, rows=100), "X has 100 rows by its shape, but rows 0 to 100 hold 90.*truncated"),
}


@pytest.mark.parametrize(("points", "message"), BAD.values(), ids=BAD)
def test_pieces_that_do_not_fit_together_are_refused(points, message):
    with pytest.raises(ValueError, match=message):
        model_of().fit(points, Z=RIGHT)


def test_right_points_are_named_in_messages():
    with pytest.raises(ValueError, match="Z has no row blocks"):
        model_of().fit(POINTS, Z=iter([]))
    with pytest.raises(ValueError, match="Z has 80 rows by its shape.*hold 70"):
        model_of().fit(POINTS, Z=Sliced(RIGHT, rows=80))
    with pytest.raises(ValueError, match="Z has no row blocks"):
        model_of().fit(POINTS, Z=RIGHT).transform_right(iter([]))


def test_an_object_that_ends_early_is_refused_wherever_it_ends(monkeypatch):
    monkeypatch.setattr(_rows, "BLOCK_BYTES", 8 * 4 * 30)
    with pytest.raises(ValueError, match="X has 120 rows by its shape, but rows 90 to 120 hold 0"):
        model_of().fit(Sliced(POINTS, rows=120), Z=RIGHT)


def test_an_exhausted_iterator_is_refused():
    given = blocks(POINTS)
    model_of().fit(given, Z=RIGHT)
    with pytest.raises(ValueError, match="can be read only once"):
        model_of().fit(given, Z=RIGHT)


@pytest.mark.parametrize("offset", [0, 160])
def test_a_truncated_memory_map_is_refused(offset, tmp_path):
    path = tmp_path / "X"
    POINTS.tofile(path)
    X = np.memmap(path, dtype=np.float32, mode="r", offset=offset, shape=(80, 4))
    expected = model_of().fit(X, Z=RIGHT)
    with open(path, "r+b") as file:
        file.truncate(500)
    for call in (lambda: model_of().fit(X, Z=RIGHT), lambda: model_of().fit(RIGHT, Z=X), lambda: expected.transform(X)):
        with pytest.raises(ValueError, match=f"[XZ] is mapped from a file of 500 bytes.*{offset + 1280}.*truncated"):
            call()


def test_a_part_of_a_mapped_file_is_read_like_any_array(tmp_path):
    X = mapped(tmp_path / "X", POINTS)
    assert_same(model_of().fit(X[10:60], Z=RIGHT), model_of().fit(POINTS[10:60], Z=RIGHT))
    assert_same(model_of().fit(X[::2], Z=X[:, ::-1][:70]), model_of().fit(POINTS[::2], Z=POINTS[:70, ::-1]))


@pytest.mark.parametrize("copied", [np.copy, np.memmap.copy, lambda X: X.astype(float), lambda X: X.copy()[:80]])
def test_a_copy_of_a_mapped_file_is_read_like_any_array(copied, tmp_path):
    X = copied(mapped(tmp_path / "X", POINTS))
    model, expected = model_of().fit(X, Z=X[:70]), model_of().fit(np.asarray(X), Z=np.asarray(X)[:70])
    assert_same(model, expected)
    assert_close(model.transform(X), expected.transform(np.asarray(X)), ulps=1e4)


@pytest.mark.parametrize("method", ["transform", "transform_right"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solver", ["lapack", "nystrom"])
def test_results_may_be_written_to_a_file(solver, dtype, method, monkeypatch, tmp_path):
    monkeypatch.setattr("lopsided.kernel_svd.embed.SLAB_ROWS", 13)
    model = model_of(solver, center=True, scaling=0.5).fit(POINTS, Z=RIGHT)
    embed = getattr(model, method)
    out = np.memmap(tmp_path / "out", dtype=dtype, mode="w+", shape=(90, 3))
    assert embed(POINTS, out=out) is out
    assert_close(np.asarray(out), embed(POINTS), ulps=1e3, dtype=np.float32)
    out.flush()
    assert np.array_equal(np.fromfile(tmp_path / "out", dtype=dtype).reshape(90, 3), out)


def test_blocks_in_and_a_file_out(tmp_path):
    model = model_of().fit(POINTS, Z=RIGHT)
    out = np.memmap(tmp_path / "out", dtype=np.float32, mode="w+", shape=(90, 3))
    model.transform(blocks(POINTS), out=out)
    assert_close(np.asarray(out), model.transform(POINTS), ulps=1e3)


@pytest.mark.parametrize("method", ["transform", "transform_right"])
@pytest.mark.parametrize(
    "out",
    [np.zeros((89, 3)), np.zeros((90, 2)), np.zeros(270), np.zeros((90, 3), dtype=int), np.zeros((90, 3), dtype=bool)],
    ids=lambda out: f"{out.shape}-{out.dtype}",
)
def test_results_that_do_not_fit_are_refused_and_nothing_is_written(out, method):
    model = model_of().fit(POINTS, Z=RIGHT)
    with pytest.raises(ValueError, match=r"out has shape .*must be an array of floats of shape \(90, 3\)"):
        getattr(model, method)(POINTS, out=out)
    assert not out.any()


@pytest.mark.parametrize("method", ["transform", "transform_right"])
def test_results_are_written_only_where_they_are_asked_for_by_name(method):
    out = np.zeros((90, 3), dtype=np.float32)
    with pytest.raises(TypeError, match="positional argument"):
        getattr(model_of().fit(POINTS, Z=RIGHT), method)(POINTS, out)
    assert not out.any()


def test_an_out_that_is_no_array_is_refused():
    with pytest.raises((TypeError, ValueError), match="out.*list"):
        model_of().fit(POINTS, Z=RIGHT).transform(POINTS, out=[[0.0] * 3] * 90)


def test_input_of_every_kind_is_left_as_it_was(tmp_path):
    before = POINTS.copy()
    for container in CONTAINERS.values():
        model = model_of(center=True).fit(container(POINTS, tmp_path / "X"), Z=container(RIGHT, tmp_path / "Z"))
        model.transform(container(POINTS, tmp_path / "new"))
        assert np.array_equal(POINTS, before)
    assert np.array_equal(np.fromfile(tmp_path / "X", dtype=np.float32).reshape(90, 4), before)
