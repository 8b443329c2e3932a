"""Plots of embeddings, biclusters and diagnostics, and the demo."""

import subprocess
import sys
import tracemalloc
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

from lopsided import DirectedGraphEmbedding, KernelBiclustering, KernelSVD
from lopsided.datasets import make_citation_graph
from lopsided.plotting import plot_biclusters, plot_diagnostics, plot_embeddings

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def graph():
    return make_citation_graph(200, n_classes=3, random_state=0)


def pair(n=40, m=30, k=3):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, k)), rng.standard_normal((m, k))


def drawn(ax):
    return ax.collections[0].get_offsets()


def sorted_rows(points):
    return np.asarray(points)[np.lexsort(np.asarray(points).T)]


@pytest.mark.parametrize("scaling", [0.0, 0.5, 1.0])
def test_a_model_is_drawn_with_the_scaling_of_its_transform(graph, scaling):
    A, labels = graph
    model = KernelSVD(3, kernel="rbf", scaling=scaling, n_jobs=1).fit(A)
    axes = plot_embeddings(model, labels, components=(1, 2))
    expected = model.transform(A)[:, 1:], model.transform_right(A.T.tocsr())[:, 1:]
    for ax, points in zip(axes, expected, strict=True):
        np.testing.assert_allclose(sorted_rows(drawn(ax)), sorted_rows(points), atol=1e-8)


def test_sides_have_titles_and_the_legend_names_the_classes(graph):
    A, labels = graph
    axes = plot_embeddings(KernelSVD(2, n_jobs=1).fit(A), labels)
    assert [ax.get_title() for ax in axes] == ["left (rows)", "right (columns)"]
    assert [text.get_text() for text in axes[1].get_legend().get_texts()] == ["0", "1", "2"]


def test_a_class_has_one_colour_on_both_sides():
    left, _ = pair()
    names = np.array(["a", "b"])[np.arange(40) % 2]
    axes = plot_embeddings((left, left), names)
    colours = [ax.collections[0].get_facecolors() for ax in axes]
    np.testing.assert_array_equal(*colours)
    assert len(np.unique(colours[0], axis=0)) == 2


def test_without_labels_there_is_no_legend():
    axes = plot_embeddings(pair())
    assert axes[1].get_legend() is None
    assert [len(drawn(ax)) for ax in axes] == [40, 30]


@pytest.mark.parametrize("n_classes", [1, 12, 25])
def test_any_number_of_classes_is_coloured_and_up_to_twenty_are_named(n_classes):
    left, right = pair()
    axes = plot_embeddings((left, right), (np.arange(40) % n_classes, None))
    assert len(np.unique(axes[0].collections[0].get_facecolors(), axis=0)) == n_classes
    legend = axes[1].get_legend()
    assert len(legend.get_texts()) == (n_classes if n_classes <= 20 else 0)
    assert legend.get_title().get_text() == ("class" if n_classes <= 20 else "25 classes,\ntoo many to name")


def test_given_axes_are_drawn_on_and_returned():
    figure, axes = pyplot.subplots(2, 1)
    assert list(plot_embeddings(pair(), axes=axes)) == list(axes)
    assert pyplot.get_fignums() == [figure.number]


def test_a_few_outliers_are_left_out_and_counted():
    left, right = pair(500, 500)
    right[:3] *= 1000
    axes = plot_embeddings((left, right))
    assert axes[1].get_xlim()[1] < 10
    assert not axes[0].texts
    count = int(axes[1].texts[0].get_text().split()[0])
    assert 3 <= count < 50


def test_components_that_only_few_points_have_are_drawn_whole():
    left = 1e-17 * np.random.default_rng(0).standard_normal((500, 2))
    left[:3] = [[1, 2], [-1, 3], [0.5, -1]]
    right = np.zeros((500, 2))
    right[:2, 0], right[2, 1] = [1e-3, 2e-3], 50
    for ax, points in zip(plot_embeddings((left, right)), (left, right), strict=True):
        low, high = np.transpose([ax.get_xlim(), ax.get_ylim()])
        assert (points >= low).all() and (points <= high).all() and not ax.texts
        assert (high - low < 1.2 * np.ptp(points, axis=0)).all()


def test_labels_with_many_float_values_have_a_colour_bar():
    left, right = pair(100, 100)
    values = np.random.default_rng(0).standard_normal(100)
    values[7] = np.nan
    axes = plot_embeddings((left, right), values)
    assert len(axes[0].figure.axes) == 3 and axes[1].get_legend() is None
    axes[0].figure.canvas.draw()
    assert [ax.collections[0].get_clim() for ax in axes] == 2 * [(np.nanmin(values), np.nanmax(values))]
    few = plot_embeddings((left, right), np.arange(100) % 3 + 0.5)
    assert [text.get_text() for text in few[1].get_legend().get_texts()] == ["0.5", "1.5", "2.5"]


@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NA])
def test_points_without_a_label_are_grey(nothing):
    left, _ = pair()
    labels = [nothing if i % 4 == 0 else "ab"[i % 2] for i in range(40)]
    ax = plot_embeddings((left, left), labels)[1]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "no label"]
    colours, counts = np.unique(ax.collections[0].get_facecolors(), axis=0, return_counts=True)
    assert sorted(counts) == [10, 10, 20] and np.ptp(colours[:, :3], axis=1).min() == 0
    numbers = plot_embeddings((left, left), pd.Series(np.arange(40) % 3, dtype="Int64").replace(1, pd.NA))[1]
    assert [text.get_text() for text in numbers.get_legend().get_texts()] == ["0", "2", "no label"]


def test_large_integers_that_pandas_made_floats_keep_their_digits(rng):
    """Integers beside nan become floats in pandas."""
    codes = np.array([1000001.0, 1000002.0, np.nan])[np.arange(9) % 3]
    ax = plot_embeddings((rng.random((9, 2)), rng.random((9, 2))), codes)[1]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["1000001", "1000002", "no label"]


def test_the_legend_stays_within_axes_that_are_given():
    figure, axes = pyplot.subplots(1, 2)
    plot_embeddings(pair(40, 40), np.arange(40) % 3, axes=axes)
    figure.canvas.draw()
    legend, inside = axes[1].get_legend().get_window_extent(), axes[1].get_window_extent()
    assert inside.x0 <= legend.x0 and legend.x1 <= inside.x1


def test_logarithmic_axes_stay_logarithmic():
    _, axes = pyplot.subplots(1, 2)
    axes[0].set(xscale="log", yscale="log")
    plot_embeddings([np.exp(side) for side in pair()], axes=axes)
    axes[0].figure.canvas.draw()
    assert axes[0].get_xscale() == "log" and axes[0].get_xlim()[0] > 0


def test_constant_components_are_drawn():
    axes = plot_embeddings((np.ones((5, 2)), np.zeros((4, 2))))
    axes[0].figure.canvas.draw()
    assert axes[0].get_xlim() == (0.0, 2.0)


def test_embeddings_are_not_modified():
    left, right = pair()
    before = left.copy(), right.copy()
    plot_embeddings((left, right))
    np.testing.assert_array_equal(left, before[0])
    np.testing.assert_array_equal(right, before[1])


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((3,), {}, TypeError, "pair .* not int"),
        ((np.ones((4, 2)),), {}, TypeError, "not ndarray"),
        ((pair()[:1],), {}, TypeError, "pair"),
        ((([1.0, 2.0], [1.0, 2.0]),), {}, ValueError, "2D array"),
        (((np.full((3, 2), np.nan), np.ones((3, 2))),), {}, ValueError, "NaN"),
        ((pair(),), {"components": (0, 3)}, ValueError, r"\(0, 3\) must be two integers from 0 to 2"),
        ((pair(),), {"components": (0, 1, 2)}, ValueError, "must be two integers"),
        ((pair(),), {"components": (0.0, 1.0)}, ValueError, "must be two integers"),
        ((pair(), np.zeros(40)), {}, ValueError, "40 labels for 30 right points"),
        ((pair(), (np.zeros(40),)), {}, ValueError, "tuple of 1"),
        ((pair(),), {"axes": [None]}, ValueError, "axes holds 1"),
        ((KernelSVD(2),), {}, NotFittedError, "not fitted"),
    ],
)
def test_bad_embeddings_are_refused(arguments, options, error, message):
    with pytest.raises(error, match=message):
        plot_embeddings(*arguments, **options)


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'lopsided\[plot\]'"):
        plot_embeddings(pair())


def test_the_demo_prints_three_rows_and_writes_its_picture(tmp_path):
    command = [sys.executable, str(DEMO), "--nodes", "300", "--out", str(tmp_path / "new")]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert all(name in shown for name in ("micro F1", "TruncatedSVD", "KernelPCA", "KernelSVD", "demo.png"))
    assert (tmp_path / "new" / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_diagnostics_are_drawn_for_every_equation(rng):
    A = rng.standard_normal((12, 9))
    ax = plot_diagnostics(KernelSVD(4).fit(A).diagnostics())
    assert len(ax.get_legend().get_texts()) == 5
    assert all(len(line.get_xdata()) == 4 for line in ax.get_lines()[:5])
    assert ax.get_yscale() == "log"
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1
    assert plot_diagnostics(KernelSVD(2).fit(A).diagnostics(), ax=ax) is ax


@pytest.fixture
def biclustered():
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(3, size=60), rng.integers(3, size=40)
    X = (rows[:, None] == columns) + 0.1 * rng.standard_normal((60, 40))
    return X, KernelBiclustering(3, random_state=0).fit(X)


def test_a_reordered_table_shows_its_blocks_on_the_diagonal(biclustered):
    X, model = biclustered
    axes = plot_biclusters(X, model)
    before, after = (ax.images[0].get_array() for ax in axes)
    np.testing.assert_allclose(before, X)
    order = np.argsort(model.row_labels_, kind="stable"), np.argsort(model.column_labels_, kind="stable")
    np.testing.assert_allclose(after, X[order[0]][:, order[1]])
    assert len(axes[0].lines) == 0 and len(axes[1].lines) == 3
    top_left = axes[1].lines[0].get_xydata()
    assert top_left.max(axis=0).tolist() == [(model.column_labels_ == 0).sum(), (model.row_labels_ == 0).sum()]


def test_outlines_have_a_halo_and_clusters_have_names(biclustered):
    X, model = biclustered
    axes = plot_biclusters(X, (np.array(["a", "b", "c"])[model.row_labels_], model.column_labels_))
    halo = axes[1].lines[0].get_path_effects()[0]
    assert axes[1].lines[0].get_color() == "#202020" and halo._gc["foreground"] == "white"
    assert [text.get_text() for text in axes[1].texts] == ["a", "b", "c", "0", "1", "2"]
    assert len(axes[0].figure.axes) == 3
    assert axes[0].images[0].get_clim() == axes[1].images[0].get_clim()


def test_labels_alone_outline_every_block(biclustered):
    X, model = biclustered
    names = np.array(["a", "b", "c"])
    axes = plot_biclusters(sparse.csr_array(X), (names[model.row_labels_], model.column_labels_))
    assert len(axes[1].lines) == 9


def test_a_large_sparse_table_is_averaged_and_never_made_dense():
    X = sparse.random_array((20_000, 5_000), density=0.002, rng=0, format="csr")
    labels = np.arange(20_000) % 4, np.arange(5_000) % 3
    tracemalloc.start()
    axes = plot_biclusters(X, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    pixels = axes[0].images[0].get_array()
    assert pixels.shape == (500, 500)
    assert peak < 20_000 * 5_000  # bytes; a dense table takes eight times as many
    np.testing.assert_allclose(pixels.mean(), X.mean(), rtol=1e-12)


@pytest.mark.parametrize("X", [np.zeros((5, 4)), sparse.csr_array((5, 4)), -np.ones((5, 4))])
def test_tables_without_contrast_are_drawn(X):
    for ax in plot_biclusters(X, (np.zeros(5), np.zeros(4))):
        (image,) = ax.images
        np.testing.assert_array_equal(image.get_array(), X.toarray() if sparse.issparse(X) else X)
        low, high = image.get_clim()
        assert low <= image.get_array().min() <= image.get_array().max() <= high and low < high


def test_labels_that_do_not_fit_the_table_are_refused(biclustered):
    X, model = biclustered
    with pytest.raises(ValueError, match="59 row labels for a table of 60 rows"):
        plot_biclusters(X, (model.row_labels_[1:], model.column_labels_))
    with pytest.raises(TypeError, match=r"fitted biclustering or \(row labels, column labels\), not"):
        plot_biclusters(X, model.row_labels_)
    with pytest.raises(NotFittedError):
        plot_biclusters(X, KernelBiclustering())
    with pytest.raises(TypeError, match=r"table first: plot_biclusters\(X, model\), not KernelBiclustering"):
        plot_biclusters(model, X)


def test_a_graph_is_drawn_from_its_embedding(graph):
    A, _ = graph
    model = DirectedGraphEmbedding(2).fit(A)
    left, right = plot_embeddings(model)
    assert [left.get_title(), right.get_title()] == ["source", "target"]
    np.testing.assert_array_equal(
        np.sort(left.collections[0].get_offsets()[:, 0]), np.sort(model.source_embedding_[:, 0])
    )
    assert len(right.collections[0].get_offsets()) == len(model.target_embedding_)


def test_null_components_are_drawn_as_transform_gives_them():
    X = np.outer(np.arange(6.0), np.arange(5.0))
    model = KernelSVD(4, kernel="linear", scaling=-1.0).fit(X)
    drawn = plot_embeddings(model)[0].collections[0].get_offsets()
    np.testing.assert_allclose(np.sort(drawn, axis=0), np.sort(model.transform(X)[:, :2], axis=0), atol=1e-14)


def test_objects_that_cannot_be_drawn_are_refused_by_type():
    with pytest.raises(TypeError, match="not KMeans"):
        plot_embeddings(KMeans(2).fit(np.eye(4)))
    with pytest.raises(TypeError, match="not KMeans"):
        plot_biclusters(np.eye(4), KMeans(2).fit(np.eye(4)))
    with pytest.raises(TypeError, match=r"diagnostics\(\) returns, not KernelSVD"):
        plot_diagnostics(KernelSVD(1).fit(np.eye(4)))
