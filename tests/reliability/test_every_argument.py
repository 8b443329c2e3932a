"""Every argument and setting as a thing of another kind, one at a time: an answer, or an error with a message.

Random calls (test_fuzz.py) meet few of these pairs. Tables overload comparisons, repeated entries are summed by them,
and whole numbers may be larger than any machine has.
"""

import inspect
from contextlib import chdir

import numpy as np
import polars as pl
import pytest

from lopsided import Nystrom
from soak.drawn import KINDS, LOOPS
from soak.functions import GOOD
from soak.judge import judged
from soak.wrong_types import ESTIMATORS, data_of, fitted, methods, quick

THINGS = {
    "table": lambda: pl.DataFrame(np.ones((3, 2)), schema=["a", "b"]),
    "repeated": lambda: KINDS["repeated"](np.eye(13, 2)),
    "large": lambda: 2**40,
    "huge": lambda: 10**30,
}
GENERATED = {"n_samples", "n_nodes", "size", "mean_references", "mean_degree"}
every_thing = pytest.mark.parametrize("thing", THINGS)


def can_be(name, thing):
    """Whether a call can end: not if as many rounds, or rows of generated data, are asked for as a large number."""
    return not ((name in LOOPS and thing in ("large", "huge")) or (name in GENERATED and thing == "large"))


def faults(calls, *, strict):
    """Descriptions of the calls, each of a name, a function and its arguments, that end badly."""
    found = {}
    for name, call, given in calls:
        compared = tuple(value for value in given.values() if not isinstance(value, np.random.Generator))
        found[name] = judged(compared, lambda call=call, given=given: call(given), strict=strict)
    return {name: fault for name, fault in found.items() if fault}


@every_thing
def test_arguments_of_functions(thing, tmp_path):
    calls = (
        (f"{called.__name__} {name}", lambda given, called=called: [called(**given)], good() | {name: THINGS[thing]()})
        for called, good in GOOD.items()
        for name in good()
        if can_be(name, thing)
    )
    with chdir(tmp_path):
        assert not faults(calls, strict=False)


@every_thing
def test_settings_of_estimators(thing):
    calls = (
        (f"{kind.__name__} {name}", lambda given, kind=kind: fitted(kind, given), {name: THINGS[thing]()})
        for kind in (*ESTIMATORS, Nystrom)
        for name in inspect.signature(kind).parameters
        if can_be(name, thing)
    )
    assert not faults(calls, strict=True)


@every_thing
def test_arguments_of_methods(thing):
    calls = (
        (
            f"{kind.__name__}.{method} {name}",
            lambda given, called=called: [called(**given)],
            needed(called, kind) | {name: THINGS[thing]()},
        )
        for kind in ESTIMATORS
        for method, called in methods(quick(kind)).items()
        for name, parameter in inspect.signature(called).parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    )
    assert not faults(calls, strict=True)


def needed(called, kind):
    """Good arguments in place of those that a method cannot do without."""
    X, y = data_of(kind)
    return {
        name: X if name in ("X", "Z", "graph") else y if name == "y" else 0
        for name, each in inspect.signature(called).parameters.items()
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    }
