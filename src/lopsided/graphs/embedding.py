"""Node embedding of directed graphs: a source vector and a target vector for every node."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from .._core import atomic_fit, by_rows, check_finite, gate, in_unit, jobs, row_lengths, safe_unit
from ..exceptions import FallbackWarning, RankWarning, warn
from ..io import read_graph
from ..kernel_svd import KernelSVD
from ..kernels import Balance, Diffusion, GraphKernel, Kernel
from ..nystrom import Nystrom
from ..svd import powers
from .decoder import EdgeDecoder, NewNodes
from .kernel_choice import AUTO, is_auto, wanted_kernel, warn_if_no_paths
from .node_index import NodeIndex
from .scoring import ScoresEdges

OF_KERNEL_SVD = ("scaling", "solver", "tol", "random_state", "n_jobs", "memory_budget")  # parameters passed on
ROUNDING_LENGTH = 10  # in units of eps: length beside the longest row up to which a row may be all rounding errors


class DirectedGraphEmbedding(ScoresEdges, TransformerMixin, BaseEstimator):
    """Embedding of a directed graph with a source vector and a target vector for every node.

    :class:`KernelSVD` decomposes a kernel matrix between the nodes, K = U diag(s) V'. Node i gets the source vector
    U[i] s^scaling and the target vector V[i] s^scaling.

    Parameters
    ----------
    n_components : int, default=128
        Length of each of the two vectors; the number of nodes if it exceeds that, with a
        :class:`~lopsided.exceptions.RankWarning`.
    kernel : str, Kernel or callable, default="auto"
        A graph kernel (:class:`~lopsided.kernels.Diffusion`, :class:`~lopsided.kernels.Katz`,
        :class:`~lopsided.kernels.NodeKernel`), to which ``fit`` gives the adjacency; or a kernel between vectors
        ("sne", "rbf", ...), which compares the rows of the adjacency with its columns. A callable f(X, Z) receives both
        as CSR arrays. "auto" is ``Diffusion(restart=0.2, direction="last", transform="root", threshold=1e-4)``.
    self_loops : float, default=0.0
        Weight of a self-loop added to every node with edges before the kernel is computed. Kernels between vectors
        compare the out-neighbours of i with the in-neighbours of j, that is, paths of two edges from i to j; with
        self-loops a single edge from i to j also forms such a path.
    normalize : {"left", "right", "both"} or None, default=None
        Divide the adjacency by out-degrees, in-degrees or the square roots of both before the kernel is computed.
    scaling : float, default=1.0
        Exponent of the singular values in the vectors. With 0.5 and decoder="factors" their inner products are the
        scores of edges; ``edge_vectors`` returns such vectors for any scaling and decoder.
    decoder : {"auto", "factors", "edges"}, default="auto"
        Score of an edge from i to j. "factors": F = U diag(s) V'. "edges": a_i (g_j (P F)_ij + b (1 + v_j)) with
        P = D^-1 A, a step along an edge from i, then the similarity F to j; for kernels that measure proximity rather
        than links, such as the default, and weights >= 0. The activity a is one plus the weight of a node's outgoing
        edges, in units of the mean weight; the visits v are its column sum of P; g = v / (v + 0.1); b makes the degree
        term 0.3 of the proximity term over all pairs. A node without outgoing edges has its row of F / 1000 instead of
        P F. "auto" is "edges" if kernel="auto" and "factors" otherwise.
    unit_length : bool, default=True
        Scale the rows that ``fit_transform`` and ``transform`` return to unit length, so that later pipeline steps
        treat hubs like other nodes.
    solver : str or Nystrom, default="auto"
        Solver of :class:`KernelSVD`; "auto" chooses by the size of the graph and the memory budget.
    tol : float, default=0.0
        Acceptable error of the singular vectors; 0 means near machine precision.
    random_state : int, RandomState instance or None, default=None
        Seed of the solver; None is a fixed one.
    n_jobs : int or None, default=None
        Number of threads; None uses one per core.
    memory_budget : float, str or None, default=None
        Memory for the kernel matrix, in bytes or as "2GB"; None is a quarter of the free memory.

    Attributes
    ----------
    source_embedding_, target_embedding_ : arrays of shape (n_nodes, n_components)
        Source and target vectors; those of isolated nodes are zero.
    nodes_ : array of shape (n_nodes,)
        Node ids, in the order of the rows.
    singular_values_ : array of shape (n_components,)
        s, descending.
    adjacency_ : scipy.sparse.csr_array
        Adjacency matrix of the graph passed to ``fit``.
    kernel_ : Kernel
        The fitted kernel.
    solver_ : Choice
        Name of the solver for K and the reason for it.
    n_features_in_ : int
        Number of nodes.

    Notes
    -----
    Memory and time grow with the number of edges and, for ``Diffusion``, with 1 / threshold per node. Small or densely
    filled kernel matrices are decomposed as dense arrays within the memory budget; larger ones never are.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import DirectedGraphEmbedding
    >>> A = np.array([[0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1], [1, 0, 0, 0]])
    >>> model = DirectedGraphEmbedding(n_components=2).fit(A)
    >>> model.source_embedding_.shape, model.nearest_targets(0, k=2)
    ((4, 2), array([3, 2]))
    """

    _parameter_constraints: dict[str, Any] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "kernel": [str, Kernel, callable],
        "self_loops": [Interval(Real, 0, None, closed="left")],
        "normalize": [StrOptions({"left", "right", "both"}), None],
        "scaling": [Interval(Real, None, None, closed="neither")],
        "decoder": [StrOptions({"auto", "factors", "edges"})],
        "unit_length": ["boolean"],
        "solver": [str, Nystrom],
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
        scaling: float = 1.0,
        decoder: str = "auto",
        unit_length: bool = True,
        solver: Any = "auto",
        tol: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_budget: float | str | None = None,
    ) -> None:
        self.n_components, self.kernel, self.self_loops = n_components, kernel, self_loops
        self.normalize, self.scaling, self.decoder, self.unit_length = normalize, scaling, decoder, unit_length
        self.solver, self.tol, self.random_state = solver, tol, random_state
        self.n_jobs, self.memory_budget = n_jobs, memory_budget

    @atomic_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the source and target vectors of a graph.

        Parameters
        ----------
        X : sparse matrix, array, networkx graph, table of edges or path
            The graph, in any form that :func:`lopsided.graphs.read_graph` accepts.
        y : ignored
            Present for scikit-learn API consistency.
        """
        self._validate_params()
        A, nodes = read_graph(X)
        kernel = wanted_kernel(self.kernel, A)
        self._check_graph(A)
        linked = (np.diff(A.indptr) > 0) | (np.bincount(A.indices, minlength=A.shape[0]) > 0)
        balance = Balance(A, self.normalize, self.self_loops, isolated=~linked)
        svd = self._decomposed(by_rows(balance.matrix(A)), kernel)
        self.adjacency_, self.nodes_, self.n_features_in_ = A, nodes, A.shape[0]
        self.kernel_, self.solver_, self.singular_values_ = svd.kernel_, svd.solver_, svd.singular_values_
        self._balance, self._nodes = balance, NodeIndex(nodes)
        self._svd = None if isinstance(svd.kernel_, GraphKernel) else svd
        weights = self._powers(self.scaling) * linked[:, None]
        self.source_embedding_, self.target_embedding_ = svd.left_vectors_ * weights, svd.right_vectors_ * weights
        self._decoder = self._chosen_decoder()
        return self

    @gate
    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit and return source and target vectors side by side, shape (n_nodes, 2 n_components).

        With ``set_output(transform="pandas")`` the node ids become the index of the DataFrame.
        """
        self.fit(X)
        return self._output(np.hstack([self.source_embedding_, self.target_embedding_]), self.nodes_)

    @gate
    def transform(self, X: Any, in_edges: Any = None) -> np.ndarray:
        """Embed new nodes, each by its own edges: source and target vectors side by side.

        Parameters
        ----------
        X : sparse matrix or array of shape (b, n_nodes), table of edges, or None
            Edges from the new nodes: row i holds the weights from new node i to every node, in the order of ``nodes_``;
            in a table (or a file or list of edges) sources are ids of new nodes and targets ids of the graph. With None
            kernels between vectors give zero source vectors.
        in_edges : the same, default=None
            Edges to the new nodes: row i holds the weights to new node i; in a table targets are ids of new nodes. With
            None kernels between vectors give zero target vectors.

        Returns
        -------
        array of shape (b, 2 n_components)
            One row per new node, in the order of the rows of X; for tables in order of first appearance, in X and then
            in ``in_edges``. A copy of a node, with both kinds of edges, gets the node's vectors, except as far as the
            kernel truncates small values.
        """
        check_is_fitted(self)
        new = self._embed_new(X, in_edges)
        return self._output(np.hstack([new.source, new.target]), new.ids)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the column names source0, source1, ..., target0, target1, ..."""
        check_is_fitted(self)
        k = len(self.singular_values_)
        return np.array([f"{side}{i}" for side in ("source", "target") for i in range(k)], dtype=object)

    def _check_graph(self, A: sparse.csr_array) -> None:
        n = A.shape[0]
        if not A.nnz:
            raise ValueError(f"the graph has {n} nodes and no edge, so nothing tells them apart; give one with edges")
        if self.n_components > n:
            warn(f"n_components={self.n_components} exceeds the number of nodes; {n} are kept", RankWarning)
        if self.decoder == "edges" and A.data.min() < 0:
            raise ValueError(
                f"decoder='edges' takes steps with probabilities P = D^-1 A, for which weights must be >= 0, but the "
                f"least is {A.data.min():g}; use decoder='factors'"
            )

    def _decomposed(self, A: sparse.csr_array, kernel: Kernel) -> KernelSVD:
        """Kernel SVD of the balanced graph."""
        warn_if_no_paths(kernel, A)
        passed_on: dict[str, Any] = {name: getattr(self, name) for name in OF_KERNEL_SVD}
        svd = KernelSVD(min(self.n_components, A.shape[0]), kernel=kernel, **passed_on).set_output(transform="default")
        if isinstance(kernel, GraphKernel):
            kernel.set_params(adjacency=A)
            if "memory_budget" in kernel.get_params() and kernel.memory_budget is None:
                kernel.set_params(memory_budget=self.memory_budget)
            nodes = np.arange(A.shape[0], dtype=float)[:, None]
            svd.fit(nodes, Z=nodes)
        else:
            svd.fit(A)
        if svd.solver_.over_budget:
            warn(f"{svd.solver_}; raise memory_budget to be faster", FallbackWarning)
        return svd

    def _chosen_decoder(self) -> EdgeDecoder:
        vectors = self.source_embedding_, self.target_embedding_, self._powers(1 - 2 * self.scaling)
        if self.decoder == "edges" or (self.decoder == "auto" and is_auto(self.kernel)):
            return EdgeDecoder.along_edges(*vectors, self.adjacency_)
        return EdgeDecoder(*vectors)

    def _embed_new(self, X: Any, in_edges: Any) -> NewNodes:
        """New nodes with vectors k(new, known) V s^(scaling - 1) and k(known, new)' U s^(scaling - 1)."""
        ids, outward, inward = self._nodes.edges_of_new(X, in_edges, self.adjacency_.dtype)
        rows, columns = self._balance.rows(outward), self._balance.columns(inward)
        with jobs(self.n_jobs):
            if self._svd is None:
                unit = safe_unit(self._powers(self.scaling))  # bounds the entries of both embeddings
                weights = unit * self._powers(-1)
                source = self.kernel_.left_products(rows, columns, in_unit(self.target_embedding_, unit)) * weights
                target = self.kernel_.right_products(rows, columns, in_unit(self.source_embedding_, unit)) * weights
            else:
                nothing = np.zeros((rows.shape[0], len(self.singular_values_)), dtype=self.source_embedding_.dtype)
                source = nothing if X is None else self._svd.transform(rows)
                target = nothing if in_edges is None else self._svd.transform_right(columns)
        isolated = np.diff(outward.indptr) + np.diff(inward.indptr) == 0
        source[isolated] = target[isolated] = 0
        check_finite(source)
        check_finite(target)
        return NewNodes(ids, outward, inward, source, target)

    def _output(self, vectors: np.ndarray, ids: np.ndarray | None) -> Any:
        """Scale rows to unit length if requested; index pandas output by node ids, since rows of X may be edges."""
        if self.unit_length:
            vectors = _unit_rows(vectors)
        if _get_output_config("transform", self)["dense"] != "pandas":
            return vectors
        import pandas as pd

        return pd.DataFrame(vectors, index=None if ids is None else pd.Index(ids, tupleize_cols=False))

    def _powers(self, exponent: float) -> np.ndarray:
        return powers(self.singular_values_, exponent, self.adjacency_.shape[0])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # X is a graph: its rows are not samples, targets depend on its columns
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = True
        named = isinstance(self.kernel, str) and self.kernel in (AUTO, "diffusion")
        tags.input_tags.positive_only = named or isinstance(self.kernel, Diffusion)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Scale rows to length one; rows that are rounding errors beside the longest have no direction and stay short."""
    lengths = row_lengths(vectors)
    longest = lengths.max(initial=0)
    has_direction = lengths > ROUNDING_LENGTH * np.finfo(lengths.dtype).eps * longest
    return vectors / np.where(has_direction, lengths, longest or 1)[:, None]
