"""Checks of the arguments of public functions, by the constraints that scikit-learn's estimators declare."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from sklearn.utils._param_validation import validate_parameter_constraints

P = ParamSpec("P")
T = TypeVar("T")


def checked(**constraints: list[Any]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a public function: arguments of the wrong type or value raise scikit-learn's InvalidParameterError.

    That is a ValueError and a TypeError, and names the argument, what it may be and what it is. Constraints are those
    of ``_parameter_constraints``; arguments without any are not checked.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        bind = inspect.signature(function).bind

        @wraps(function)
        def gated(*args: P.args, **kwargs: P.kwargs) -> T:
            given = {name: value for name, value in bind(*args, **kwargs).arguments.items() if name in constraints}
            validate_parameter_constraints(constraints, given, function.__name__)
            return function(*args, **kwargs)

        return gated

    return decorate
