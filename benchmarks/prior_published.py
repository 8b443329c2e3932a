"""The method of the prior Nystrom paper (Zhang et al., 2012) as published: its column of Table 1, and Figure 1.

    python benchmarks/prior_published.py               all parts (data beside the project, or in $LOPSIDED_DATA)
    python benchmarks/prior_published.py figure1       one of: table, mnist, figure1, stopping
    python benchmarks/prior_published.py --smoke       seconds of it on generated data

table: ``PriorNystroem.as_published`` on the data, draws and landmarks of ``prior_table1.py table``, and plain Nystrom
features, both under a linear SVM with liblinear's rule as in the paper, C = 1 / mean |x|^2 over the labelled samples.
The set of weights from which (12) chooses is ours, as the paper does not give its own. Ten draws of 100 labels.
mnist: the same for MNIST; two draws.
figure1: along these weights, the criterion (12), which sees the labels of 100 samples, and the error on all others;
means over five draws.
stopping: the paper does not say when its gradient steps end; ours do when the objective falls by less than a
thousandth. Beside them the optimum itself (tol=0): the error, whether (12) chooses the same weight, how far the
dictionary is from the optimum at the weight of the latter, |S - S*| / |S*|, and processor seconds of a fit; two draws.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from common import RESULTS, main, print_table
from lopsided import PriorNystroem
from prior_table1 import LANDMARK_SETS, ROWS, drawn_for, hidden, prepared

SEED = 0
DRAWS, MNIST_DRAWS, FIGURE_DRAWS = 10, 2, 5
STOPPING_DRAWS, STOPPING_SETS = 2, ("g241c", "USPS", "coil2", "usps49", "dna")
FIGURE_SETS = ("g241c", "USPS", "coil2", "usps49", "dna", "svmguide1a")


def error_of(model: PriorNystroem, X: Any, classes: np.ndarray, known: np.ndarray) -> float:
    """Error in per cent on samples without a label, of a linear SVM on the learned features."""
    return error_on(model.fit(X, hidden(classes, known)).transform(X), classes, known)


def error_on(F: np.ndarray, classes: np.ndarray, known: np.ndarray) -> float:
    """That of a linear SVM on features of all samples."""
    said = machine(F[known], classes[known]).predict(F)
    others = np.setdiff1d(np.arange(len(classes)), known)
    return round(100 * float(np.mean(said[others] != classes[others])), 3)


def machine(F: np.ndarray, y: np.ndarray) -> LinearSVC:
    """The paper's linear SVM, whose C is liblinear's rule."""
    return LinearSVC(C=1 / np.square(F).sum(axis=1).mean(), random_state=SEED).fit(F, y)


def table(smoke: bool) -> dict[str, Any]:
    """All sets but one."""
    return compared(["blobs"] if smoke else [name for name in ROWS if name != "mnist"], 1 if smoke else DRAWS)


def mnist(smoke: bool) -> dict[str, Any]:
    """The largest."""
    return compared(["blobs" if smoke else "mnist"], 1 if smoke else MNIST_DRAWS)


def compared(names: list[str], draws: int) -> dict[str, Any]:
    """Errors of every draw, beside the paper's cells."""
    result: dict[str, Any] = {}
    for name in names:
        X, classes, places = prepared(name)
        result[name] = {"Nystrom": [], "as published": [], "weight": []}
        for draw in range(draws):
            settings = {"landmarks": places[draw % LANDMARK_SETS], "random_state": draw}
            known = drawn_for(name, classes, draw)
            published = PriorNystroem.as_published(**settings)
            plain = PriorNystroem(prior_weight=np.inf, **settings)
            result[name]["as published"].append(error_of(published, X, classes, known))
            result[name]["Nystrom"].append(error_of(plain, X, classes, known))
            result[name]["weight"].append(published.prior_weight_)
        print(name, {method: np.mean(errors) for method, errors in result[name].items()}, flush=True)
    rows = [
        [
            name,
            *(f"{mean} ± {sd}" for mean, sd in ROWS.get(name, ("", (0, 0), (0, 0)))[1:]),
            *map(spread, list(r.values())[:2]),
        ]
        for name, r in result.items()
    ]
    headings = ["data", "paper Nystrom", "paper Ours", "Nystrom", "as published"]
    print_table(f"Error in %, 100 labels, {draws} draws", headings, rows)
    return result


def spread(errors: list[float]) -> str:
    """Mean and deviation."""
    return f"{np.mean(errors):.2f} ± {np.std(errors):.2f}"


def figure1(smoke: bool) -> dict[str, Any]:
    """Criterion and error along the weights, and how they are correlated."""
    result: dict[str, Any] = {}
    for name in ["blobs"] if smoke else FIGURE_SETS:
        X, classes, places = prepared(name)
        curves = []
        for draw in range(1 if smoke else FIGURE_DRAWS):
            settings = {"landmarks": places[draw % LANDMARK_SETS], "random_state": draw}
            known = drawn_for(name, classes, draw)
            ((_, _, weights, losses),) = PriorNystroem.as_published(**settings).fit(X, hidden(classes, known)).path_
            models = [PriorNystroem.as_published(**settings, prior_weight=float(weight)) for weight in weights]
            curves.append([1 - losses[:, 0], [error_of(model, X, classes, known) for model in models]])
        criterion, errors = np.mean(curves, axis=0)
        result[name] = {"weight": weights.tolist(), "criterion": criterion.tolist(), "error": errors.tolist()}
        result[name]["correlation"] = float(np.corrcoef(criterion, errors)[0, 1])
    rows = [
        [name, *(f"{c:.3f} / {e:.1f}" for c, e in zip(r["criterion"], r["error"], strict=True)), r["correlation"]]
        for name, r in result.items()
    ]
    headings = ["data", *(f"{weight:.0e}" for weight in weights), "correlation"]
    print_table("criterion (12) / error in %, by weight; the correlation of both", headings, rows)
    if not smoke:
        draw_figure1(result)
    return result


def stopping(smoke: bool) -> dict[str, Any]:
    """What the optimum changes, and what it costs."""
    result: dict[str, Any] = {}
    for name in ["blobs"] if smoke else STOPPING_SETS:
        X, classes, places = prepared(name)
        draws = []
        for draw in range(1 if smoke else STOPPING_DRAWS):
            settings = {"landmarks": places[draw % LANDMARK_SETS], "random_state": draw}
            known, one = drawn_for(name, classes, draw), {}
            for end, tol in (("settled", 1e-3), ("optimum", 0.0)):
                model, start = PriorNystroem.as_published(**settings, tol=tol), time.process_time()
                model.fit(X, hidden(classes, known))
                one[f"{end}, seconds"] = time.process_time() - start
                one[f"{end}, error"] = error_on(model.transform(X), classes, known)
                one[f"{end}, weight"] = model.prior_weight_
            near = PriorNystroem.as_published(**settings, prior_weight=model.prior_weight_)
            change = near.fit(X, hidden(classes, known)).dictionary_ - model.dictionary_
            one["distance"] = float(np.linalg.norm(change) / np.linalg.norm(model.dictionary_))
            draws.append(one)
        result[name] = draws
        print(name, draws, flush=True)
    rows = [[name, *stopping_cells(draws)] for name, draws in result.items()]
    print_table("Gradient steps that settle / the optimum", ["data", *STOPPING_COLUMNS], rows)
    return result


STOPPING_COLUMNS = ("error in %", "same weight", "distance", "processor seconds")


def stopping_cells(draws: list[dict[str, float]]) -> list[str]:
    """Means over draws, as STOPPING_COLUMNS has them."""
    mean = {what: float(np.mean([one[what] for one in draws])) for what in draws[0]}
    same = sum(one["settled, weight"] == one["optimum, weight"] for one in draws)
    errors, seconds = (
        " / ".join(f"{mean[f'{end}, {what}']:.{digits}f}" for end in ("settled", "optimum"))
        for what, digits in (("error", 2), ("seconds", 1))
    )
    return [errors, f"{same} of {len(draws)}", f"{mean['distance']:.2g}", seconds]


def draw_figure1(result: dict[str, Any]) -> None:
    """Error above, criterion below, a column for each data set."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, len(result), figsize=(2.4 * len(result), 4), sharex=True, layout="constrained")
    for column, (name, one) in zip(axes.T, result.items(), strict=True):
        marks = range(len(one["weight"]))
        for ax, what, best in zip(column, ("error", "criterion"), (np.argmin, np.argmax), strict=True):
            ax.plot(marks, one[what], "o-", markersize=3, color="tab:blue" if what == "error" else "tab:red")
            ax.axvline(best(one[what]), color="0.7", linewidth=1, zorder=0)
            ax.spines[["top", "right"]].set_visible(False)
        column[0].set_title(name)
        column[1].set_xticks(marks, [f"{weight:.0e}" for weight in one["weight"]], rotation=90, fontsize="small")
    axes[0, 0].set_ylabel("error, %")
    axes[1, 0].set_ylabel("criterion (12)")
    figure.savefig(RESULTS / "prior_figure1.png", dpi=120)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main(__file__, __doc__, {"table": table, "mnist": mnist, "figure1": figure1, "stopping": stopping}, seed=SEED)
