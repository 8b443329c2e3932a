"""Every public estimator, found from ``lopsided.__all__``, with data of any size and what it answers."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
from scipy import sparse

import lopsided
from lopsided import Nystrom, PriorNystroem
from lopsided.exceptions import LopsidedWarning

SETTINGS: dict[str, list[dict[str, Any]]] = {  # those that make its parts work; the last ones take the least time
    "AsymmetricLSSVC": [{}, {"C": 1.0, "kernel": "sne"}, {"kernel": "rbf", "solver": Nystrom(20)}],
    "AsymmetricLSSVR": [{}, {"C": [0.1, 1.0], "kernel": "sne", "merge": "stack"}],
    "DirectedGraphEmbedding": [{"n_components": 4}, {"n_components": 4, "kernel": "sne"}],
    "ImageMixtures": [{"n_components": 2, "patch": 2, "step": 2}],
    "KernelBiclustering": [{"n_init": 1}, {"n_init": 1, "reading": "counts"}],
    "KernelRecommender": [{"n_components": 4}],
    "KernelSVD": [{"kernel": "sne"}, {"center": True}, {"n_components": 4, "kernel": "sne", "solver": Nystrom(12)}],
    "LearnedKernelSVDClassifier": [{"max_iter": 3}],
    "LearnedKernelSVDRegressor": [{"max_iter": 3}],
    "PriorNystroem": [{"n_components": 20}],  # the map of a hundred landmarks amplifies rounding a million times
    "SelfTrainedFeatures": [{"features": PriorNystroem(20)}],
}
METHODS = ("transform", "predict", "decision_function", "predict_proba", "predict_interval")
WIDTH = 16
LARGE = 1000  # nodes


def estimators(quick: bool = False) -> dict[str, Any]:
    """Every public estimator with each of its settings, or the last alone; one without settings is used as it is."""
    found = {}
    for name in lopsided.__all__:
        thing = getattr(lopsided, name)
        if inspect.isclass(thing) and hasattr(thing, "fit"):
            listed = list(enumerate(SETTINGS.get(name, [{}])))
            for number, settings in listed[-1:] if quick else listed:
                found[f"{name}/{number}"] = thing(**settings)
    return found


def with_resources(model: Any, **resources: Any) -> Any:
    """The model with those of ``n_jobs``, ``memory_budget`` and ``random_state`` that it has."""
    return model.set_params(**{name: value for name, value in resources.items() if name in model.get_params()})


def is_graph(model: Any) -> bool:
    """Whether it is fitted on a graph and not on points."""
    return not model.__sklearn_tags__().input_tags.two_d_array


def data_for(model: Any, n: int = 60, seed: int = 0) -> tuple[Any, np.ndarray | None]:
    """n points with many zeros in two classes, or a graph of n nodes, sparse if it is large."""
    rng = np.random.default_rng(seed)
    if is_graph(model) and n > LARGE:
        return sparse.csr_array(sparse.random_array((n, n), density=6 / n, rng=rng)), None
    if is_graph(model):
        return (rng.random((n, n)) < 6 / n).astype(float), None
    X = rng.random((n, WIDTH)) * (rng.random((n, WIDTH)) < 0.5)
    X[:, 0] += 0.1  # no row is empty
    return X, (X[:, 0] + X[:, 1] > np.median(X[:, 0] + X[:, 1])).astype(int)


def fit(model: Any, X: Any, y: Any) -> Any:
    """Fit without warnings of ours."""
    with quiet():
        return model.fit(X, y)


def answers(model: Any, X: Any) -> list[np.ndarray]:
    """What a fitted model says of its own points."""
    with quiet():
        found = [getattr(model, name)(X) for name in METHODS if hasattr(model, name) and not is_graph(model)]
        if is_graph(model):
            nodes = np.arange(X.shape[0])
            found += [model.source_embedding_, model.target_embedding_, model.score_edges(nodes, nodes[::-1])]
        if hasattr(model, "recommend"):
            found.append(model.recommend(X, 3, new_only=False))
        if hasattr(model, "score_pairs"):
            found.append(model.score_pairs(np.arange(5), np.arange(5)))
    return [np.asarray(part) for each in found for part in (each if isinstance(each, tuple) else (each,))]


def distance(found: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """The largest difference in units of the largest expected value; whole numbers must agree."""
    return max(_distance(*pair) for pair in zip(found, expected, strict=True))


def _distance(found: np.ndarray, expected: np.ndarray) -> float:
    if found.shape != expected.shape or found.dtype.kind != expected.dtype.kind:
        return np.inf
    if found.dtype.kind != "f":
        return 0.0 if np.array_equal(found, expected) else np.inf
    return float(np.abs(found - expected).max(initial=0) / (np.abs(expected).max(initial=0) or 1.0))


def same_bits(found: list[np.ndarray], expected: list[np.ndarray]) -> bool:
    """Whether all answers are equal to the last bit."""
    return all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(found, expected, strict=True))


class quiet(warnings.catch_warnings):
    """Without warnings of ours, as a context."""

    def __enter__(self) -> Any:
        log = super().__enter__()
        warnings.simplefilter("ignore", LopsidedWarning)
        return log
