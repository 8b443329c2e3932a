"""Display objects: made from estimators, drawn again, on axes of the user."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.exceptions import NotFittedError

from lopsided import (
    AsymmetricLSSVC,
    AsymmetricLSSVR,
    DirectedGraphEmbedding,
    KernelBiclustering,
    KernelSVD,
    Nystrom,
    image_svd,
    plotting,
)
from lopsided.datasets import make_citation_graph
from lopsided.graphs import evaluate_links, hide_edges


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


def points():
    return np.random.default_rng(0).random((60, 5))


def table():
    return np.kron(np.eye(2), np.ones((10, 8))) + 0.1 * np.random.default_rng(0).random((20, 16))


def graph():
    hidden = hide_edges(make_citation_graph(200, random_state=0)[0])
    return DirectedGraphEmbedding(8).fit(hidden.adjacency), hidden


def spectrum(**options):
    return plotting.SpectrumDisplay.from_estimator(KernelSVD(6).fit(points(), Z=points()), **options)


def leave_one_out(**options):
    return plotting.LeaveOneOutDisplay.from_estimator(AsymmetricLSSVC().fit(points(), points()[:, 0] > 0.5), **options)


def nystrom_error(**options):
    X = np.random.default_rng(0).random((400, 5))
    return plotting.NystromErrorDisplay.from_estimator(KernelSVD(3, solver=Nystrom(), tol=0.01).fit(X, Z=X), **options)


def edge_scores(**options):
    return plotting.EdgeScoresDisplay.from_estimator(*graph(), **options)


def embedding(**options):
    return plotting.EmbeddingDisplay.from_estimator(KernelSVD(3).fit(points(), Z=points()[:30]), **options)


def biclusters(**options):
    return plotting.BiclusterDisplay.from_estimator(KernelBiclustering(2).fit(table()), table(), **options)


def reconstruction(**options):
    return plotting.ReconstructionDisplay.from_estimator(image_svd(points()), (2,), **options)


ONE, TWO = (spectrum, leave_one_out, nystrom_error, edge_scores), (embedding, biclusters, reconstruction)


def drawn(ax):
    return ax.get_lines() or ax.images or ax.collections


@pytest.mark.parametrize("make", ONE)
def test_displays_of_one_axes_are_drawn_and_drawn_again(make):
    display = make()
    assert drawn(display.ax_) and display.ax_.get_xlabel() and display.figure_ is display.ax_.figure
    ax = pyplot.subplots()[1]
    assert display.plot(ax) is display and display.ax_ is ax and len(drawn(ax)) == len(drawn(make().ax_))
    assert make(ax=pyplot.subplots()[1]).figure_ is pyplot.gcf()


@pytest.mark.parametrize("make", TWO)
def test_displays_of_two_axes_are_drawn_and_drawn_again(make):
    display = make()
    assert len(display.ax_) == 2 and all(map(drawn, display.ax_)) and display.figure_ is display.ax_[0].figure
    axes = pyplot.subplots(1, 2)[1]
    assert list(display.plot(axes).ax_) == list(axes) and all(map(drawn, axes))
    assert make(axes=pyplot.subplots(1, 2)[1]).figure_ is pyplot.gcf()


def test_every_display_is_among_those_that_are_drawn():
    displays = {name for name in plotting.__all__ if name.endswith("Display")}
    assert {type(make()).__name__ for make in (*ONE, *TWO)} == displays


@pytest.mark.parametrize(("values", "elbow"), [([9, 8, 7, 0.1, 0.09], 3), ([5, 1], 1), ([5], 1), ([4, 2, 0, 0], 2)])
def test_the_elbow_is_before_the_widest_relative_gap(values, elbow):
    display = plotting.SpectrumDisplay(np.array(values, dtype=float))
    assert display.elbow == elbow and display.plot().ax_.get_lines()


def test_the_curve_of_edge_scores_has_the_area_that_is_evaluated():
    model, hidden = graph()
    expected = evaluate_links(model.score_edges, hidden, k=5).auc
    display = plotting.EdgeScoresDisplay.from_estimator(model, hidden, name="ours")
    assert display.roc_auc == pytest.approx(expected)
    assert display.ax_.get_legend().get_texts()[0].get_text() == f"ours, AUC {expected:.3f}"


def test_the_path_marks_the_chosen_value():
    model = AsymmetricLSSVR().fit(points(), points()[:, 0])
    display = plotting.LeaveOneOutDisplay.from_estimator(model)
    assert display.ax_.get_lines()[2].get_xdata()[0] == model.C_


def test_what_was_not_compared_cannot_be_drawn():
    X = points()
    machine = AsymmetricLSSVC(C=1.0, kernel="rbf", solver="minres").fit(X, X[:, 0] > 0.5)
    with pytest.raises(ValueError, match="fit with C='auto'"):
        plotting.LeaveOneOutDisplay.from_estimator(machine)
    with pytest.raises(ValueError, match="fit with solver="):
        plotting.NystromErrorDisplay.from_estimator(KernelSVD(2).fit(X, Z=X))
    with pytest.raises(ValueError, match="3 axes for 2 pictures"):
        reconstruction(axes=pyplot.subplots(1, 3)[1])


@pytest.mark.parametrize("display", [plotting.SpectrumDisplay, plotting.EmbeddingDisplay, plotting.NystromErrorDisplay])
def test_models_must_be_fitted(display):
    with pytest.raises(NotFittedError):
        display.from_estimator(KernelSVD())


def test_errors_within_one_decade_have_numbers_beside_them():
    display = plotting.NystromErrorDisplay(np.array([20, 40, 80]), np.array([0.08, 0.05, 0.02]), 0.03).plot()
    display.figure_.canvas.draw()
    low, high = display.ax_.get_ylim()
    axis = display.ax_.yaxis
    ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    assert sum(bool(tick.label1.get_text()) and low <= tick.get_loc() <= high for tick in ticks) >= 2
