"""What kernels and estimators have in common: the interface of scikit-learn, and links to the documentation."""

import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any, Self

from sklearn.base import BaseEstimator

from .callbacks import CallbackSupport


class Documented(BaseEstimator):
    """scikit-learn's base, whose HTML representation links to the page of the class."""

    _doc_link_module = "lopsided"

    @property
    def _doc_link_template(self) -> str:
        return f"{documentation()}/page/api/{public_name(type(self))}.html" if documentation() else ""


class Estimator(CallbackSupport, Documented):
    """The base of estimators that can take long to fit: callbacks learn of progress, and ``verbose`` shows it."""

    verbose: int = 0  # of models that were saved before it was a parameter
    _reports_itself = False  # whether ``fit`` has lines of its own for ``verbose``

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of parts that are objects, as in ``kernel__bandwidth``."""
        parts = self.get_params(deep=False) | params
        for name in params:
            part, nested, _ = name.partition("__")
            if nested and isinstance(parts.get(part), str):
                raise ValueError(
                    f"cannot set {name}: {part}={parts[part]!r} is a name, which has no parameters; give the object "
                    "that it stands for, such as kernel=RBF() or solver=Nystrom()"
                )
        return super().set_params(**params)


@cache
def documentation() -> str:
    """Address of the documentation, as the installed package states it, or nothing if it is not installed."""
    try:
        urls = metadata("lopsided").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    return next((url.removeprefix("Documentation, ") for url in urls if url.startswith("Documentation, ")), "")


def public_name(kind: type) -> str:
    """The dotted name by which a class is imported: of the package if that has it, else of its room."""
    package, room = kind.__module__.split(".")[:2]
    home = package if kind.__name__ in sys.modules[package].__all__ else f"{package}.{room}"
    return f"{home}.{kind.__name__}"
