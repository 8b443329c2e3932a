"""Write the page: the packed data of the nodes, and the code that draws them."""

import html
import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from .. import __version__
from .._core import best_first, checked, count_of
from ..exceptions import LopsidedWarning, warn
from ..graphs import DirectedGraphEmbedding, reverse_scores, vectors_without_degrees
from ..io import check_embedded, plain_ids, written_whole
from .layout import LAYOUTS, coordinates
from .packing import SHADES, TONES, packed, quantised

MOST_BEST = 10  # best targets of a node that are kept,
BEST_IN_ALL = 200_000  # fewer if there are many nodes,
FEWEST_BEST = 2  # but not fewer than these
MOST_PAIRS = 10**10  # that are scored; graphs with more nodes show none
MOST_LABELS = 24  # colours; rarer labels share one
NO_LABEL = "(none)"  # shown in grey
MOST_VALUES = 64  # of the spectrum
LIBRARIES = ("regl.min.js", "pub-sub-es.js", "regl-scatterplot.min.js")
EXPORTS = "export { globalPubSub, createPubSub };\nexport default createPubSub;"


@checked(title=[str], layout=[StrOptions(set(LAYOUTS))])
def write_page(
    model: Any,
    path: str | os.PathLike[str],
    *,
    labels: Mapping[Any, Any] | Sequence[Any] | None = None,
    title: str = "Directed graph",
    layout: str = "components",
) -> None:
    """Write one self-contained HTML file in which an embedded graph can be explored, without a network.

    Nodes appear twice, as sources and as targets, in two scatter plots. A click on a node, or a search by id, shows its
    best targets and the nodes whose best target it is, with lines between the plots, dashed where the graph has no such
    edge yet; a lasso lists nodes.

    Parameters
    ----------
    model : DirectedGraphEmbedding
        Fitted; or any object with ``nodes_``, ``source_embedding_`` and ``target_embedding_``. Best targets are shown
        if it also has ``edge_vectors()``, whose inner products score edges, as those of the embedding need not.
    path : path
        The file to write.
    labels : mapping from ids to labels, sequence of n_nodes labels or None, default=None
        Labels that colour the points; the 24 most frequent get a colour each.
    title : str, default="Directed graph"
        Heading of the page.
    layout : {"components", "umap"}, default="components"
        Coordinates: leading principal axes of the unit vectors of each side, or a UMAP of them (package umap-learn); of
        a ``DirectedGraphEmbedding(kernel="auto")``, without what the vectors say of degrees.

    Notes
    -----
    Up to 10 best targets of a node are kept, fewer in graphs of more than 20,000 nodes, none above 100,000 nodes. Cost:
    n^2 scores, in blocks.

    Examples
    --------
    >>> import os, tempfile
    >>> from lopsided import DirectedGraphEmbedding
    >>> from lopsided.explore import write_page
    >>> model = DirectedGraphEmbedding(n_components=2).fit([("ann", "bob"), ("bob", "eve"), ("eve", "ann")])
    >>> path = os.path.join(tempfile.mkdtemp(), "graph.html")
    >>> write_page(model, path, labels=["poet", "clerk", "poet"])
    >>> os.path.getsize(path) < 300_000
    True
    """
    check_embedded(model)
    facts: dict[str, Any] = {"ids": [str(node) for node in plain_ids(model.nodes_).tolist()]}
    names, numbers = _label_numbers(labels, model.nodes_)
    facts |= {
        "tones": TONES,
        "shades": SHADES,
        "labels": names,
        "settings": _settings(model),
        "spectrum": _spectrum(model),
    }
    arrays = {"label": numbers.astype(np.uint8)}
    for side, vectors in zip(("source", "target"), _vectors(model), strict=True):
        flat = coordinates(vectors, layout)
        for axis, values in zip("xy", flat.T, strict=True):
            arrays[f"{side}_{axis}"] = quantised(values, -1, 1, TONES, np.uint16)
    best, scores = _best_targets(model)
    if scores.size:
        low, high = float(scores.min()), float(scores.max())
        facts["scores"] = [low, high]
        arrays |= {"best": best.astype(np.uint32), "score": quantised(scores, low, high, SHADES, np.uint8)}
        if hasattr(model, "adjacency_"):
            arrays["linked"] = _linked(model.adjacency_, best).astype(np.uint8)
    facts["n_best"] = best.shape[1]
    with written_whole(path) as part:
        part.write_text(_filled(title, packed(facts, arrays)), encoding="utf-8")


def _vectors(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """The vectors of both sides from which the points get their places."""
    if isinstance(model, DirectedGraphEmbedding):
        return vectors_without_degrees(model)
    return model.source_embedding_, model.target_embedding_


def _best_targets(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and scores of the best targets of every node, itself left out, as arrays (n, k)."""
    n = len(model.nodes_)
    k = min(n - 1, max(FEWEST_BEST, min(MOST_BEST, BEST_IN_ALL // n)))
    is_scored = hasattr(model, "edge_vectors")
    if n * n > MOST_PAIRS or k < 1 or not is_scored:
        if k > 0 and is_scored:
            warn(f"{n:,} nodes have too many pairs to score, so the page shows no best targets", LopsidedWarning)
        return np.empty((n, 0), dtype=np.intp), np.empty((n, 0))
    source, target = (np.asarray(side, dtype=np.float32) for side in model.edge_vectors())
    added = reverse_scores(model) if isinstance(model, DirectedGraphEmbedding) else None
    found = best_first(source, target, np.arange(n), k, sparse.eye_array(n, format="csr"), added)
    return found.right.reshape(n, k), found.scores.reshape(n, k)


def _linked(A: sparse.csr_array, best: np.ndarray) -> np.ndarray:
    """Whether the graph has the edge from each node to each of its best targets."""
    rows, columns = A.nonzero()
    n = np.int64(len(best))
    return np.isin(np.arange(n)[:, None] * n + best, rows * n + columns)


def _label_numbers(labels: Any, nodes: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Names of labels, the most frequent first and nodes without one last, and the number of the label of each node."""
    if labels is None:
        return [], np.zeros(len(nodes), dtype=int)
    if sparse.issparse(labels):
        raise ValueError("labels are a sparse matrix; give a list or an array with one label for each node")
    if isinstance(labels, Mapping):
        texts = [str(labels[node]) if node in labels else NO_LABEL for node in nodes.tolist()]
    else:
        texts = [str(label) for label in labels]
    if len(texts) != len(nodes):
        given = f"{count_of(len(texts), 'label')} for {count_of(len(nodes), 'node')}"
        raise ValueError(f"{given}; give one for each, or a mapping from ids to labels")
    names, codes, counts = np.unique(texts, return_inverse=True, return_counts=True)
    rank = np.empty(len(names), dtype=int)
    rank[np.lexsort((-counts, names == NO_LABEL))] = np.arange(len(names))
    ordered = [str(name) for name in names[np.argsort(rank)]]
    if len(ordered) <= MOST_LABELS:
        return ordered, rank[codes]
    return [*ordered[: MOST_LABELS - 1], "(other)"], np.minimum(rank[codes], MOST_LABELS - 1)


def _settings(model: Any) -> list[list[str]]:
    shown = {"lopsided": __version__}
    if hasattr(model, "get_params"):
        shown |= {name: str(value) for name, value in model.get_params(deep=False).items()}
    if hasattr(model, "solver_"):
        shown["solver"] = str(model.solver_)
    return [[name, value[:500]] for name, value in shown.items()]


def _spectrum(model: Any) -> list[float]:
    values = getattr(model, "singular_values_", np.empty(0))[:MOST_VALUES]
    return [float(f"{value:.4g}") for value in values]


def _filled(title: str, data: str) -> str:
    folder = files(__package__)

    def text(*parts: str) -> str:
        return folder.joinpath(*parts).read_text(encoding="utf-8")

    scripts = [text("vendor", name) for name in LIBRARIES]
    scripts[1] = f"(() => {{ {scripts[1].replace(EXPORTS, 'globalThis.createPubSub = createPubSub;')} }})();"
    filled = {
        "TITLE": html.escape(title),
        "STYLE": text("assets", "page.css"),
        "DATA": data,
        "SCRIPTS": "\n".join(f"<script>{script}</script>" for script in [*scripts, text("assets", "page.js")]),
    }
    page = text("assets", "page.html")
    for name, value in filled.items():
        before, after = page.split(f"<!--{name}-->")
        page = f"{before}{value}{after}"
    return page
