"""Random directed graphs whose classes differ only in the direction of their edges."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints

from .graphs import LEAST_EXPONENT, MOST_CLASSES, MOST_NODES, real_array, unweighted

STRUCTURES = ("cyclic", "hierarchical", "core-periphery")
CORE_PERIPHERY = ("outward periphery", "inward core", "outward core", "inward periphery")
CORE_PERIPHERY_FLOWS = ((0, 1), (2, 1), (2, 3))

CONSTRAINTS: dict[str, Any] = {
    "n_nodes": [Interval(Integral, 2, MOST_NODES, closed="both")],
    "n_classes": [Interval(Integral, 2, MOST_CLASSES, closed="both")],
    "structure": [StrOptions(set(STRUCTURES)), "array-like"],
    "direction": [Interval(Real, 0, 1, closed="both")],
    "mean_degree": [Interval(Real, 0, None, closed="left")],
    "exponent": [Interval(Real, LEAST_EXPONENT, None, closed="left"), None],
    "random_state": ["random_state"],
}


def make_directed_blocks(
    n_nodes: int = 2000,
    *,
    n_classes: int = 4,
    structure: Any = "cyclic",
    direction: float = 0.9,
    mean_degree: float = 10.0,
    exponent: float | None = 2.5,
    random_state: Any = None,
) -> tuple[sparse.csr_array, np.ndarray]:
    """Generate a directed stochastic block model whose classes differ in nothing but the direction of their edges.

    First Poisson(n_nodes mean_degree) pairs of nodes are drawn, i and j with probability proportional to f_i f_j
    whatever their classes are; the fitness f has density proportional to f^-exponent. Then each pair becomes one edge,
    from i to j with probability F[class of i, class of j], where F + F' = 1. The undirected graph A + A' says nothing
    of the classes, and symmetrising loses them entirely. Classes are drawn so that hubs are spread over all of them.
    Cost: O(E log E) for E edges.

    Parameters
    ----------
    n_nodes, n_classes : int, default=2000 and 4
        Number of nodes, and of classes of equal size, plus or minus one.
    structure : {"cyclic", "hierarchical", "core-periphery"} or array of shape (n_classes, n_classes), default="cyclic"
        Pairs of classes between which edges have a preferred direction; all others, and pairs within a class, are
        oriented by a fair coin.

        - "cyclic": from each class to the next, and from the last to the first; at least 3 classes. All classes have
          the same distribution of in- and out-degrees.
        - "hierarchical": from each class to all that follow it. In- and out-degrees alone reveal much.
        - "core-periphery": 4 classes, the outward periphery, the inward core, the outward core and the inward
          periphery; from 0 to 1, from 2 to 1 and from 2 to 3 [1]_.
        - an array: F itself, with F + F' = 1.
    direction : float, default=0.9
        Probability of the preferred direction, F[a, b]; with 0.5 the classes do not differ, and with 1 no edge
        runs the other way. Ignored if ``structure`` is an array.
    mean_degree : float, default=10.0
        Expected number of edges drawn per node, the mean of out-degrees and of in-degrees. Graphs have slightly fewer:
        a pair drawn twice is one edge, and there are no self-loops.
    exponent : float or None, default=2.5
        Exponent of the power law of degrees, at least 1.1; None draws all nodes equally often, with Poisson degrees.
    random_state : int, RandomState instance or None, default=None
        Seed of the generator; pass an int for reproducible graphs. Graphs of one seed that differ in ``structure`` or
        ``direction`` have the same classes and the same undirected graph.

    Returns
    -------
    adjacency : scipy.sparse.csr_array of shape (n_nodes, n_nodes)
        One for each edge from the node of the row to the node of the column, of which no pair of nodes has two;
        float64, int32 indices.
    labels : array of shape (n_nodes,)
        Class of each node.

    References
    ----------
    .. [1] A. Elliott, A. Chiu, M. Bazzi, G. Reinert, M. Cucuringu, "Core-periphery structure in directed networks",
       Proceedings of the Royal Society A 476, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.datasets import make_directed_blocks
    >>> A, labels = make_directed_blocks(1000, n_classes=3, random_state=0)
    >>> source, target = A.nonzero()
    >>> forwards = (labels[target] - labels[source]) % 3 == 1
    >>> between = labels[source] != labels[target]
    >>> round(float(forwards[between].mean()), 1)
    0.9
    """
    validate_parameter_constraints(CONSTRAINTS, locals(), "make_directed_blocks")
    F = _preferences(structure, n_classes, direction) if isinstance(structure, str) else _checked(structure, n_classes)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    fitness = np.ones(n_nodes) if exponent is None else 1 + rng.pareto(exponent - 1, n_nodes)
    labels = _balanced_classes(fitness, n_classes, rng)
    i, j = _distinct_pairs(fitness, rng.poisson(n_nodes * mean_degree), rng)
    kept = rng.random(len(i)) < F[labels[i], labels[j]]
    return unweighted(np.where(kept, i, j), np.where(kept, j, i), n_nodes), labels


def _balanced_classes(fitness: np.ndarray, n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """Random classes, each once among n_classes nodes of similar fitness, so that all draw about as many edges."""
    n_nodes = len(fitness)
    once = np.tile(np.arange(n_classes), (-(-n_nodes // n_classes), 1))
    labels = np.empty(n_nodes, dtype=np.int64)
    labels[np.argsort(-fitness, kind="stable")] = rng.permuted(once, axis=1).ravel()[:n_nodes]
    return labels


def _preferences(structure: str, n_classes: int, direction: float) -> np.ndarray:
    """Probabilities F[a, b] that the edge between a node of class a and one of class b runs from a to b."""
    classes = np.arange(n_classes)
    if structure == "cyclic":
        if n_classes < 3:
            raise ValueError(
                f"structure='cyclic' needs at least 3 classes, not n_classes={n_classes}: with 2, each "
                "follows the other; use 'hierarchical'"
            )
        a, b = classes, (classes + 1) % n_classes
    elif structure == "hierarchical":
        a, b = np.triu_indices(n_classes, 1)
    else:
        if n_classes != len(CORE_PERIPHERY):
            raise ValueError(
                f"structure='core-periphery' has {len(CORE_PERIPHERY)} classes, "
                f"{', '.join(CORE_PERIPHERY)}, not n_classes={n_classes}; pass an array for others"
            )
        a, b = np.transpose(CORE_PERIPHERY_FLOWS)
    F = np.full((n_classes, n_classes), 0.5)
    F[a, b], F[b, a] = direction, 1 - direction
    return F


def _checked(structure: Any, n_classes: int) -> np.ndarray:
    """Validate an array of probabilities with F + F' = 1."""
    F, wanted = real_array(structure, "structure"), (n_classes, n_classes)
    if F.shape != wanted:
        raise ValueError(f"structure has shape {F.shape}, but n_classes={n_classes} needs {wanted}; change either")
    if not (np.isfinite(F).all() and F.min() >= 0 and F.max() <= 1):
        raise ValueError(f"structure holds values from {F.min()} to {F.max()}, but probabilities lie between 0 and 1")
    if not np.allclose(F + F.T, 1):
        a, b = np.unravel_index(np.abs(F + F.T - 1).argmax(), wanted)
        raise ValueError(
            f"structure[{a}, {b}] + structure[{b}, {a}] = {F[a, b] + F[b, a]:g}, but an edge runs in one direction "
            "or the other, so they must add up to 1 (1/2 each within a class)"
        )
    return F


def _distinct_pairs(fitness: np.ndarray, draws: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw pairs of different nodes i < j by fitness, by inverse transform sampling, and merge repeated ones."""
    n, mass = len(fitness), np.cumsum(fitness)
    drawn = np.searchsorted(mass, mass[-1] * rng.random((2, draws)), side="right")
    drawn = np.sort(np.minimum(drawn, n - 1), axis=0)  # rounding may push a point past the end
    pairs = np.unique((drawn[0] * n + drawn[1])[drawn[0] < drawn[1]])
    return pairs // n, pairs % n
