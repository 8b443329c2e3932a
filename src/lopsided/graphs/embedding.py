"""Source and target vectors for the nodes of a directed graph."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._parallel import slices_of
from ..estimators import KernelSVD
from ..exceptions import FallbackWarning
from ..kernels import Diffusion, GraphKernel, Kernel, as_kernel
from ..kernels.node import Balance
from ..kernels.points import by_rows, check_points
from ..linalg import powers
from .reading import Edges, assembled, is_path_or_table, number_nodes, read_edges, read_graph

DEFAULT = Diffusion()
BLOCK_ENTRIES = 1 << 24


class DirectedGraphEmbedding(TransformerMixin, BaseEstimator):
    """Embed the nodes of a directed graph twice: as sources of edges and as targets.

    A kernel K of the nodes, similar from i to j, is decomposed as K = U diag(s) V' by :class:`KernelSVD`. Node i gets the
    source vector U[i] s^scaling and the target vector V[i] s^scaling, and the score of an edge from i to j is
    (U diag(s) V')[i, j], which with scaling 0.5 is the product of the two vectors.

    Parameters
    ----------
    n_components : int, default=128
        Length of each of the two vectors; no more than there are nodes.
    kernel : str, Kernel or callable, default="auto"
        A kernel of the nodes (:class:`~lopsided.kernels.Diffusion`, :class:`~lopsided.kernels.Katz`,
        :class:`~lopsided.kernels.NodeKernel`), which is given the graph; or any kernel of vectors ("sne", "rbf", ...),
        which compares the rows of the adjacency with its columns. "auto" is ``Diffusion()``.
    self_loops : float, default=0.0
        Weight of an edge from every node to itself, added to the graph before the kernel sees it. Kernels of vectors
        find nodes that link to the same as they are linked from; with self-loops also those that link to each other.
    normalize : {"left", "right", "both"} or None, default=None
        Divide the adjacency by out-degrees, in-degrees or the square roots of both, before the kernel sees it.
    scaling : float, default=0.5
        Power of the singular values in the vectors.
    tol : float, default=0.0
        Residual at which the decomposition stops, relative to the largest singular value; 0 is near rounding.
    random_state : int, RandomState instance or None, default=None
        For landmarks, where a dense kernel matrix is too large. None is a fixed seed: the same graph gives the same
        vectors.
    n_jobs : int or None, default=None
        Threads; None is one for each core.
    memory_budget : float, str or None, default=None
        Bytes, or a text like "2GB", that the kernel matrix may take. None is a quarter of the memory that is free.

    Attributes
    ----------
    source_embedding_, target_embedding_ : arrays of shape (n_nodes, n_components)
        The vectors. A node without edges has zeros.
    nodes_ : array of shape (n_nodes,)
        Ids, in the order of the rows.
    singular_values_ : array of shape (n_components,)
        s, descending.
    adjacency_ : scipy.sparse.csr_array
        The graph that was read.
    kernel_ : Kernel
        The fitted kernel.
    solver_ : Choice
        How K was decomposed, and why so.
    n_features_in_ : int
        Nodes.

    Notes
    -----
    Memory and time grow with the edges and, for ``Diffusion``, with 1 / threshold for each node; no array of nodes x
    nodes is formed.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import DirectedGraphEmbedding
    >>> A = np.array([[0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1], [1, 0, 0, 0]])
    >>> model = DirectedGraphEmbedding(n_components=2).fit(A)
    >>> model.source_embedding_.shape, model.nearest_targets(0, k=1)
    ((4, 2), array([2]))
    """

    _parameter_constraints: dict[str, Any] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "kernel": [str, Kernel, callable],
        "self_loops": [Interval(Real, 0, None, closed="left")],
        "normalize": [StrOptions({"left", "right", "both"}), None],
        "scaling": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "memory_budget": [Real, str, None],
    }

    def __init__(
        self,
        n_components: int = 128,
        *,
        kernel: Any = "auto",
        self_loops: float = 0.0,
        normalize: str | None = None,
        scaling: float = 0.5,
        tol: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_budget: float | str | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.self_loops = self_loops
        self.normalize = normalize
        self.scaling = scaling
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_budget = memory_budget

    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the nodes of a graph.

        Parameters
        ----------
        X : sparse matrix, array, networkx graph, table of edges or path
            The graph, as :func:`lopsided.graphs.read_graph` takes it.
        y : ignored
            For the convention of scikit-learn.
        """
        self._validate_params()
        graph = read_graph(X)
        A = graph.adjacency
        n = A.shape[0]
        if self.n_components > n:
            raise ValueError(f"n_components={self.n_components} exceeds the number of nodes, {n}; lower it")
        self.balance_ = Balance(A, self.normalize, self.self_loops)
        svd = self._decomposed(by_rows(self.balance_.matrix(A)))
        if "budget" in svd.solver_.reason:
            warnings.warn(f"{svd.solver_}; raise memory_budget to be faster", FallbackWarning, stacklevel=2)
        self.svd_, self.kernel_, self.solver_ = svd, svd.kernel_, svd.solver_
        self.singular_values_ = svd.singular_values_
        self._index = {node: i for i, node in enumerate(graph.nodes.tolist())}
        self.adjacency_, self.nodes_, self.n_features_in_ = A, graph.nodes, n
        edgeless = (np.diff(A.indptr) == 0) & (np.bincount(A.indices, minlength=n) == 0)
        weights = self._powers(self.scaling)
        self.source_embedding_, self.target_embedding_ = (
            np.where(edgeless[:, None], 0, vectors * weights) for vectors in (svd.left_vectors_, svd.right_vectors_)
        )
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and return source and target vectors side by side, shape (n_nodes, 2 n_components)."""
        self.fit(X)
        return np.hstack([self.source_embedding_, self.target_embedding_])

    def transform(self, X: Any, in_edges: Any = None) -> np.ndarray:
        """Source and target vectors, side by side, of nodes that are not in the graph; the graph stays as it is.

        Parameters
        ----------
        X : sparse matrix or array of shape (b, n_nodes), or table of edges
            Edges from the new nodes: row i holds the weights from new node i to every node, in the order of ``nodes_``.
            In a table (or a file of one) sources are ids of new nodes and targets ids of the graph. The graph of
            ``fit`` itself stands for its own nodes.
        in_edges : the same, default=None
            Edges to the new nodes: row i holds the weights to new node i; in a table sources are ids of the graph and
            targets those of new nodes. None is no such edge.

        Returns
        -------
        array of shape (b, 2 n_components)
            A row for each new node, in the order of the rows; for tables in the order in which they first appear, in
            the edges from them and then in those to them.
        """
        check_is_fitted(self)
        if in_edges is None and self._is_known(X):
            return np.hstack([self.source_embedding_, self.target_embedding_])
        out_edges, in_edges = self._new_edges(X, in_edges)
        blocks = slices_of(out_edges.shape[0], BLOCK_ENTRIES // self.n_features_in_)
        return np.concatenate([self._embedded(out_edges[rows], in_edges[rows]) for rows in blocks])

    def score_edges(self, u: Any, v: Any) -> np.ndarray:
        """How likely edges from nodes u to nodes v are: (U diag(s) V')[u, v], shape (n,) for n pairs of ids."""
        rows, columns = np.broadcast_arrays(self._numbers(u), self._numbers(v))
        source, target = self.source_embedding_ * self._powers(1 - 2 * self.scaling), self.target_embedding_
        scores = np.empty(rows.shape, dtype=source.dtype)
        for part in slices_of(len(rows), BLOCK_ENTRIES // source.shape[1]):
            scores[part] = np.einsum("ij,ij->i", source[rows[part]], target[columns[part]])
        return scores

    def nearest_targets(self, u: Any, k: int = 10) -> np.ndarray:
        """Ids of the k nodes to which edges from u score highest, best first, u itself left out.

        Parameters
        ----------
        u : id or sequence of ids
            Nodes of the graph.
        k : int, default=10
            Targets for each; known edges are among them.

        Returns
        -------
        array of shape (k,), or (n, k) for n nodes
            Ids.
        """
        rows = self._numbers(u)
        if not 1 <= k < len(self.nodes_):
            raise ValueError(f"k={k} must be from 1 to {len(self.nodes_) - 1}, the number of other nodes")
        best = np.empty((len(rows), k), dtype=np.intp)
        for part in slices_of(len(rows), BLOCK_ENTRIES // len(self.nodes_)):
            source = self.source_embedding_[rows[part]] * self._powers(1 - 2 * self.scaling)
            best[part] = best_targets(source @ self.target_embedding_.T, rows[part], k)
        found = self.nodes_[best]
        return found[0] if self._is_id(u) else found

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """source0, source1, ..., target0, target1, ..."""
        check_is_fitted(self)
        k = len(self.singular_values_)
        return np.array([f"{side}{i}" for side in ("source", "target") for i in range(k)], dtype=object)

    def _decomposed(self, A: sparse.csr_array) -> KernelSVD:
        kernel = DEFAULT if isinstance(self.kernel, str) and self.kernel == "auto" else self.kernel
        kernel = as_kernel(kernel)
        svd = KernelSVD(
            self.n_components,
            kernel=kernel,
            scaling=self.scaling,
            tol=self.tol,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            memory_budget=self.memory_budget,
        )
        if not isinstance(kernel, GraphKernel):
            return svd.fit(A)
        kernel.set_params(adjacency=A)
        if "memory_budget" in kernel.get_params() and kernel.memory_budget is None:
            kernel.set_params(memory_budget=self.memory_budget)
        nodes = np.arange(A.shape[0], dtype=A.dtype)[:, None]
        return svd.fit(nodes, Z=nodes)

    def _embedded(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array) -> np.ndarray:
        """Vectors of new nodes from their edges: k(new, known) V s^(scaling - 1), and so for targets."""
        edges = self.balance_.rows(out_edges), self.balance_.columns(in_edges)
        if isinstance(self.kernel_, GraphKernel):
            weights = self._powers(self.scaling - 1)
            source = self.kernel_.left_values(*edges) @ self.svd_.right_vectors_ * weights
            target = self.kernel_.right_values(*edges) @ self.svd_.left_vectors_ * weights
        else:
            source, target = self.svd_.transform(edges[0]), self.svd_.transform_right(edges[1])
        edgeless = np.diff(out_edges.indptr) + np.diff(in_edges.indptr) == 0
        return np.where(edgeless[:, None], 0, np.hstack([source, target]))

    def _new_edges(self, X: Any, in_edges: Any) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Edges from and to new nodes as sparse rows over the nodes of the graph."""
        if is_path_or_table(X) or is_path_or_table(in_edges):
            return self._from_tables(X, in_edges)
        X = self._checked_rows(X, "X")
        if in_edges is None:
            return X, sparse.csr_array(X.shape, dtype=X.dtype)
        in_edges = self._checked_rows(in_edges, "in_edges")
        if X.shape != in_edges.shape:
            raise ValueError(f"X holds {X.shape[0]} new nodes and in_edges {in_edges.shape[0]}; they must be the same")
        return X, in_edges

    def _from_tables(self, X: Any, in_edges: Any) -> tuple[sparse.csr_array, sparse.csr_array]:
        none = Edges(*(np.empty(0, dtype=object) for _ in range(2)), np.empty(0))
        outward, inward = (none if table is None else read_edges(table) for table in (X, in_edges))
        ids, (numbers,) = number_nodes(np.concatenate([outward.source.astype(object), inward.target.astype(object)]))
        shape, edge = (len(ids), self.n_features_in_), len(outward.source)
        return (
            assembled(numbers[:edge], self._numbers(outward.target), outward.weight, shape),
            assembled(numbers[edge:], self._numbers(inward.source), inward.weight, shape),
        )

    def _checked_rows(self, X: Any, name: str) -> sparse.csr_array:
        X = sparse.csr_array(check_points(X, name))
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"{name} has {X.shape[1]} features, but DirectedGraphEmbedding is expecting {self.n_features_in_} "
                "features as input: a weight for every node of the graph"
            )
        return X.astype(self.adjacency_.dtype, copy=False)

    def _is_known(self, X: Any) -> bool:
        """Whether X is the graph of ``fit``."""
        if is_path_or_table(X) or getattr(X, "shape", None) == self.adjacency_.shape or hasattr(X, "is_directed"):
            graph = read_graph(X)
            A = self.adjacency_
            return (
                graph.adjacency.shape == A.shape
                and np.array_equal(graph.nodes, self.nodes_)
                and (abs(graph.adjacency - A).max() == 0)
            )
        return False

    def _is_id(self, node: Any) -> bool:
        """Whether it is one id, a tuple that names a node among them, and not a sequence of ids."""
        return isinstance(node, str) or np.ndim(node) == 0 or (isinstance(node, tuple) and node in self._index)

    def _numbers(self, ids: Any) -> np.ndarray:
        """Rows of the nodes with these ids."""
        check_is_fitted(self)
        ids = [ids] if self._is_id(ids) else list(ids)
        ids = [node.item() if isinstance(node, np.generic) else node for node in ids]
        unknown = [node for node in ids if node not in self._index]
        if unknown:
            shown = ", ".join(map(repr, unknown[:5])) + (", ..." if len(unknown) > 5 else "")
            raise ValueError(f"{len(unknown)} ids are not nodes of the graph: {shown}; nodes_ holds those that are")
        return np.array([self._index[node] for node in ids], dtype=np.intp)

    def _powers(self, exponent: float) -> np.ndarray:
        return powers(self.singular_values_, exponent, self.adjacency_.shape[0])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def best_targets(scores: np.ndarray, rows: np.ndarray, k: int) -> np.ndarray:
    """Columns of the k largest scores in each row, best first; the node of the row itself is no candidate."""
    scores[np.arange(len(rows)), rows] = -np.inf
    best = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1)
