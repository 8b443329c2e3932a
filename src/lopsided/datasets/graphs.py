"""Random citation graphs, whose edge directions carry information, and the parts that all generated graphs share."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

MOST_NODES = 2**31 - 1  # numbers of nodes are int32
MOST_CLASSES = 1 << 12  # every pair of classes has a probability: 134 MB
LEAST_EXPONENT = 1.1  # closer to 1 the fitness overflows

CONSTRAINTS: dict[str, Any] = {
    "n_nodes": [Interval(Integral, 1, MOST_NODES, closed="both")],
    "n_classes": [Interval(Integral, 1, MOST_CLASSES, closed="both")],
    "mean_references": [Interval(Real, 0, None, closed="left")],
    **{name: [Interval(Real, 0, 1, closed="both")] for name in ("homophily", "flow")},
    "mixing": ["array-like", None],
    "exponent": [Interval(Real, LEAST_EXPONENT, None, closed="left")],
    "random_state": ["random_state"],
}


def make_citation_graph(
    n_nodes: int = 2000,
    *,
    n_classes: int = 6,
    mean_references: float = 4.0,
    homophily: float = 0.8,
    flow: float = 0.5,
    mixing: Any = None,
    exponent: float = 2.5,
    random_state: Any = None,
) -> tuple[sparse.csr_array, np.ndarray]:
    """Generate a random citation graph in which classes differ in whom they cite and by whom they are cited.

    Nodes are numbered by age and cite only earlier nodes. Node t makes Poisson(mean_references) references. Each
    reference draws its class c with probability mixing[class of t, c], and then an earlier node i of that class with
    probability f_i / (sum of f over the earlier nodes of the class), where the fitness f has density proportional to
    f^-exponent. In-degrees inherit this heavy tail and out-degrees do not. Cost: O(E log E) for E edges.

    Parameters
    ----------
    n_nodes, n_classes : int, default=2000 and 6
        Number of nodes, and of classes of equal expected size, independent of age.
    mean_references : float, default=4.0
        Expected number of references drawn per node. The out-degree is lower: repeated references are merged, and
        references to a class without earlier nodes are dropped.
    homophily : float, default=0.8
        Probability that a reference stays within its class.
    flow : float, default=0.5
        Fraction of the references out of class c that go to class c + 1 (from the last class to the first); the
        remainder is spread evenly over all other classes.
    mixing : array of shape (n_classes, n_classes), default=None
        Weights with which the class of the row cites the class of the column; replaces homophily and flow. Each row is
        divided by its sum.
    exponent : float, default=2.5
        Exponent of the power law of in-degrees, at least 1.1; citation graphs usually have 2 to 3.
    random_state : int, RandomState instance or None, default=None
        Seed of the generator; pass an int for reproducible graphs.

    Returns
    -------
    adjacency : scipy.sparse.csr_array of shape (n_nodes, n_nodes)
        One where the node of the row cites the node of the column: strictly lower triangular, float64, int32 indices.
    labels : array of shape (n_nodes,)
        Class of each node.

    Examples
    --------
    >>> from lopsided.datasets import make_citation_graph
    >>> A, labels = make_citation_graph(1000, random_state=0)
    >>> source, target = A.nonzero()
    >>> A.shape, bool((source > target).all())
    ((1000, 1000), True)
    """
    validate_parameter_constraints(CONSTRAINTS, locals(), "make_citation_graph")
    shares = _default_mixing(n_classes, homophily, flow) if mixing is None else _check_mixing(mixing, n_classes)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    labels = rng.integers(n_classes, size=n_nodes)
    fitness = 1 + rng.pareto(exponent - 1, n_nodes)
    source = np.repeat(np.arange(n_nodes), rng.poisson(mean_references, n_nodes))
    wanted = _draw_classes(shares, labels[source], rng)
    source, target = _draw_targets(source, wanted, labels, fitness, rng)
    return unweighted(source, target, n_nodes), labels


def unweighted(source: np.ndarray, target: np.ndarray, n_nodes: int) -> sparse.csr_array:
    """Adjacency of ones, float64 with int32 indices, in which repeated edges are merged."""
    edges = source.astype(np.int32), target.astype(np.int32)
    adjacency = sparse.csr_array((np.ones(len(source)), edges), shape=(n_nodes, n_nodes))
    adjacency.data[:] = 1  # edges that are repeated were added
    return adjacency


def _default_mixing(n_classes: int, homophily: float, flow: float) -> np.ndarray:
    """Class-to-class probabilities: homophily on the diagonal, flow to the next class, the remainder spread evenly."""
    if n_classes == 1:
        return np.ones((1, 1))
    own = np.eye(n_classes)
    following = np.roll(own, 1, axis=1)
    others = (1 - own) / (n_classes - 1)
    return homophily * own + (1 - homophily) * (flow * following + (1 - flow) * others)


def real_array(given: Any, name: str) -> np.ndarray:
    """The given numbers as floats; complex ones, whose imaginary part numpy would drop, are refused."""
    if np.iscomplexobj(given):
        raise ValueError(f"{name} holds complex numbers, but needs real ones; pass its real part")
    return np.asarray(given, dtype=float)


def _check_mixing(mixing: Any, n_classes: int) -> np.ndarray:
    """Validate class-to-class weights, and divide each row by its sum."""
    weights = real_array(mixing, "mixing")
    if weights.shape != (n_classes, n_classes):
        wanted = (n_classes, n_classes)
        raise ValueError(f"mixing has shape {weights.shape}, but n_classes={n_classes} needs {wanted}; change either")
    if not (np.isfinite(weights).all() and weights.min() >= 0):
        values = f"values from {weights.min()} to {weights.max()}"
        raise ValueError(f"mixing holds {values}, but weights must be finite and not negative")
    sums = weights.sum(axis=1, keepdims=True)
    if not sums.all():
        raise ValueError(f"row {int(sums.argmin())} of mixing sums to 0; give one of its classes a positive weight")
    return weights / sums


def _draw_classes(shares: np.ndarray, citing: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Class of every reference, by inverse transform sampling; the cdfs of all rows are concatenated on one axis."""
    n_classes = len(shares)
    heights = np.cumsum(shares, axis=1)
    ends = (heights / heights[:, -1:] + np.arange(n_classes)[:, None]).ravel()
    drawn = np.searchsorted(ends, citing + rng.random(len(citing)), side="right") - n_classes * citing
    return np.minimum(drawn, n_classes - 1)


def _draw_targets(
    source: np.ndarray, wanted: np.ndarray, labels: np.ndarray, fitness: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the target of each reference by inverse transform sampling, and drop references without candidates.

    With nodes sorted by class and then by age, the candidates of a reference are contiguous.
    """
    order = np.argsort(labels, kind="stable")
    keys = labels[order] * len(labels) + order
    first = np.searchsorted(keys, wanted * len(labels))
    last = np.searchsorted(keys, wanted * len(labels) + source)
    found = last > first
    source, first, last = source[found], first[found], last[found]
    mass = np.concatenate([[0.0], np.cumsum(fitness[order])])
    point = mass[first] + rng.random(len(source)) * (mass[last] - mass[first])
    drawn = np.searchsorted(mass, point, side="right") - 1
    return source, order[np.clip(drawn, first, last - 1)]  # rounding may push a point out of its range
