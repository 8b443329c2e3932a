"""KernelBiclustering: planted biclusters, the laws of its parts, and tables that are hard to cluster."""

from itertools import permutations

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import SpectralBiclustering, SpectralCoclustering
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score, consensus_score
from sklearn.metrics.pairwise import euclidean_distances

from lopsided import KernelBiclustering, KernelSVD
from lopsided.biclustering import coherence_index, matched_accuracy, partition_scores
from lopsided.biclustering.blocks import block_means, matched_left_classes
from lopsided.biclustering.counts import count_clusters
from lopsided.biclustering.discriminant import Discriminant, fisher, nearest_mean, refine_partition, unit_rows
from lopsided.biclustering.sweeps import block_sweeps, description_length, unequal_sweeps
from lopsided.exceptions import LopsidedWarning, RankWarning
from lopsided.kernels import Association
from lopsided.svd import Factors


def blocks(noise, rng, sizes=((60, 40, 20), (30, 40, 20))):
    """A table with one block for each cluster, and the clusters of its rows and columns."""
    rows, columns = (rng.permutation(np.repeat(np.arange(len(s)), s)) for s in sizes)
    X = (rows[:, None] == columns) + noise * rng.standard_normal((len(rows), len(columns)))
    return X, rows, columns


def counts(rng, background=0.05, density=0.6):
    """Sparse counts with three blocks, rows and columns of very unequal sums."""
    _, rows, columns = blocks(0, rng)
    rates = np.where(rows[:, None] == columns, density, density * background)
    rates = rates * rng.gamma(2, 0.5, len(rows))[:, None] * rng.gamma(2, 0.5, len(columns))
    return sparse.csr_array(rng.poisson(rates).astype(float)), rows, columns


def indicators(rows, columns):
    return np.array([rows == i for i in range(rows.max() + 1)]), np.array([columns == i for i in range(rows.max() + 1)])


@pytest.mark.parametrize("noise", [0.2, 0.6, 1.0, 1.4])
@pytest.mark.parametrize("joint", [False, True])
def test_planted_blocks_are_found_at_least_as_well_as_by_scikit_learn(noise, joint, rng):
    X, rows, columns = blocks(noise, rng)
    truth = indicators(rows, columns)
    mine = KernelBiclustering(3, joint=joint, random_state=0).fit(X)
    peer = SpectralCoclustering(3, random_state=0).fit(X - X.min() + 1)
    score = consensus_score(mine.biclusters_, truth)
    assert score >= consensus_score(peer.biclusters_, truth)
    assert score > (0.99 if noise <= 0.6 else 0.8)


@pytest.mark.parametrize("noise", [0.2, 0.6, 1.0])
def test_planted_checkerboards_are_found_at_least_as_well_as_by_scikit_learn(noise, rng):
    _, rows, columns = blocks(0, rng)
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
    _, rows, columns = blocks(0, rng, sizes)
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
    X, rows, columns = blocks(0.3, rng, (sizes, sizes))
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
    X = np.abs(blocks(0.2, rng)[0])
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
    X, rows, _ = blocks(0.2, rng)
    model = KernelBiclustering(3, kernel=kernel, random_state=0).fit(X)
    assert adjusted_rand_score(rows, model.row_labels_) > 0.9
    np.testing.assert_array_equal(model.predict(X), model.row_labels_)


def test_the_transposed_table_has_the_transposed_biclusters(rng):
    X, *_ = blocks(0.3, rng)
    model = KernelBiclustering(3, random_state=0).fit(X)
    turned = KernelBiclustering(3, random_state=0).fit(X.T)
    assert adjusted_rand_score(model.row_labels_, turned.column_labels_) == 1
    assert consensus_score(model.biclusters_, turned.biclusters_[::-1]) == 1


def test_the_number_of_clusters_is_found_from_the_gap(rng):
    X, rows, _ = blocks(0.1, rng)
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


def test_nan_is_refused_and_methods_need_a_fitted_model(rng):
    X = rng.random((5, 4))
    X[2, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        KernelBiclustering(2).fit(X)
    for ask in ("predict", "predict_columns"):
        with pytest.raises(NotFittedError):
            getattr(KernelBiclustering(), ask)(np.ones((2, 2)))
    with pytest.raises(AttributeError, match="rows_"):
        _ = KernelBiclustering().biclusters_


def test_new_columns_of_another_height_are_refused(rng):
    model = KernelBiclustering(2, random_state=0).fit(rng.random((6, 4)))
    with pytest.raises(ValueError, match="have 6 entries each and are passed as rows"):
        model.predict_columns(rng.random((2, 5)))


FRAMES = {
    "pandas": lambda X, names, index: pd.DataFrame(X, columns=names, index=index),
    "polars": lambda X, names, index: pl.DataFrame(X, schema=names),
    "pyarrow": lambda X, names, index: pa.table(dict(zip(names, X.T, strict=True))),
}


@pytest.mark.parametrize("library", FRAMES)
def test_submatrices_and_labels_of_a_frame_keep_its_names(library, rng):
    X, *_ = blocks(0.1, rng, ((4, 3), (2, 3)))
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


def test_fishers_rule_is_that_of_scikit_learn(rng):
    F = rng.standard_normal((200, 4)) @ rng.standard_normal((4, 4))
    labels = (F @ rng.standard_normal((4, 3))).argmax(axis=1)
    shrinkage = 0.2
    peer = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(F, labels)
    found = fisher(F, labels, 3, shrinkage)
    np.testing.assert_allclose(F @ found.weights + found.offsets, peer.decision_function(F), rtol=1e-9, atol=1e-9)


def test_fishers_rule_without_shrinkage_does_not_depend_on_the_coordinates(rng):
    F = rng.standard_normal((100, 3))
    labels = F[:, 0] > 0
    G = F @ rng.standard_normal((3, 3))
    rules = [fisher(features, labels.astype(int), 2, 0.0) for features in (F, G)]
    np.testing.assert_array_equal(rules[0].labels(F), rules[1].labels(G))


def test_refinement_mends_a_partition_and_empties_no_class(rng):
    truth = np.repeat(np.arange(3), 100)
    F = np.eye(3)[truth] * 3 + rng.standard_normal((300, 3)) * 0.3
    F = np.hstack([F, rng.standard_normal((300, 5))])
    spoiled = np.where(rng.random(300) < 0.3, rng.integers(3, size=300), truth)
    assert adjusted_rand_score(truth, refine_partition(F, spoiled, 3).labels(F)) == 1
    lonely = np.zeros(300, dtype=int)
    lonely[0] = 1
    assert len(np.unique(refine_partition(F, lonely, 2).labels(F))) == 2


def test_block_sweeps_lower_the_distance_to_the_block_means_and_label_by_their_rules(rng):
    X, rows, columns = blocks(1.0, rng)
    spoiled = [np.where(rng.random(len(true)) < 0.3, rng.integers(3, size=len(true)), true) for true in (rows, columns)]

    def distance(rows, columns):
        R, C = np.eye(3)[rows], np.eye(3)[columns]
        return np.linalg.norm(X - R @ (np.linalg.pinv(R) @ X @ np.linalg.pinv(C).T) @ C.T)

    reached = [distance(*spoiled)]
    for sweeps in (1, 2, 20):
        rules, *found = block_sweeps(X, *spoiled, sweeps=sweeps)
        reached.append(distance(*found))
        np.testing.assert_array_equal(rules.rows.labels(X @ rules.columns_of), found[0])
        np.testing.assert_array_equal(rules.columns.labels(X.T @ rules.rows_of), found[1])
    assert np.all(np.diff(reached) <= 0) and reached[-1] < reached[0]
    assert adjusted_rand_score(rows, found[0]) > adjusted_rand_score(rows, spoiled[0])


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("hidden", [True, False])
def test_unequal_sweeps_label_by_their_rules_and_use_a_finer_partition_only_where_the_matrix_has_one(
    hidden, turned, rng
):
    X, rows, finer = blocks(0.3, rng, ((40, 30, 20), (25, 25, 25)))
    columns = np.minimum(finer, 1)
    if not hidden:  # two classes of columns, one of them split at random
        X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])[rows][:, columns] + 0.3 * rng.standard_normal(X.shape)
        finer = np.where(finer == 0, 0, rng.integers(1, 3, size=len(finer)))
    energy = np.square(X).sum()
    if turned:
        rules, new_columns, new_rows = unequal_sweeps(X.T, columns, rows, finer, energy)
        rules = rules.T
    else:
        rules, new_rows, new_columns = unequal_sweeps(X, rows, columns, finer, energy)
    assert adjusted_rand_score(rows, new_rows) == adjusted_rand_score(columns, new_columns) == 1
    assert rules.columns_of.shape[1] == (3 if hidden else 2)
    np.testing.assert_array_equal(rules.rows.labels(X @ rules.columns_of), new_rows)
    np.testing.assert_array_equal(rules.columns.labels(X.T @ rules.rows_of), new_columns)


def test_the_kernel_is_evaluated_as_often_for_many_sweeps_as_for_one(rng, monkeypatch):
    evaluate, evaluated = Association.left, []
    monkeypatch.setattr(Association, "left", lambda kernel, X: evaluated.append(X.shape) or evaluate(kernel, X))
    numbers = []
    for noise in (0.1, 3.0):
        model = KernelBiclustering(3, random_state=0).fit(blocks(noise, rng)[0])
        assert model._blocks is not None
        numbers.append(len(evaluated))
        evaluated.clear()
    assert numbers[0] == numbers[1]


def test_description_length_is_its_formula_and_least_for_the_planted_numbers_of_classes(rng):
    X, rows, columns = blocks(0.5, rng)

    def expected(rows, columns):
        R, C = np.eye(rows.max() + 1)[rows], np.eye(columns.max() + 1)[columns]
        error = np.square(X - R @ (np.linalg.pinv(R) @ X @ np.linalg.pinv(C).T) @ C.T).sum()
        shares = R.mean(axis=0)[rows], C.mean(axis=0)[columns]
        (n, k_rows), (m, k_columns) = R.shape, C.shape
        free = k_rows * k_columns * np.log(X.size) + (k_rows - 1) * np.log(n) + (k_columns - 1) * np.log(m)
        return X.size / 2 * np.log(error) - sum(np.log(p).sum() for p in shares) + free / 2

    lengths = []
    for labels in (columns, np.minimum(columns, 1), 2 * columns + rng.integers(2, size=len(columns))):
        lengths.append(description_length(X, rows, labels, np.square(X).sum()))
        assert lengths[-1] == pytest.approx(expected(rows, labels), rel=1e-12)
    assert np.argmin(lengths) == 0


def test_block_sweeps_that_would_empty_a_class_are_not_made():
    X, labels = np.ones((6, 4)), np.array([0, 0, 0, 0, 0, 1])
    rules, rows, columns = block_sweeps(X, labels, labels[2:])
    assert rules is None
    np.testing.assert_array_equal(rows, labels)
    np.testing.assert_array_equal(columns, labels[2:])


def test_points_are_assigned_to_the_nearest_mean(rng):
    F, labels = rng.standard_normal((50, 4)), rng.integers(3, size=50)
    means = np.array([F[labels == c].mean(axis=0) for c in range(3)])
    nearest = ((F[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(nearest_mean(F, labels, 3).labels(F), nearest)
    assert isinstance(nearest_mean(F, labels, 3), Discriminant)


def test_unit_rows_have_length_one_and_zeros_stay():
    np.testing.assert_allclose(unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0, 0]])


def test_block_means_are_means_of_the_matrix(rng):
    factors = Factors(rng.standard_normal((8, 2)), np.array([2.0, 1.0]), rng.standard_normal((6, 2)))
    left, right = np.array([0, 0, 1, 1, 1, 2, 2, 0]), np.array([1, 0, 0, 1, 1, 0])
    found = block_means(factors, left, right, (3, 2))
    K = factors.matrix()
    expected = [[K[np.ix_(left == i, right == j)].mean() for j in range(2)] for i in range(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_classes_are_matched_one_to_one_with_the_largest_sum_of_means():
    assert matched_left_classes(np.array([[1.0, 9.0, 2.0], [8.0, 6.0, 3.0], [4.0, 4.0, 1.0]])).tolist() == [1, 0, 2]
    assert matched_left_classes(np.array([[5.0], [7.0], [6.0]])).tolist() == [1]


@pytest.mark.parametrize(
    ("s", "count"), [([3, 2.9, 2.8, 0.1, 0.05], 3), ([1, 0.9, 0.1], 2), ([1.0, 0.5], 2), ([1.0, 0, 0], 2), ([1.0], 1)]
)
def test_classes_are_counted_before_the_widest_gap(s, count):
    assert count_clusters(np.array(s, dtype=float)) == count


def test_coherence_is_its_definition(rng):
    X = rng.poisson(0.7, (30, 9)).astype(float)
    X[:, 8] = 0
    labels = np.array([0, 0, 1, 1, 2, 2, 2, 0, 1])
    C = X.T @ X
    expected = np.outer(C.sum(axis=1), C.sum(axis=0)) / C.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        P = np.where(C > 0, np.log(C / expected), 0)
    score = 0
    for c in range(3):
        inside = labels == c
        score += (P[inside][:, inside].mean() - P[inside][:, ~inside].mean()) * inside.mean()
    for table in (X, sparse.csr_array(X)):
        assert coherence_index(table, labels) == pytest.approx(score, rel=1e-12)
    assert coherence_index(X, np.zeros(9)) == pytest.approx(P.mean(), rel=1e-12)


@pytest.mark.parametrize("unit", [2.0**600, 2.0**-600])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_coherence_does_not_depend_on_the_unit_of_the_table(container, unit, rng):
    X, labels = rng.poisson(1.0, (20, 9)).astype(float), np.arange(9) % 3
    assert coherence_index(container(unit * X), labels) == pytest.approx(coherence_index(X, labels), rel=1e-12)


@pytest.mark.parametrize(
    "score",
    [
        matched_accuracy,
        partition_scores,
        lambda a, b: matched_accuracy(b, a),
        lambda a, b: coherence_index(np.eye(4), a),
    ],
)
def test_scores_do_not_read_masked_labels(score):
    with pytest.raises(ValueError, match=r"(labels_true|labels_pred|column_labels) has 1 masked entries"):
        score(np.ma.masked_array([0, 0, 1, 1], [0, 0, 1, 0]), np.array([0, 0, 1, 1]))


def test_coherence_refuses_what_has_no_mutual_information():
    with pytest.raises(ValueError, match="Negative values"):
        coherence_index(-np.eye(3), [0, 1, 1])
    with pytest.raises(ValueError, match="2 labels for 3 columns"):
        coherence_index(np.eye(3), [0, 1])


def test_matched_accuracy_is_the_best_over_all_matchings(rng):
    truth, found = rng.integers(4, size=60), rng.integers(4, size=60)
    best = max(np.mean(np.array(p)[found] == truth) for p in permutations(range(4)))
    assert matched_accuracy(truth, found) == pytest.approx(best)
    assert matched_accuracy([0, 1], [5, 5]) == 0.5
    assert matched_accuracy(truth[:, None], found) == matched_accuracy(truth, found)
    assert partition_scores(truth, truth) == {"nmi": 1.0, "ari": 1.0, "accuracy": 1.0}


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
