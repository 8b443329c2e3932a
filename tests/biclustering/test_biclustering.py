"""KernelBiclustering: planted biclusters, new rows and columns, names, and tables that are hard to cluster."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import SpectralBiclustering, SpectralCoclustering
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score, consensus_score
from sklearn.metrics.pairwise import euclidean_distances

from cases import planted_blocks
from lopsided import KernelBiclustering, KernelSVD
from lopsided.exceptions import LopsidedWarning, RankWarning
from lopsided.kernels import Association


def counts(rng, background=0.05, density=0.6):
    """Sparse counts with three blocks, rows and columns of very unequal sums."""
    _, rows, columns = planted_blocks(0, rng)
    rates = np.where(rows[:, None] == columns, density, density * background)
    rates = rates * rng.gamma(2, 0.5, len(rows))[:, None] * rng.gamma(2, 0.5, len(columns))
    return sparse.csr_array(rng.poisson(rates).astype(float)), rows, columns


def indicators(rows, columns):
    return np.array([rows == i for i in range(rows.max() + 1)]), np.array([columns == i for i in range(rows.max() + 1)])


@pytest.mark.parametrize("noise", [0.2, 0.6, 1.0, 1.4])
@pytest.mark.parametrize("joint", [False, True])
def test_planted_blocks_are_found_at_least_as_well_as_by_scikit_learn(noise, joint, rng):
    X, rows, columns = planted_blocks(noise, rng)
    truth = indicators(rows, columns)
    mine = KernelBiclustering(3, joint=joint, random_state=0).fit(X)
    peer = SpectralCoclustering(3, random_state=0).fit(X - X.min() + 1)
    score = consensus_score(mine.biclusters_, truth)
    assert score >= consensus_score(peer.biclusters_, truth)
    assert score > (0.99 if noise <= 0.6 else 0.8)


@pytest.mark.parametrize("noise", [0.2, 0.6, 1.0])
def test_planted_checkerboards_are_found_at_least_as_well_as_by_scikit_learn(noise, rng):
    _, rows, columns = planted_blocks(0, rng)
    columns = columns % 2
    X = np.array([[0.5, 2.0], [1.0, 1.0], [2.5, 1.2]])[rows][:, columns] + noise * rng.standard_normal((120, 90))
    mine = KernelBiclustering((3, 2), random_state=0).fit(X)
    peer = SpectralBiclustering((3, 2), n_best=2, random_state=0).fit(X - X.min() + 1)
    pairs = [(i, j) for i in range(3) for j in range(2)]
    truth = np.array([rows == i for i, _ in pairs]), np.array([columns == j for _, j in pairs])
    assert mine.rows_.shape == (6, 120) and mine.columns_.shape == (6, 90)
    assert consensus_score(mine.biclusters_, truth) >= consensus_score(peer.biclusters_, truth)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("k_columns", [2, 3, 4])
@pytest.mark.parametrize("k_rows", [2, 3, 4])
def test_clear_checkerboards_of_any_numbers_of_clusters_are_found(k_rows, k_columns, equal, container, rng):
    sizes = [np.full(k, 20) if equal else 10 * np.arange(1, k + 1) for k in (k_rows, k_columns)]
    _, rows, columns = planted_blocks(0, rng, sizes)
    means = 1.0 + rng.permutation(k_rows * k_columns).reshape(k_rows, k_columns)
    X = container(means[rows][:, columns] + 0.2 * rng.standard_normal((len(rows), len(columns))))
    model = KernelBiclustering((k_rows, k_columns), random_state=0).fit(X)
    assert adjusted_rand_score(rows, model.row_labels_) == 1
    assert adjusted_rand_score(columns, model.column_labels_) == 1


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize(("more", "fewer"), [(3, 2), (4, 2), (4, 3)])
def test_fewer_clusters_on_one_side_do_not_mix_clear_blocks_of_the_other(more, fewer, equal, container, rng):
    sizes = np.full(more, 30) if equal else 10 * np.arange(2, more + 2)
    X, rows, columns = planted_blocks(0.3, rng, (sizes, sizes))
    X = container(X)
    tall = KernelBiclustering((more, fewer), random_state=0).fit(X)
    wide = KernelBiclustering((fewer, more), random_state=0).fit(X)
    assert adjusted_rand_score(rows, tall.row_labels_) == adjusted_rand_score(columns, wide.column_labels_) == 1
    for model in (tall, wide):
        assert (len(set(model.row_labels_)), len(set(model.column_labels_))) == model.n_clusters_
        np.testing.assert_array_equal(model.predict(X), model.row_labels_)
        np.testing.assert_array_equal(model.predict_columns(X.T), model.column_labels_)


@pytest.mark.filterwarnings("error::lopsided.exceptions.LopsidedWarning")
def test_exact_cells_of_unequal_numbers_are_found_without_a_warning():
    X = np.kron([[1.0, 5.0], [2.0, 2.0], [7.0, 3.0]], np.ones((6, 5)))
    for table, n_clusters in ((X, (3, 2)), (X.T, (2, 3))):
        model = KernelBiclustering(n_clusters, random_state=0).fit(table)
        assert (len(set(model.row_labels_)), len(set(model.column_labels_))) == n_clusters


def test_sparse_counts_are_clustered_and_stay_sparse(rng):
    X, rows, columns = counts(rng)
    model = KernelBiclustering(3, random_state=0).fit(X)
    dense = KernelBiclustering(3, random_state=0).fit(X.toarray())
    assert adjusted_rand_score(rows, model.row_labels_) > 0.9
    assert adjusted_rand_score(columns, model.column_labels_) > 0.9
    assert model.spherical_ and sparse.issparse(model.get_submatrix(0, X))
    np.testing.assert_array_equal(model.row_labels_, dense.row_labels_)
    np.testing.assert_array_equal(model.column_labels_, dense.column_labels_)


@pytest.mark.parametrize(
    "settings",
    [{}, {"weighting": "tfidf"}, {"weighting": "length"}, {"kernel": "precomputed", "spherical": True}],
    ids=repr,
)
@pytest.mark.parametrize("unit", [2.0**600, 2.0**-600])
def test_the_unit_of_the_table_does_not_matter(settings, unit, rng):
    X = np.abs(planted_blocks(0.2, rng)[0])
    first, second = (KernelBiclustering(3, **settings).fit(table) for table in (X, unit * X))
    np.testing.assert_array_equal(first.row_labels_, second.row_labels_)
    np.testing.assert_array_equal(first.column_labels_, second.predict_columns(unit * X.T))


@pytest.mark.parametrize("weighting", [None, "tfidf", "length"])
@pytest.mark.parametrize("joint", [False, True])
def test_known_rows_and_columns_keep_their_clusters_when_they_come_as_new(weighting, joint, rng):
    X, *_ = counts(rng)
    model = KernelBiclustering(3, weighting=weighting, joint=joint, random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.row_labels_)
    np.testing.assert_array_equal(model.predict_columns(X.T), model.column_labels_)


@pytest.mark.parametrize("kernel", ["rbf", "sne", "linear", Association(power=1.0, column_exponent=0.5)])
def test_any_kernel_finds_clear_blocks(kernel, rng):
    X, rows, _ = planted_blocks(0.2, rng)
    model = KernelBiclustering(3, kernel=kernel, random_state=0).fit(X)
    assert adjusted_rand_score(rows, model.row_labels_) > 0.9
    np.testing.assert_array_equal(model.predict(X), model.row_labels_)


def test_the_transposed_table_has_the_transposed_biclusters(rng):
    X, *_ = planted_blocks(0.3, rng)
    model = KernelBiclustering(3, random_state=0).fit(X)
    turned = KernelBiclustering(3, random_state=0).fit(X.T)
    assert adjusted_rand_score(model.row_labels_, turned.column_labels_) == 1
    assert consensus_score(model.biclusters_, turned.biclusters_[::-1]) == 1


def test_the_number_of_clusters_is_found_from_stability(rng):
    X, rows, _ = planted_blocks(0.1, rng)
    model = KernelBiclustering("auto", random_state=0).fit(X)
    assert model.n_clusters_ == (3, 3)
    assert adjusted_rand_score(rows, model.row_labels_) == 1


def test_float32_stays_float32(rng):
    X = counts(rng)[0].astype(np.float32)
    assert KernelBiclustering(3, random_state=0).fit(X).svd_.left_vectors_.dtype == np.float32


@pytest.mark.parametrize("dense", [False, True])
def test_empty_rows_and_columns_get_a_cluster_and_change_no_other(dense, rng):
    X, rows, columns = counts(rng)
    wide = sparse.lil_array((125, 93))
    wide[:120, :90] = X
    wide = wide.toarray() if dense else sparse.csr_array(wide)
    model = KernelBiclustering(3, random_state=0).fit(wide)
    assert len(set(model.row_labels_[120:])) == len(set(model.column_labels_[90:])) == 1
    assert adjusted_rand_score(rows, model.row_labels_[:120]) > 0.9
    assert adjusted_rand_score(columns, model.column_labels_[:90]) > 0.9


@pytest.mark.parametrize("X", [np.ones((6, 5)), np.full((6, 5), -2.0), np.zeros((6, 5)), sparse.csr_array((6, 5))])
def test_a_constant_table_has_one_cluster_and_says_so(X):
    with pytest.warns(LopsidedWarning, match="only 1 distinct feature vectors.*lower n_clusters"):
        model = KernelBiclustering(3, random_state=0).fit(X)
    assert len(set(model.row_labels_)) == len(set(model.column_labels_)) == 1
    assert model.rows_.shape == (3, 6)
    np.testing.assert_array_equal(model.predict(X), model.row_labels_)


def test_more_clusters_than_rows_or_columns_are_refused_with_the_bound(rng):
    X = rng.random((4, 3))
    with pytest.raises(ValueError, match="n_clusters=5 of rows exceeds n_samples=4"):
        KernelBiclustering(5).fit(X)
    with pytest.raises(ValueError, match="n_clusters=7 of columns exceeds n_features=3"):
        KernelBiclustering((2, 7)).fit(X)
    with pytest.warns(LopsidedWarning, match="every column is a cluster of its own"):
        model = KernelBiclustering(4, random_state=0).fit(X)
    assert len(set(model.column_labels_)) == 3


def test_more_components_than_the_table_has_are_cut_with_the_bound(rng):
    X = rng.random((7, 4))
    with pytest.warns(RankWarning, match=r"n_components=9 exceeds min\(n_samples, n_features\)=4"):
        assert KernelBiclustering(2, n_components=9).fit(X).svd_.n_components_ == 4
    assert KernelBiclustering(2, n_components=4).fit(X).svd_.n_components_ == 4


@pytest.mark.parametrize("n_clusters", [(1, 2, 3), (0, 2), (2.5, 2)])
def test_malformed_numbers_of_clusters_are_refused(n_clusters, rng):
    with pytest.raises(ValueError, match="n_clusters"):
        KernelBiclustering(n_clusters).fit(rng.random((5, 5)))
    with pytest.raises(ValueError, match="joint=True takes one number"):
        KernelBiclustering((2, 3), joint=True).fit(rng.random((5, 5)))


def test_methods_need_a_fitted_model():
    for ask in ("predict", "predict_columns"):
        with pytest.raises(NotFittedError):
            getattr(KernelBiclustering(), ask)(np.ones((2, 2)))
    with pytest.raises(AttributeError, match="rows_"):
        _ = KernelBiclustering().biclusters_


def test_new_columns_of_another_height_are_refused(rng):
    model = KernelBiclustering(2, random_state=0).fit(rng.random((6, 4)))
    with pytest.raises(ValueError, match="have 6 entries and are passed as rows"):
        model.predict_columns(rng.random((2, 5)))


FRAMES = {
    "pandas": lambda X, names, index: pd.DataFrame(X, columns=names, index=index),
    "polars": lambda X, names, index: pl.DataFrame(X, schema=names),
    "pyarrow": lambda X, names, index: pa.table(dict(zip(names, X.T, strict=True))),
}


@pytest.mark.parametrize("library", FRAMES)
def test_submatrices_and_labels_of_a_frame_keep_its_names(library, rng):
    X, *_ = planted_blocks(0.1, rng, ((4, 3), (2, 3)))
    names, index = [f"column {j}" for j in range(5)], [f"row {i}" for i in range(7)]
    frame = FRAMES[library](X, names, index)
    model = KernelBiclustering(2, random_state=0).fit(frame)
    rows, columns = model.get_indices(1)
    part = model.get_submatrix(1, frame)
    assert type(part) is type(frame)
    np.testing.assert_array_equal(np.asarray(part), X[np.ix_(rows, columns)])
    row_labels, column_labels = model.get_labels(frame)
    np.testing.assert_array_equal(row_labels, model.row_labels_)
    if library == "pandas":
        assert part.index.tolist() == [index[i] for i in rows] and part.columns.tolist() == [names[j] for j in columns]
        assert row_labels.index.tolist() == index and column_labels.index.tolist() == names
        np.testing.assert_array_equal(column_labels, model.column_labels_)
    else:
        assert nw.from_native(part).columns == [names[j] for j in columns]
        found = nw.from_native(column_labels).to_dict(as_series=False)
        assert found == {"column": names, "cluster": model.column_labels_.tolist()}


def test_labels_without_names_or_of_another_table_are_refused(rng):
    X = rng.random((6, 4))
    model = KernelBiclustering(2, random_state=0).fit(X)
    with pytest.raises(TypeError, match="data must be a dataframe, not ndarray; row_labels_ and column_labels_"):
        model.get_labels(X)
    with pytest.raises(ValueError, match=r"shape \(4, 6\), but the model was fitted to a table of shape \(6, 4\)"):
        model.get_labels(pd.DataFrame(X.T))


def test_the_decomposition_has_the_tolerance_and_the_seed_of_the_model(rng):
    table = sparse.random_array((900, 800), density=0.02, rng=rng, format="csr")
    first, same, exact = (KernelBiclustering(2, random_state=3, tol=tol).fit(table) for tol in (1e-3, 1e-3, 0))
    assert first.solver_ == first.svd_.solver_ and first.solver_.reason
    np.testing.assert_array_equal(first.svd_.left_vectors_, same.svd_.left_vectors_)
    expected = np.linalg.svd(first.svd_.kernel_.left(table).toarray(), compute_uv=False)[:16]
    np.testing.assert_allclose(exact.svd_.singular_values_, expected, rtol=1e-10)


@pytest.mark.parametrize("whole", [True, False])
def test_association_is_its_formula(whole, rng):
    X = np.array([[3, 0, 1], [0, 2, -4], [5, 1, 0], [0, 0, 0]], dtype=float)
    X = X if whole else X / 3
    Y = np.sign(X) * np.abs(X) ** 0.75
    r, c = np.abs(Y).sum(axis=1), np.abs(Y).sum(axis=0)
    K = Y / (r + 2 * r.mean())[:, None] ** 0.5 / (c + 2 * c.mean()) ** (0.5 if whole else 0.25)
    numbers = np.arange(3)[:, None]
    kernel = Association(regularization=2.0)
    np.testing.assert_allclose(kernel(X, numbers), K, rtol=1e-13)
    np.testing.assert_allclose(kernel(sparse.csr_array(X), numbers), K, rtol=1e-13)


def test_dhillons_normalisation_has_no_singular_value_above_one(rng):
    X, *_ = counts(rng)
    model = KernelSVD(3, kernel=Association(power=1.0, regularization=0.0, column_exponent=0.5)).fit(X)
    np.testing.assert_allclose(model.singular_values_[0], 1, rtol=1e-12)


def test_association_embeds_new_columns_as_it_embeds_old_ones(rng):
    X, *_ = counts(rng)
    model = KernelSVD(3, kernel="association").fit(X)
    np.testing.assert_allclose(model.transform(X), model.left_vectors_ * model.singular_values_, atol=1e-12)
    np.testing.assert_allclose(model.transform_right(X.T), model.right_vectors_ * model.singular_values_, atol=1e-12)


def test_the_kernel_is_evaluated_as_often_for_many_sweeps_as_for_one(rng, monkeypatch):
    evaluate, evaluated = Association.left, []
    monkeypatch.setattr(Association, "left", lambda kernel, X: evaluated.append(X.shape) or evaluate(kernel, X))
    numbers = []
    for noise in (0.1, 3.0):
        model = KernelBiclustering(3, random_state=0).fit(planted_blocks(noise, rng)[0])
        assert model._blocks is not None
        numbers.append(len(evaluated))
        evaluated.clear()
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_exact_blocks_are_counted_as_they_are(k):
    assert KernelBiclustering("auto").fit(np.kron(np.eye(k), np.ones((5, 4)))).n_clusters_ == (k, k)


@pytest.mark.parametrize(
    ("kernel", "dtype", "unit"),
    [
        ("linear", np.float32, 2.0**30),
        ("linear", np.float32, 2.0**-60),
        ("linear", np.float64, 2.0**500),
        ("precomputed", np.float32, 2.0**60),
        ("precomputed", np.float64, 2.0**-900),
    ],
)
@pytest.mark.parametrize("refine", [True, False])
def test_clusters_are_found_where_squares_of_kernel_values_overflow_or_vanish(refine, kernel, dtype, unit):
    X = np.kron(np.eye(3), np.ones((8, 6))) * 5 + np.random.default_rng(0).normal(3, 0.3, (24, 18))
    model = KernelBiclustering(3, kernel=kernel, refine=refine, random_state=0)
    expected, found = clone(model).fit(X.astype(dtype)), model.fit((unit * X).astype(dtype))
    np.testing.assert_array_equal(found.row_labels_, expected.row_labels_)
    np.testing.assert_array_equal(found.predict((unit * X).astype(dtype)), expected.row_labels_)
    np.testing.assert_array_equal(found.predict_columns((unit * X.T).astype(dtype)), expected.column_labels_)


def test_a_kernel_function_meets_rows_and_columns_of_one_width(rng):
    table = np.kron([[3.0, 0.0], [0.0, 2.0]], np.ones((8, 5))) + 0.1 * rng.random((16, 10))
    model = KernelBiclustering(2, kernel=lambda X, Z: np.exp(-euclidean_distances(X, Z, squared=True) / 50)).fit(table)
    assert adjusted_rand_score(model.row_labels_, np.repeat([0, 1], 8)) == 1


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_repeated_entries_of_small_integers_are_added(kind, rng):
    rows, columns = rng.integers(20, size=(2, 400))
    triplets = sparse.coo_array((np.full(400, 100, kind), (rows, columns)), shape=(20, 20))
    wide = sparse.coo_array((np.full(400, 100.0), (rows, columns)), shape=(20, 20))
    labels = [KernelBiclustering(3, random_state=0).fit(X).row_labels_ for X in (triplets, wide)]
    np.testing.assert_array_equal(*labels)
    np.testing.assert_array_equal(*(KernelSVD(3).fit(X).singular_values_ for X in (triplets, wide)))
