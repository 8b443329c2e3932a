"""How tables are read, the stability of clusters, missing values, and columns by name."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from cases import assert_close, planted_blocks
from lopsided import KernelBiclustering
from lopsided.biclustering.readings import Attributes, Profiles, plain_reading
from lopsided.exceptions import LopsidedWarning

EFFECTS = {
    "column levels": ("attributes", lambda X, rng: X + 5 * rng.standard_normal((1, X.shape[1]))),
    "column units": ("attributes", lambda X, rng: X * 10 ** rng.uniform(-2, 2, (1, X.shape[1]))),
    "row levels": ("profiles", lambda X, rng: X + 5 * rng.standard_normal((X.shape[0], 1))),
    "exponentials": ("profiles", lambda X, rng: np.exp(X + rng.standard_normal((len(X), 1)) + rng.standard_normal(90))),
}
PREPARATIONS = pytest.mark.parametrize("kind", [Attributes, Profiles])


@pytest.mark.parametrize("effect", EFFECTS)
def test_blocks_are_found_under_effects_that_do_not_matter(effect, rng):
    X, rows, columns = planted_blocks(0.3, rng)
    reading, change = EFFECTS[effect]
    model = KernelBiclustering(3, random_state=0).fit(change(X, rng))
    assert model.reading_.name == reading
    assert adjusted_rand_score(rows, model.row_labels_) == 1
    assert adjusted_rand_score(columns, model.column_labels_) > 0.9
    assert model.stability_.min() > 0.9


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda rng: sparse.random_array((40, 30), density=0.1, rng=rng), "sparse"),
        (lambda rng: rng.random((40, 30)) * (rng.random((40, 30)) < 0.3), "mostly zero"),
        (lambda rng: rng.poisson(0.6, (40, 30)).astype(float), "zero"),
        (lambda rng: rng.standard_normal((40, 30)), "standardising rows or columns changes little"),
        (lambda rng: np.full((40, 30), 2.5), "standardising"),
    ],
)
def test_tables_whose_entries_compare_are_read_as_counts(make, reason, rng):
    found = plain_reading(make(rng))
    assert found.name == "counts" and reason in found.reason


def poisson_blocks(rate, spread, rng):
    """Counts with twice the rate in blocks on the diagonal, and rows and columns of different sizes."""
    means, rows, columns = planted_blocks(0.0, rng)
    sizes = rng.lognormal(0, spread, (len(rows), 1)) * rng.lognormal(0, spread, len(columns))
    return rng.poisson(rate * (1 + 2 * means) * sizes).astype(float), rows, columns


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("rate", [0.3, 0.8, 1.5, 3])  # from mostly zero to mostly not
def test_sizes_of_rows_and_columns_hide_no_blocks_of_counts(rate, kind, rng):
    X, rows, columns = poisson_blocks(rate, 1.0, rng)
    model = KernelBiclustering(3, random_state=0).fit(kind(X))
    assert model.spherical_
    assert adjusted_rand_score(rows, model.row_labels_) > 0.8
    assert adjusted_rand_score(columns, model.column_labels_) > 0.8


def test_lengths_count_where_rows_and_columns_have_one_size_or_levels_are_asked_for(rng):
    assert not KernelBiclustering(3).fit(poisson_blocks(0.8, 0.0, rng)[0]).spherical_
    X = poisson_blocks(0.8, 1.0, rng)[0]
    for settings in ({"n_clusters": (3, 3)}, {"kernel": "precomputed"}, {"weighting": "length"}, {"spherical": False}):
        assert not KernelBiclustering(**{"n_clusters": 3} | settings).fit(X).spherical_


@PREPARATIONS
@pytest.mark.parametrize("shift", [0.0, 5.0])
def test_known_rows_and_columns_are_prepared_as_in_the_table(kind, shift, rng):
    X = rng.standard_normal((20, 12)) * 10 ** rng.uniform(-1, 1, 12) + shift * 3
    if shift == 0:
        X = np.abs(X) * (rng.random((20, 12)) < 0.9)
    preparation = kind.of_table(X)
    table = preparation.rows(X)
    assert_close(preparation.rows(X[:3]), table[:3])
    assert_close(preparation.columns(X.T), table.T, ulps=1e5)
    np.testing.assert_allclose(table.mean(axis=0), 0, atol=1e-12)


def test_attributes_do_not_depend_on_units_and_profiles_not_on_levels_of_rows(rng):
    X = rng.standard_normal((20, 12))
    scaled, shifted = X * 10 ** rng.uniform(-3, 3, 12) + 7, X + 10 * rng.standard_normal((20, 1))
    np.testing.assert_allclose(Attributes.of_table(scaled).rows(scaled), Attributes.of_table(X).rows(X), atol=1e-9)
    np.testing.assert_allclose(Profiles.of_table(shifted).rows(shifted), Profiles.of_table(X).rows(X), atol=1e-9)


@pytest.mark.parametrize("reading", ["counts", "attributes", "profiles"])
def test_known_rows_and_columns_keep_their_labels_in_every_reading(reading, rng):
    X = planted_blocks(0.3, rng)[0] + 0.1
    model = KernelBiclustering(3, reading=reading, random_state=0).fit(X)
    assert model.reading_ == (reading, "it was asked for")
    np.testing.assert_array_equal(model.predict(X), model.row_labels_)
    np.testing.assert_array_equal(model.predict_columns(X.T), model.column_labels_)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("effect", ["column levels", "row levels"])
def test_blocks_are_found_in_any_unit(effect, scale, rng):
    X, rows, _ = planted_blocks(0.3, rng)
    X = EFFECTS[effect][1](X, rng)
    X[:, 3] = 7.0  # a constant column
    model = KernelBiclustering(3, reading=EFFECTS[effect][0], random_state=0).fit(scale * X)
    assert adjusted_rand_score(rows, model.row_labels_) == 1
    np.testing.assert_array_equal(model.predict(scale * X), model.row_labels_)


def test_a_checkerboard_a_kernel_or_a_weighting_takes_entries_as_they_are(rng):
    X = EFFECTS["row levels"][1](planted_blocks(0.3, rng)[0], rng)
    for settings in ({"n_clusters": (3, 2)}, {"kernel": "rbf"}, {"weighting": "length"}):
        assert KernelBiclustering(**{"n_clusters": 3} | settings, random_state=0).fit(X).reading_.name == "counts"
    with pytest.raises(ValueError, match="needs a dense table"):
        KernelBiclustering(3, reading="profiles").fit(sparse.csr_array(X))


@pytest.mark.parametrize("effect", sorted(set(EFFECTS) - {"row levels"}))  # levels of rows are stable clusters too
def test_stability_finds_the_number_of_clusters(effect, rng):
    X, rows, _ = planted_blocks(0.2, rng)
    model = KernelBiclustering("auto", random_state=0).fit(EFFECTS[effect][1](X, rng))
    assert model.n_clusters_ == (3, 3)
    assert model.path_[-1].n_clusters == 3 and model.path_[-1].agreement == max(one.agreement for one in model.path_)
    assert [one.n_clusters for one in model.path_[:-1]] == list(range(2, 2 + len(model.path_) - 1))
    assert adjusted_rand_score(rows, model.row_labels_) == 1


def test_stability_is_high_for_clusters_and_low_for_noise(rng):
    X = planted_blocks(0.3, rng)[0]
    model = KernelBiclustering(3, random_state=0).fit(X)
    assert model.stability_ is None  # in the reading "counts" only on request
    assert model.assess_stability(X).min() > 0.9
    noise = rng.standard_normal((100, 60))
    assert KernelBiclustering(3, random_state=0).fit(noise).assess_stability(noise).max() < 0.7
    with pytest.raises(ValueError, match="X has 5 rows, but the table of fit had 120"):
        model.assess_stability(X[:5])


@pytest.mark.parametrize("effect", EFFECTS)
def test_missing_values_are_filled_in_with_a_warning(effect, rng):
    X, rows, _ = planted_blocks(0.2, rng)
    X = EFFECTS[effect][1](X, rng)
    whole = X.copy()
    X[rng.random(X.shape) < 0.1] = np.nan
    before = X.copy()
    with pytest.warns(LopsidedWarning, match=f"{np.isnan(X).sum():,} missing values are filled in"):
        model = KernelBiclustering(3, random_state=0).fit(X)
    np.testing.assert_array_equal(X, before)
    assert adjusted_rand_score(rows, model.row_labels_) > 0.9
    assert adjusted_rand_score(rows, model.predict(whole)) > 0.9
    np.testing.assert_array_equal(model.predict(X), model.row_labels_)


def test_tables_without_any_value_in_a_row_or_column_are_refused(rng):
    X = rng.random((6, 5))
    X[:, 3] = np.nan
    with pytest.raises(ValueError, match=r"column 3 of X holds only NaN \(1 such in all\); leave them out"):
        KernelBiclustering(2).fit(X)
    with pytest.raises(ValueError, match="row 3 of X holds only NaN"):
        KernelBiclustering(2).fit(X.T)
    X[:, 3] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        KernelBiclustering(2).fit(X)
    with pytest.raises(ValueError, match="NaN"):
        KernelBiclustering(2).fit(sparse.csr_array([[1.0, np.nan], [1.0, 2.0]]))


@pytest.mark.filterwarnings("ignore::lopsided.exceptions.LopsidedWarning")
@pytest.mark.parametrize("n_clusters", [2, "auto"])
@pytest.mark.parametrize("shape", [(2, 1), (3, 2), (2, 30), (30, 2), (5, 5)])
@pytest.mark.parametrize("reading", ["auto", "attributes", "profiles"])
def test_small_and_constant_tables_get_an_answer(shape, n_clusters, reading, rng):
    for X in (rng.standard_normal(shape) + 3 * np.arange(shape[1]), np.full(shape, 3.0)):
        model = KernelBiclustering(n_clusters, reading=reading, random_state=0).fit(X)
        assert len(model.row_labels_) == shape[0] and len(model.column_labels_) == shape[1]


@pytest.mark.parametrize("effect", EFFECTS)
def test_constant_columns_change_no_row_cluster(effect, rng):
    X, rows, _ = planted_blocks(0.3, rng)
    wide = np.hstack([EFFECTS[effect][1](X, rng), np.full((len(X), 3), 7.0)])
    model = KernelBiclustering(3, random_state=0).fit(wide)
    assert adjusted_rand_score(rows, model.row_labels_) > 0.95
    np.testing.assert_array_equal(model.predict(wide), model.row_labels_)


@pytest.mark.parametrize("reading", ["counts", "attributes", "profiles"])
def test_fewer_distinct_rows_than_clusters_give_fewer_clusters_with_a_warning(reading, rng):
    X = np.repeat(rng.gamma(1.0, size=(2, 12)), 10, axis=0)
    with pytest.warns(LopsidedWarning) as caught:
        model = KernelBiclustering(5, reading=reading, random_state=0).fit(X)
    message = (
        "n_clusters=5, but the rows have only 2 distinct feature vectors: other clusters are empty; lower n_clusters"
    )
    assert message in [str(one.message) for one in caught]
    assert len(set(model.row_labels_[:10])) == len(set(model.row_labels_[10:])) == 1
    with pytest.warns(LopsidedWarning) as caught:
        model = KernelBiclustering((2, 5), reading=reading, random_state=0).fit(np.ascontiguousarray(X.T))
    assert message.replace("rows", "columns") in [str(one.message) for one in caught]
    assert len(set(model.column_labels_[:10])) == len(set(model.column_labels_[10:])) == 1


def test_a_single_row_is_refused():
    with pytest.raises(ValueError, match="1 sample.*minimum of 2 is required"):
        KernelBiclustering(1).fit([[1.0, 2.0, 3.0]])


def test_the_columns_of_a_cluster_come_by_name(rng):
    X, rows, columns = planted_blocks(0.1, rng)
    frame = pd.DataFrame(np.maximum(X, 0), columns=[f"c{j}" for j in range(90)])
    model = KernelBiclustering(3, random_state=0).fit(frame)
    for cluster, names in enumerate(model.top_columns(5)):
        numbers = [int(name[1:]) for name in names]
        assert set(columns[numbers]) == {rows[model.row_labels_ == cluster][0]}
    assert KernelBiclustering(3, random_state=0).fit(X).top_columns(2)[0].dtype.kind == "i"
    with pytest.raises(ValueError, match="k=91 must be a whole number from 1 to the number of columns, 90"):
        model.top_columns(91)


@pytest.mark.parametrize("reading", ["attributes", "profiles"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.coo_array])
def test_new_rows_and_columns_may_be_sparse(reading, kind, rng):
    X = rng.random((30, 12)) * np.geomspace(1, 100, 12)
    model = KernelBiclustering(2, reading=reading, n_init=1, random_state=0).fit(X)
    assert np.array_equal(model.predict(kind(X)), model.predict(X))
    assert np.array_equal(model.predict_columns(kind(X.T)), model.predict_columns(X.T))
