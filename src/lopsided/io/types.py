"""Which classes a saved model may hold, and under which names."""

import pkgutil
from functools import cache
from importlib import import_module
from pathlib import Path

from sklearn.base import BaseEstimator

LIBRARY = __name__.split(".")[0]
# Rooms that hold no models. All others lie above this one, and are imported when a model or a file names them.
EDGE = {"_core", "cli", "datasets", "distributed", "exceptions", "explore", "io", "plotting", "testing", "__main__"}
ROOMS = tuple(
    module.name for module in pkgutil.iter_modules([str(Path(__file__).parents[1])]) if module.name not in EDGE
)
SKLEARN = (
    "sklearn.decomposition.PCA",
    "sklearn.decomposition.TruncatedSVD",
    "sklearn.feature_extraction.text.TfidfTransformer",
    "sklearn.impute.SimpleImputer",
    "sklearn.linear_model.LinearRegression",
    "sklearn.linear_model.LogisticRegression",
    "sklearn.linear_model.Ridge",
    "sklearn.linear_model.RidgeClassifier",
    "sklearn.pipeline.FeatureUnion",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing.MaxAbsScaler",
    "sklearn.preprocessing.MinMaxScaler",
    "sklearn.preprocessing.Normalizer",
    "sklearn.preprocessing.RobustScaler",
    "sklearn.preprocessing.StandardScaler",
)


def name_of(kind: type) -> str | None:
    """The name of a class in a file, which does not say in which file of its room it is defined; None if refused."""
    library, *modules = kind.__module__.split(".")
    if library == LIBRARY and modules and modules[0] in ROOMS and kind.__qualname__ == kind.__name__:
        return f"{LIBRARY}.{modules[0]}.{kind.__name__}"
    public = ".".join([library, *(part for part in modules if not part.startswith("_")), kind.__name__])
    return public if public in SKLEARN and issubclass(kind, BaseEstimator) else None


def class_of(name: str) -> type | None:
    """The class of a name; None if no class of that name may be in a saved model."""
    module, _, kind = name.rpartition(".")
    if name in SKLEARN:
        return getattr(import_module(module), kind, None)
    library, _, room = module.partition(".")
    return _classes(room).get(kind) if library == LIBRARY and room in ROOMS else None


def trusted_types() -> list[str]:
    """Names of the classes that saved estimators and kernels of this library may hold, as skops writes them.

    A model that is saved with skops rather than with :func:`~lopsided.io.save` is read with
    ``skops.io.load(path, trusted=lopsided.io.trusted_types())``.

    Examples
    --------
    >>> from lopsided.io import trusted_types
    >>> "lopsided.kernel_svd.estimator.KernelSVD" in trusted_types()
    True
    """
    return sorted(f"{kind.__module__}.{kind.__name__}" for room in ROOMS for kind in _classes(room).values())


@cache
def _classes(room: str) -> dict[str, type]:
    """The classes that the files of a room define, by name."""
    package = import_module(f"{LIBRARY}.{room}")
    inside = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    modules = [package, *(import_module(module.name) for module in inside)]
    return {
        kind.__name__: kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == module.__name__
    }
