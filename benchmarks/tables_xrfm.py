"""AsymmetricLSSVC() and AsymmetricLSSVR() against xRFM, a kernel machine that learns a metric of the columns.

    python benchmarks/tables_xrfm.py               xRFM and ours
    python benchmarks/tables_xrfm.py ours          ours alone, beside what the last race found of xRFM

Sets, splits and preparation are those of tables_blind.py. xRFM (Beaglehole, Holzmüller, Radhakrishnan and Belkin, 2025)
takes the best of 2 kernels x 3 bandwidths x 3 penalties on a fifth of the training samples, and is trained on the
others, as its own early stopping wants it; ours has nothing to choose. A smoke run does without xRFM.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import train_test_split

from common import main, print_table, stored
from lopsided import AsymmetricLSSVC, AsymmetricLSSVR
from tables_blind import LEVEL, SEED, names, splits

try:
    import torch
    from xrfm import xRFM
except ImportError:
    xRFM = None

GRID = list(itertools.product(("l2", "l1"), (2.0, 5.0, 20.0), (1e-4, 1e-2, 1.0)))  # kernels, bandwidths, penalties


def xrfm_score(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, y_new: np.ndarray, of_classes: bool) -> float:
    """Score of the best of the grid on held-out samples."""
    judge = accuracy_score if of_classes else r2_score
    centre, unit = (0.0, 1.0) if of_classes else (y.mean(), y.std())
    targets = np.unique(y, return_inverse=True)[1] if of_classes else ((y - centre) / unit)[:, None]
    classes = np.unique(y)
    strata = targets if of_classes and np.bincount(targets).min() > 1 else None
    parts = train_test_split(X.astype(np.float32), targets, test_size=0.2, random_state=SEED, stratify=strata)
    X_train, X_held, y_train, y_held = parts
    found = []
    for kernel, bandwidth, penalty in GRID:
        model = {"kernel": kernel, "bandwidth": bandwidth, "exponent": 1.0, "diag": False, "bandwidth_mode": "constant"}
        fit = {"reg": penalty, "iters": 5, "verbose": False, "early_stop_rfm": True}
        torch.manual_seed(SEED)
        settings = {"rfm_params": {"model": model, "fit": fit}, "device": torch.device("cpu"), "verbose": False}
        machine = xRFM(tuning_metric="accuracy" if of_classes else "mse", **settings)
        machine.fit(X_train, y_train if of_classes else y_train.astype(np.float32), X_held, y_held)
        held, new = (np.asarray(machine.predict(part.astype(np.float32))).ravel() for part in (X_held, X_new))
        said = classes[new.astype(int)] if of_classes else centre + unit * new
        found.append((judge(y_held.ravel(), held), judge(y_new, said)))
    return float(max(found, key=lambda scores: scores[0])[1])


def race(smoke: bool) -> dict[str, Any]:
    """Mean scores on every set; wins, ties and losses."""
    return judged(measured(smoke, against_xrfm=xRFM is not None and not smoke))


def ours(smoke: bool) -> dict[str, Any]:
    """Ours as it is now; xRFM's column is that of the record."""
    rows, earlier = measured(smoke, against_xrfm=False), {} if smoke else stored("tables_xrfm", "race")["sets"]
    return judged({name: {**earlier.get(name, {}), **row} for name, row in rows.items()})


def measured(smoke: bool, *, against_xrfm: bool) -> dict[str, dict[str, Any]]:
    """Mean scores on every set."""
    rows: dict[str, dict[str, Any]] = {}
    for of_classes, estimator in ((True, AsymmetricLSSVC), (False, AsymmetricLSSVR)):
        for name, half in list(names(of_classes).items())[: 1 if smoke else None]:
            scores: dict[str, list[float]] = {"lopsided": [], "xRFM": []}
            for X, y, X_new, y_new in splits(name, of_classes, smoke):
                scores["lopsided"].append(estimator().fit(X, y).score(X_new, y_new))
                if against_xrfm:
                    scores["xRFM"].append(xrfm_score(X, y, X_new, y_new, of_classes))
            rows[name] = {"half": half, **{method: float(np.mean(each)) for method, each in scores.items() if each}}
            print(name, rows[name], flush=True)
    return rows


def judged(rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Wins, ties and losses."""
    gaps = [row["lopsided"] - row["xRFM"] for row in rows.values() if "xRFM" in row]
    lines = [[name, *row.values()] for name, row in rows.items()]
    print_table("Accuracy, or R^2 of the last four", ["set", "half", "lopsided", "xRFM"][: len(lines[0])], lines)
    count = {"wins": sum(g > LEVEL for g in gaps), "ties": sum(abs(g) <= LEVEL for g in gaps)}
    count["losses"] = len(gaps) - sum(count.values())
    print(f"\n{count}, level within {LEVEL}")
    return {"sets": rows, **count}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(__file__, __doc__, {"race": race, "ours": ours}, seed=SEED)
