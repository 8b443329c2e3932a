"""Machine learning with asymmetric kernels: similarities k(x, z) that need not equal k(z, x).

Embed, classify and bicluster directed graphs, tables of rows by columns, two sets of points and images with kernel SVD,
asymmetric least-squares support vector machines and Nystrom approximations, in the manner of scikit-learn.

Rooms and estimators are imported when they are first used, so ``import lopsided`` itself takes a few milliseconds.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import (
        biclustering,
        cli,
        datasets,
        distributed,
        exceptions,
        explore,
        graphs,
        images,
        io,
        kernel_svd,
        kernels,
        least_squares,
        nystrom,
        operators,
        plotting,
        prior_nystroem,
        recommendation,
        svd,
        testing,
    )
    from ._core import show_progress
    from .biclustering import KernelBiclustering
    from .graphs import DirectedGraphEmbedding
    from .images import ImageMixtures, image_svd
    from .kernel_svd import KernelSVD, LearnedKernelSVDClassifier, LearnedKernelSVDRegressor
    from .least_squares import AsymmetricLSSVC, AsymmetricLSSVR
    from .nystrom import Nystrom
    from .prior_nystroem import PriorNystroem, SelfTrainedFeatures
    from .recommendation import KernelRecommender
    from .svd import select_solver

__all__ = [
    "AsymmetricLSSVC",
    "AsymmetricLSSVR",
    "DirectedGraphEmbedding",
    "ImageMixtures",
    "KernelBiclustering",
    "KernelRecommender",
    "KernelSVD",
    "LearnedKernelSVDClassifier",
    "LearnedKernelSVDRegressor",
    "Nystrom",
    "PriorNystroem",
    "SelfTrainedFeatures",
    "biclustering",
    "cli",
    "datasets",
    "distributed",
    "exceptions",
    "explore",
    "graphs",
    "image_svd",
    "images",
    "io",
    "kernel_svd",
    "kernels",
    "least_squares",
    "nystrom",
    "operators",
    "plotting",
    "prior_nystroem",
    "recommendation",
    "select_solver",
    "show_progress",
    "svd",
    "testing",
]
__version__ = "0.2.0"

_ROOM_OF = {
    "AsymmetricLSSVC": "least_squares",
    "AsymmetricLSSVR": "least_squares",
    "DirectedGraphEmbedding": "graphs",
    "ImageMixtures": "images",
    "KernelBiclustering": "biclustering",
    "KernelRecommender": "recommendation",
    "KernelSVD": "kernel_svd",
    "LearnedKernelSVDClassifier": "kernel_svd",
    "LearnedKernelSVDRegressor": "kernel_svd",
    "Nystrom": "nystrom",
    "PriorNystroem": "prior_nystroem",
    "SelfTrainedFeatures": "prior_nystroem",
    "image_svd": "images",
    "select_solver": "svd",
    "show_progress": "_core",
}

if not TYPE_CHECKING:  # a type checker would take every misspelt name for one that this function knows

    def __getattr__(name: str) -> Any:
        """Import a room, or a name from its room, on first use (PEP 562)."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = import_module(f"{__name__}.{_ROOM_OF.get(name, name)}")
        if name in _ROOM_OF:
            found = getattr(found, name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
