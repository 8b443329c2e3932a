"""Every public function, with good arguments of which some are replaced by data of any kind and things of any type."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from scipy import sparse

import lopsided
from lopsided import (
    DirectedGraphEmbedding,
    KernelSVD,
    biclustering,
    datasets,
    distributed,
    explore,
    graphs,
    images,
    io,
    kernel_svd,
    kernels,
    nystrom,
    operators,
    plotting,
    recommendation,
    svd,
)

from .drawn import Draw, with_short_loops
from .judge import Work

matplotlib.use("Agg")
X = np.random.default_rng(0).random((12, 5))
A = sparse.csr_array((np.random.default_rng(1).random((12, 12)) < 0.3).astype(float))
RANKED = np.array([[0, 1], [2, 3]])
HELD_OUT = sparse.csr_array(np.eye(2, 5))
FACTORS = svd.Factors(np.eye(12, 2), np.array([2.0, 1.0]), np.eye(5, 2))


def _operator() -> operators.KernelOperator:
    return operators.as_operator(kernels.RBF(1.0).fit(X, X[:5]), X, X[:5], budget=10**9)


def _landmarks() -> tuple[nystrom.Landmarks, nystrom.Landmarks]:
    return tuple(nystrom.Landmarks(X[rows], np.ones(6), np.arange(12)[rows]) for rows in (slice(6), slice(6, 12)))


def _embedded() -> DirectedGraphEmbedding:
    return DirectedGraphEmbedding(2, kernel="sne").fit(A)


def _hidden() -> Any:
    return graphs.hide_edges(A, share=0.2)


RNG = np.random.default_rng
GOOD: dict[Callable[..., Any], Callable[[], dict[str, Any]]] = {
    lopsided.image_svd: lambda: {"image": X, "kernel": "linear", "n_components": 2},
    lopsided.select_solver: lambda: {"kernel": "rbf", "X": X, "Z": X, "n_components": 2, "memory_budget": None},
    biclustering.coherence_index: lambda: {"X": X, "column_labels": [0, 0, 1, 1, 1]},
    biclustering.matched_accuracy: lambda: {"labels_true": [0, 1, 1], "labels_pred": [1, 0, 0]},
    biclustering.partition_scores: lambda: {"labels_true": [0, 1, 1], "labels_pred": [1, 0, 0]},
    datasets.make_citation_graph: lambda: {
        "n_nodes": 30, "n_classes": 2, "mean_references": 2.0, "homophily": 0.5, "flow": 0.5, "mixing": None,
        "exponent": 2.5, "random_state": 0,
    },
    datasets.make_click_log: lambda: {
        "n_samples": 40, "n_columns": 100, "n_fields": 3, "block_rows": 20, "random_state": 0
    },
    datasets.make_directed_blocks: lambda: {
        "n_nodes": 30, "n_classes": 2, "structure": "cyclic", "direction": 0.9, "mean_degree": 3.0, "exponent": 2.5,
        "random_state": 0,
    },
    datasets.make_textures: lambda: {"n_samples": 4, "size": 8, "cover": 0.3, "noise": 0.5, "random_state": 0},
    explore.write_page: lambda: {
        "model": _embedded(), "path": "page.html", "labels": None, "title": "t", "layout": "components"
    },
    graphs.classify_nodes: lambda: {
        "embedding": X, "labels": np.arange(12) % 2, "n_splits": 2, "train_size": 0.5, "C": 1.0, "multilabel": "top",
        "random_state": 0,
    },
    graphs.evaluate_links: lambda: {"score": lambda u, v: np.cos(u + 2 * v), "hidden": _hidden(), "k": 5},
    graphs.hide_edges: lambda: {"adjacency": A, "share": 0.1, "reversed_share": 0.5, "random_state": 0},
    graphs.precision_at_k: lambda: {"source": X, "target": X, "adjacency": A, "k": 5, "decoder": "dot"},
    graphs.read_graph: lambda: {"graph": A, "source": None, "target": None, "weight": None, "header": None},
    graphs.reconstruct_graph: lambda: {"source": X, "target": X, "adjacency": A, "decoder": "dot"},
    images.psnr: lambda: {"image": X, "other": X + 0.1, "peak": None},
    images.ssim: lambda: {"image": np.eye(12), "other": np.ones((12, 12)), "peak": None},
    io.load: lambda: {"path": "nowhere", "mmap": True, "verify": None},
    io.save: lambda: {"model": KernelSVD(1).fit(X), "path": "model.lopsided"},
    io.write_vectors: lambda: {"model": _embedded(), "path": "vectors.csv", "side": "both"},
    kernel_svd.fit_robust: lambda: {"model": KernelSVD(1), "X": X, "Z": None, "max_iter": 2},
    kernel_svd.make_compatible: lambda: {"name": "pca", "X": X, "Z": X[:, :3], "rng": RNG(0), "budget": 1e9},
    kernel_svd.split_condition: lambda: {"A": X, "width": None},
    kernels.as_kernel: lambda: {"kernel": "rbf"},
    kernels.takes_values: lambda: {"kernel": "precomputed"},
    nystrom.nystrom: lambda: {
        "kernel": kernels.RBF(1.0), "X": X, "Z": X, "landmarks": _landmarks(), "k": 2, "plain": False, "center": False,
        "rng": RNG(0),
    },
    operators.as_operator: lambda: {"kernel": kernels.RBF(1.0), "X": X, "Z": X, "budget": 10**9},
    plotting.plot_biclusters: lambda: {"X": X, "model_or_labels": (np.arange(12) % 2, np.arange(5) % 2), "axes": None},
    plotting.plot_diagnostics: lambda: {"diagnostics": svd.diagnose(_operator(), FACTORS), "ax": None},
    plotting.plot_embeddings: lambda: {"model_or_pair": (X, X), "labels": None, "components": (0, 1), "axes": None},
    recommendation.coverage: lambda: {"recommended": RANKED, "n_items": 5},
    recommendation.ndcg_at_k: lambda: {"recommended": RANKED, "held_out": HELD_OUT},
    recommendation.ranking_scores: lambda: {"recommended": RANKED, "held_out": HELD_OUT},
    recommendation.recall_at_k: lambda: {"recommended": RANKED, "held_out": HELD_OUT},
    svd.diagnose: lambda: {"A": _operator(), "factors": FACTORS, "weights": None},
    svd.eta: lambda: {"exact": FACTORS, "found": FACTORS},
    svd.factorise: lambda: {"A": _operator(), "k": 2, "solver": "auto", "tol": 0.0, "budget": 10**9, "rng": RNG(0)},
    svd.relative_eta: lambda: {"exact": FACTORS, "found": FACTORS},
}  # fmt: skip
LEFT_OUT = {
    "main": "commands have a file of their own",
    "show_progress": "a context that prints",
    "trusted_types": "takes nothing",
    **dict.fromkeys(distributed.__all__, "lazy; tests/distributed has them"),
    "check_kernel": "its AssertionErrors are the answer",
    "check_operator": "its AssertionErrors are the answer",
}


def public_functions() -> dict[str, Callable[..., Any]]:
    """Every function of every front door."""
    doors = [each for name in lopsided.__all__ if inspect.ismodule(each := getattr(lopsided, name))]
    found = {}
    for door in [lopsided, *doors]:
        found |= {
            name: each for name in getattr(door, "__all__", ()) if inspect.isfunction(each := getattr(door, name))
        }
    return found


def function(draw: Draw) -> tuple[tuple, Work]:
    """A function with good arguments, of which about one is replaced."""
    called = draw.of(GOOD)
    arguments = GOOD[called]()
    for name in arguments:
        if draw.chance(0.3):
            arguments[name] = draw.junk() if draw.chance(0.6) else draw.points()
    arguments = with_short_loops(arguments)
    draw.notes.append(f"{called.__name__} { ({name: str(value)[:60] for name, value in arguments.items()}) }")

    def work() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            if isinstance(arguments.get("path"), str) and "\x00" not in arguments["path"]:
                arguments["path"] = str(Path(folder) / arguments["path"])
            try:
                yield called(**arguments)
            finally:
                plt.close("all")

    return tuple(value for value in arguments.values() if not isinstance(value, np.random.Generator)), work


CALLS = {function: 1}
