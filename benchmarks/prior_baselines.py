"""Kernel learners with which the prior Nystrom paper (Zhang et al., 2012) compares its own, and many pairs.

    python benchmarks/prior_baselines.py               all parts (data beside the project, or in $LOPSIDED_DATA)
    python benchmarks/prior_baselines.py pairs         one of: table, which adds cells that its record lacks, and pairs
    python benchmarks/prior_baselines.py --smoke       seconds of it on generated data

table: five of the paper's six baselines (the sixth is Nystrom), written from their papers, beside its cells, on the
data, draws, landmarks and linear SVM of ``prior_published.py table``.

    CSI       Cholesky with side information (Bach and Jordan, 2005): an incomplete Cholesky factorisation of the kernel
              matrix of the labelled samples, as in the paper, whose every pivot has most gain in trace and in
              least-squares prediction of the labels, weighed 1 to 99 as its authors suggest. All gains are exact, which
              their look-ahead of 40 columns estimates. Other samples are compared with the pivots, whose number is a
              tenth to all of the labelled samples, by five folds of the labels.
    Spectral  order-constrained transform of a spectrum (Zhu, Kandola, Ghahramani and Lafferty, 2004): of the leading
              eigenvectors of the normalised kernel matrix of all samples, as many as there are landmarks, the weights
              of most alignment with the labels that do not increase; the first eigenvector, which is nearly constant,
              is not bound. Maximal alignment over a cone is a projection on it, here non-negative least squares in the
              steps of the weights. Transductive.
    Cluster   cluster kernel (Chapelle, Weston and Schoelkopf, 2003) with a step function: D^1/2 U U^T D^1/2 from the
              same eigenvectors U; their number is one of 1, 2, 5, 10 and 20 times that of classes, by five folds of the
              labels. Transductive.
    TSK       two-stage kernel learning (Cortes, Mohri and Rostamizadeh, 2010), alignf: the combination of Gaussian
              kernels, of 1/4 to 4 times the squared bandwidth, of most centred alignment with the labels.
    Breg      low-rank LogDet kernel learning (Kulis, Sustik and Dhillon, 2009; Davis et al., 2007): Bregman projections
              of the identity on Nystrom features, distances within a class below their 5 % quantile and between
              classes above the 95 % one; 20 (number of classes)^2 pairs, slack 1, both as in metric-learn's ITML.

The transductive ones need the kernel matrix of all samples and are left out on MNIST, as in the paper.

pairs: seconds of processor time, wall time and alignment over pairs of held-out samples of a fit on 1,000 to 1,000,000
must-link and cannot-link pairs of 20,000 samples, and those of plain Nystrom features.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls
from scipy.sparse.linalg import eigsh
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import LinearSVC

from common import main, print_table, save, stored
from lopsided import PriorNystroem
from lopsided.kernels import RBF, Kernel, root_mean_squared_distance
from prior_published import error_on, machine, spread
from prior_table1 import LANDMARK_SETS, ROWS, drawn_for, prepared

SEED = 0
DRAWS = 5
PAPER = {  # errors of CSI, Spectral, Cluster, TSK and Breg
    "g241c": (22.37, 23.64, 26.59, 23.47, 26.31),
    "Digit1": (4.97, 3.87, 5.53, 6.86, 6.01),
    "USPS": (8.60, 11.28, 6.96, 8.64, 11.45),
    "coil": (19.46, 31.21, 19.38, 22.04, 19.57),
    "coil2": (12.44, 14.57, 13.61, 11.76, 14.58),
    "Text": (22.69, 24.90, 27.8, 23.29, 23.66),
    "german": (37.73, 33.83, 31.90, 33.93, 38.42),
    "usps49": (2.36, 1.58, 1.74, 1.82, 3.04),
    "usps27": (1.29, 1.98, 1.25, 1.24, 1.52),
    "adult1a": (25.69, 27.27, 24.50, 26.62, 32.62),
    "dna": (15.45, 15.68, 20.87, 18.15, 15.80),
    "segment": (9.39, 15.51, 17.91, 9.50, 10.08),
    "svmguide1a": (6.55, 6.54, 5.18, 4.80, 5.51),
    "satimage": (18.54, 19.39, 20.78, 17.13, 18.52),
    "usps-full": (13.43, 14.32, 14.79, 13.93, 14.25),
    "mnist": (24.70, None, None, None, 23.96),
}
METHODS = ("CSI", "Spectral", "Cluster", "TSK", "Breg")
TRANSDUCTIVE = ("Spectral", "Cluster")  # methods that need the kernel matrix of all samples
TOO_LARGE = ("mnist",)  # for that matrix
PREDICTION = 0.99  # share of the prediction in the gain of a pivot; the rest is that of the trace
PIVOTS = (0.1, 0.2, 0.4, 0.7, 1.0)  # shares of the labelled samples
CLUSTERS = (1, 2, 5, 10, 20)  # eigenvectors, in numbers of classes
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)  # squared bandwidths
SLACK, SWEEPS, SETTLED = 1.0, 50, 1e-3
SAMPLES, PAIR_COUNTS = 20_000, (1_000, 10_000, 100_000, 1_000_000)


def pivots(K: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """All samples in the order in which they add most to the trace of G G^T and to the prediction of Y by G."""
    R, Y = K.copy(), Y - Y.mean(axis=0)
    outside = R - R.mean(axis=0)  # columns of R without their part in the span of ones and of G
    trace, labels = np.trace(K), np.vdot(Y, Y)
    least, order = 1e-10 * trace / len(K), []
    while (left := R.diagonal() > least).any():
        size, rest = np.maximum(R.diagonal(), least), np.square(outside).sum(axis=0)
        predicted = np.square(Y.T @ outside).sum(axis=0) / np.maximum(rest, least**2)
        gain = (1 - PREDICTION) * np.square(R).sum(axis=0) / size / trace + PREDICTION * predicted / labels
        best = int(np.argmax(np.where(left, gain, -1.0)))
        order.append(best)
        if rest[best] > least**2:
            q = outside[:, best] / np.sqrt(rest[best])
            Y = Y - np.outer(q, q @ Y)
            outside = outside - np.outer(q, q @ outside)
        R = R - np.outer(R[:, best], R[best]) / R[best, best]
        R[best] = R[:, best] = outside[:, best] = 0.0
    return np.array(order)


def cholesky_with_labels(kernel: Kernel, X: Any, classes: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Features of all samples by the pivots among the labelled ones, as many as predict held-out labels best."""
    K = np.asarray(kernel(X[known], X[known]))
    y, marks = classes[known], np.eye(classes.max() + 1)[classes[known]]

    def features(order: np.ndarray, share: float, samples: Any) -> np.ndarray:
        places = X[known[order[: max(1, round(share * len(order)))]]]
        return PriorNystroem(kernel=kernel, landmarks=places, prior_weight=np.inf).fit(samples).transform(samples)

    scores = np.zeros(len(PIVOTS))
    for kept, out in StratifiedKFold(min(5, np.bincount(y)[np.unique(y)].min())).split(y, y):
        order = kept[pivots(K[np.ix_(kept, kept)], marks[kept])]
        for i, share in enumerate(PIVOTS):
            F = features(order, share, X[known])
            scores[i] += np.mean(machine(F[kept], y[kept]).predict(F[out]) == y[out])
    return features(pivots(K, marks), PIVOTS[int(np.argmax(scores))], X)


def leading_eigenvectors(K: np.ndarray, count: int) -> np.ndarray:
    """Eigenvectors of D^-1/2 K D^-1/2, whose largest eigenvalues come first."""
    root = np.sqrt(K.sum(axis=1))
    values, U = eigsh(K / np.outer(root, root), min(count, len(K) - 1), v0=np.ones(len(K)))
    return U[:, np.argsort(-values)]


def cluster_kernel(U: np.ndarray, classes: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Features of length one in leading eigenvectors, as many as predict held-out labels best."""
    count, best = classes.max() + 1, (-1.0, U)
    for times in CLUSTERS:
        F = U[:, : times * count]
        F = F / np.linalg.norm(F, axis=1, keepdims=True)
        folds = StratifiedKFold(min(5, np.bincount(classes[known]).min()))
        score = cross_val_score(LinearSVC(random_state=SEED), F[known], classes[known], cv=folds).mean()
        best = max(best, (score, F), key=lambda one: one[0])
    return best[1]


def spectral_transform(U: np.ndarray, classes: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Eigenvectors under weights that do not increase, those of most alignment with the labels."""
    count, G = classes.max() + 1, U[known]
    T = np.where(classes[known][:, None] == classes[known], 1.0, -1.0 / (count - 1))
    steps = np.triu(np.ones((G.shape[1],) * 2))  # a weight is the sum of its own step and of all that follow
    steps[0, 1:] = 0
    products, targets = (G.T @ G) ** 2, np.einsum("ik,ik->k", G, T @ G)
    return U * np.sqrt(steps @ most_aligned(steps.T @ products @ steps, steps.T @ targets))


def most_aligned(M: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Weights, none negative, of the sum of matrices of most alignment with a target, from their inner products."""
    size = np.sqrt(M.diagonal())
    R = cholesky(M / np.outer(size, size) + 1e-10 * np.eye(len(M)))
    return nnls(R, solve_triangular(R, targets / size, trans="T"))[0] / size


def two_stage(kernels: list[Kernel], X: Any, classes: np.ndarray, known: np.ndarray) -> Kernel:
    """The combination of kernels, weights not negative, of most centred alignment with the labels."""
    marks = np.eye(classes.max() + 1)[classes[known]]
    matrices = [np.asarray(kernel(X[known], X[known]), dtype=float) for kernel in kernels]  # MNIST is in float32
    centred = [K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean() for K in (*matrices, marks @ marks.T)]
    M = np.array([[np.vdot(A, B) for A in centred] for B in centred])
    weights = most_aligned(M[:-1, :-1], M[:-1, -1])
    parts = [float(weight) * kernel for weight, kernel in zip(weights, kernels, strict=True) if weight > 0]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def bregman(F: np.ndarray, classes: np.ndarray, known: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Features F A^1/2, A nearest to the identity in LogDet divergence subject to bounds on distances."""
    F = F / np.sqrt(np.square(F).sum(axis=1).mean())
    pairs = rng.choice(known, size=(20 * (classes.max() + 1) ** 2, 2))
    D = F[pairs[:, 0]] - F[pairs[:, 1]]
    moving = np.linalg.norm(D, axis=1) > 0
    D, pairs = D[moving], pairs[moving]
    same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    all_pairs = F[known][:, None] - F[known][None]
    low, high = np.percentile(np.square(all_pairs).sum(axis=2)[np.triu_indices(len(known), 1)], [5, 95])
    sign, bound = np.where(same, 1.0, -1.0), np.where(same, low, high)
    A, dual = np.eye(F.shape[1]), np.zeros(len(D))
    for _ in range(SWEEPS):
        before = dual.copy()
        for i, d in enumerate(D):
            Ad = A @ d
            p = d @ Ad
            step = min(dual[i], sign[i] * SLACK / (SLACK + 1) * (1 / p - 1 / bound[i]))
            dual[i] -= step
            bound[i] = 1 / (1 / bound[i] + sign[i] * step / SLACK)
            A += sign[i] * step / (1 - sign[i] * step * p) * np.outer(Ad, Ad)
        if np.abs(dual - before).sum() <= SETTLED * np.abs(dual).sum():
            break
    return F @ cholesky(A, lower=True)


def one_set(name: str, draws: int, methods: Sequence[str]) -> dict[str, list[float]]:
    """Errors of every draw of one data set by some of the methods."""
    X, classes, places = prepared(name)
    width = root_mean_squared_distance(X, X)
    kernels = [RBF(width * np.sqrt(part)).fit(X, X) for part in WIDTHS]
    most, landmarks = max(CLUSTERS) * int(classes.max() + 1), places[0].shape[0]
    if any(method in TRANSDUCTIVE for method in methods):
        U = leading_eigenvectors(np.asarray(kernels[2](X, X)), max(most, landmarks))

    def features(method: str, draw: int, known: np.ndarray) -> np.ndarray:
        shared = {"landmarks": places[draw % LANDMARK_SETS], "random_state": draw, "prior_weight": np.inf}
        match method:
            case "CSI":
                return cholesky_with_labels(kernels[2], X, classes, known)
            case "Spectral":
                return spectral_transform(U[:, :landmarks], classes, known)
            case "Cluster":
                return cluster_kernel(U[:, :most], classes, known)
            case "TSK":
                return PriorNystroem(kernel=two_stage(kernels, X, classes, known), **shared).fit_transform(X)
        plain = PriorNystroem(kernel=kernels[2], **shared).fit_transform(X)
        return bregman(plain, classes, known, np.random.default_rng([SEED, draw]))

    found: dict[str, list[float]] = {method: [] for method in methods}
    for draw in range(draws):
        known = drawn_for(name, classes, draw)
        for method in methods:
            found[method].append(error_on(features(method, draw, known), classes, known))
    return found


def table(smoke: bool) -> dict[str, Any]:
    """Errors of every draw, beside the paper's cells; cells of the record are kept, so that a run can be continued."""
    result: dict[str, Any] = {} if smoke else stored("prior_baselines", "table")
    for name in ["blobs"] if smoke else PAPER:
        cells = result.setdefault(name, {method: [] for method in METHODS})
        possible = [method for method in METHODS if name not in TOO_LARGE or method not in TRANSDUCTIVE]
        missing = [method for method in possible if not cells[method]]
        if missing:
            start = time.process_time()
            cells |= one_set(name, 1 if smoke else DRAWS, missing)
            means = ", ".join(f"{method} {np.mean(cells[method]):.2f}" for method in missing)
            print(f"{name}: {means}; {time.process_time() - start:.0f} s of processor time", flush=True)
            if not smoke:
                save("prior_baselines", {"table": result}, SEED)
    rows = [
        [
            name,
            *(
                f"{spread(errors) if errors else '-'} ({paper or '-'})"
                for errors, paper in zip(r.values(), PAPER.get(name, (None,) * len(METHODS)), strict=True)
            ),
            ROWS[name][2][0] if name in ROWS else "",
        ]
        for name, r in result.items()
    ]
    headings = ["data", *(f"{method} (paper)" for method in METHODS), "paper Ours"]
    print_table(f"Error in %, 100 labels, {DRAWS} draws", headings, rows)
    return result


def pairs(smoke: bool) -> dict[str, Any]:
    """Cost and alignment on held-out samples by the number of pairs."""
    n, counts = (600, (2_000,)) if smoke else (SAMPLES, PAIR_COUNTS)
    X, y = make_classification(2 * n, 20, n_informative=10, n_classes=5, random_state=SEED)
    X, y, X_new, y_new = X[:n], y[:n], X[n:], y[n:]
    i, j = np.random.default_rng(SEED).integers(n, size=(2, 20_000))
    result: dict[str, Any] = {}
    for count in counts:
        drawn = np.random.default_rng([SEED, 1]).integers(n, size=(count, 2))
        drawn = np.unique(np.sort(drawn[drawn[:, 0] != drawn[:, 1]], axis=1), axis=0)
        same = y[drawn[:, 0]] == y[drawn[:, 1]]
        both = drawn[same], drawn[~same]
        start, busy = time.perf_counter(), time.process_time()
        model = PriorNystroem(100, random_state=SEED).fit(X, pairs=both)
        cost = {"seconds": time.perf_counter() - start, "processor seconds": time.process_time() - busy}
        plain = PriorNystroem(100, random_state=SEED).fit(X)
        result[str(count)] = {"pairs": len(drawn), **cost, "prior weight": model.prior_weight_}
        for name, one in (("alignment", model), ("plain alignment", plain)):
            F = one.transform(X_new)
            values = np.einsum("ij,ij->i", F[i], F[j])
            result[str(count)][name] = float(np.corrcoef(values, y_new[i] == y_new[j])[0, 1])
    rows = [list(one.values()) for one in result.values()]
    print_table(f"Pairs of {n} samples, 100 landmarks", list(result[str(counts[0])]), rows)
    return result


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main(__file__, __doc__, {"table": table, "pairs": pairs}, seed=SEED)
