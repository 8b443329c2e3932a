"""Every parameter of every estimator and kernel, and every argument of their methods, set to things of any type."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import lopsided
from lopsided import KernelSVD, Nystrom, kernels
from lopsided.exceptions import quiet

from .drawn import Draw, with_short_loops
from .judge import Work, attempt

ESTIMATORS = [
    each
    for name in lopsided.__all__
    if inspect.isclass(each := getattr(lopsided, name)) and issubclass(each, BaseEstimator) and hasattr(each, "fit")
]
KERNELS = [
    each for name in kernels.__all__ if inspect.isclass(each := getattr(kernels, name)) and not inspect.isabstract(each)
]
QUICK = {"max_iter": 2, "n_iter": 2, "n_init": 1, "n_components": 2, "memory_budget": "1GB"}
SCIKIT_LEARNS = ("set_", "get_")  # methods of its own
X = np.random.default_rng(0).random((20, 16))
Y = np.arange(20) % 2
GRAPH = (np.random.default_rng(1).random((20, 20)) < 0.2).astype(float)


def setting(draw: Draw) -> tuple[tuple, Work]:
    """An estimator with one or two parameters of any type, fitted and asked."""
    kind = draw.of([*ESTIMATORS, Nystrom])
    names = list(inspect.signature(kind).parameters)
    wrong = with_short_loops({draw.of(names): draw.junk() for _ in range(draw.of([1, 1, 2]))})
    draw.notes.append(f"{kind.__name__} {list(wrong)}")
    return tuple(wrong.values()), lambda: fitted(kind, wrong)


def fitted(kind: Any, settings: dict[str, Any]) -> Any:
    """An estimator with some settings after its fit, others for little work, and what it says of its own data."""
    settings = _quick_settings(kind) | settings
    if kind is Nystrom:
        yield KernelSVD(2, solver=Nystrom(**settings)).fit(X, Z=X)
        return
    model = kind(**settings)
    yield model.fit(*data_of(kind))
    if hasattr(model, "transform"):
        yield from attempt(model.transform, data_of(kind)[0])


def data_of(kind: Any) -> tuple[np.ndarray, np.ndarray]:
    """Points or a graph, and labels."""
    return (X, Y) if kind().__sklearn_tags__().input_tags.two_d_array else (GRAPH, Y)


def kernel_setting(draw: Draw) -> tuple[tuple, Work]:
    """A kernel with one or two parameters of any type, fitted and called."""
    kind = draw.of(KERNELS)
    names = list(inspect.signature(kind).parameters)
    needed = [each.name for each in inspect.signature(kind).parameters.values() if each.default is each.empty]
    chosen = [draw.of(names) for _ in range(draw.of([1, 1, 2]))] if names else []
    wrong = {name: draw.junk() for name in {*chosen, *needed}}
    draw.notes.append(f"{kind.__name__} {list(wrong)}")

    def work() -> Any:
        yield kind(**wrong)(X, X[:7])

    return tuple(wrong.values()), work


@cache
def quick(kind: Any) -> Any:
    """An estimator fitted with little work."""
    with quiet():
        return kind(**_quick_settings(kind)).fit(*data_of(kind))


def _quick_settings(kind: Any) -> dict[str, Any]:
    return {name: QUICK[name] for name in QUICK if name in inspect.signature(kind).parameters}


def methods(model: Any) -> dict[str, Any]:
    """The public methods of a fitted estimator, without those of scikit-learn's own."""
    names = [each for each in dir(model) if not each.startswith(("_", *SCIKIT_LEARNS)) and each != "fit"]
    return {each: found for each in names if inspect.ismethod(found := getattr(model, each, None))}


def method(draw: Draw) -> tuple[tuple, Work]:
    """A method of a fitted estimator with arguments of any type."""
    kind = draw.of(ESTIMATORS)
    found = methods(quick(kind))
    name = draw.of(found)
    called = found[name]
    given = {
        each.name: draw.junk() if draw.chance(0.7) else draw.points()
        for each in inspect.signature(called).parameters.values()
        if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD) and (each.default is each.empty or draw.chance(0.5))
    }
    draw.notes.append(f"{kind.__name__}.{name} {list(given)}")

    def work() -> Any:
        yield called(**given)

    return tuple(given.values()), work


CALLS = {setting: 5, kernel_setting: 2, method: 4}
