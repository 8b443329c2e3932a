"""Node embedding of directed graphs: a source vector and a target vector for every node."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from .._core import Estimator, announce, atomic_fit, count_of, counted, gate, jobs, seed_of
from ..exceptions import RankWarning, quiet, warn
from ..io import read_graph
from ..kernels import Balance, Diffusion, Kernel, Walk
from ..nystrom import Nystrom
from .blend import Blend, weights_by_trials
from .decoder import EdgeDecoder, Formula, by_factors
from .kernel_choice import AUTO, Recipe, is_auto, recipes
from .learn_decoder import learned, learns_scores, with_better_ranking
from .new_edges import NewEdges, edges_of_new
from .node_index import NodeIndex
from .nodes import Degrees, Nodes, is_linked, known_nodes
from .parts import Part, Sides, fit_part, in_single, unit_or_short_rows
from .scoring import ScoresEdges
from .trials import mutual_share, trials

OF_KERNEL_SVD = ("solver", "tol", "random_state", "n_jobs", "memory_budget")  # parameters passed on


class DirectedGraphEmbedding(ScoresEdges, TransformerMixin, Estimator):
    """Embedding of a directed graph with a source vector and a target vector for every node.

    The default sees communities, roles and directions. It decomposes two kernels between the nodes: proximity, the
    square root of the probability that a random walk leads from i to j, and links, the adjacency itself. Both are put
    side by side with degrees, weighted by how well proximity predicts edges of the graph that it has not seen, and
    reduced to ``n_components``. Any other kernel is decomposed by itself, K = U diag(s) V', into source vectors
    U s^scaling and target vectors V s^scaling.

    Parameters
    ----------
    n_components : int, default=128
        Length of each of the two vectors; the number of nodes if it exceeds that, with a
        :class:`~lopsided.exceptions.RankWarning`.
    kernel : str, Kernel or callable, default="auto"
        "auto", the two kernels above; a graph kernel (:class:`~lopsided.kernels.Diffusion`,
        :class:`~lopsided.kernels.Katz`, :class:`~lopsided.kernels.NodeKernel`), to which ``fit`` gives the adjacency;
        or a kernel between vectors ("sne", "rbf", ...), which compares the rows of the adjacency with its columns. A
        callable f(X, Z) receives both as CSR arrays.
    self_loops : float, default=0.0
        Weight of a self-loop added to every node with edges before the kernel is computed. Kernels between vectors
        compare the out-neighbours of i with the in-neighbours of j, that is, paths of two edges from i to j; with
        self-loops a single edge from i to j also forms such a path.
    normalize : {"left", "right", "both"} or None, default=None
        Divide the adjacency by out-degrees, in-degrees or the square roots of both before the kernel is computed.
    center : bool or "auto", default="auto"
        Whether rows and columns of the kernel matrix are centred. "auto" centres kernels between vectors, which are
        nearly constant on a sparse graph, and no graph kernel.
    scaling : float, default=1.0
        Exponent of the singular values in the vectors.
    decoder : {"auto", "learned", "factors"}, default="auto"
        Score of an edge. "learned": a logistic regression on terms from the kernels, a step along an edge, degrees and
        the reverse edge. It is trained to tell other pairs from edges that were hidden from the embedding, a
        tenth of them at a time, uses as many components as tell these, and costs one more embedding or, on small
        graphs, up to ten. "factors": (U diag(s) V')_ij, of proximity if kernel="auto". "auto" is "learned", or
        "factors" if there are negative weights or fewer than two edges; ``nearest_targets`` then ranks by the learned
        scores or by "factors", whichever finds more of the hidden targets.
    unit_length : bool, default=True
        Scale the rows that ``fit_transform`` and ``transform`` return to unit length, so that later pipeline steps
        treat hubs like other nodes.
    solver : str or Nystrom, default="auto"
        Solver of :class:`KernelSVD`; "auto" chooses by the size of the graph and the memory budget.
    tol : float, default=0.5
        Acceptable error of the singular vectors, as in :class:`KernelSVD`; 0 means near machine precision, which no use
        of an embedding needs: near singular values mix their vectors first, and that changes no distance much.
    random_state : int, RandomState instance or None, default=None
        Seed of the solver and of the hidden edges; None means a fixed seed.
    n_jobs : int or None, default=None
        Number of threads; None uses one per core.
    memory_budget : float, str or None, default=None
        Memory for a kernel matrix, in bytes or as "2GB"; None is a quarter of the free memory.
    verbose : int, default=0
        1 reports on standard error how much work a fit is, and then its progress.

    Attributes
    ----------
    source_embedding_, target_embedding_ : arrays of shape (n_nodes, n_components)
        Source and target vectors; those of isolated nodes are zero.
    nodes_ : array of shape (n_nodes,)
        Node ids, in the order of the rows.
    singular_values_ : array
        s, descending, of the kernel or, for kernel="auto", of proximity.
    adjacency_ : scipy.sparse.csr_array
        Adjacency matrix of the graph passed to ``fit``.
    kernel_ : Kernel, or tuple of them for kernel="auto"
        The fitted kernel. Matrices of kernel values are not kept.
    weights_ : tuple of floats
        How much proximity and links count if kernel="auto", else (1.0,).
    solver_ : Choice
        Name of the solver, of proximity if kernel="auto", and the reason for it.
    ranking_ : {"learned", "factors"}
        What ranks the best targets of a node.
    reverse_score_ : float
        What the decoder adds to the score of an edge whose reverse is in the graph.
    n_features_in_ : int
        Number of nodes.

    Notes
    -----
    Time and memory grow with the number of edges, of nodes and of components. The default keeps about 64 values of
    proximity per node and computes in single precision. Small or densely filled kernel matrices are decomposed as dense
    arrays within the memory budget; larger ones never are.

    Examples
    --------
    >>> from lopsided import DirectedGraphEmbedding
    >>> from lopsided.datasets import make_citation_graph
    >>> graph, _ = make_citation_graph(300, random_state=0)
    >>> model = DirectedGraphEmbedding(n_components=16).fit(graph)
    >>> model.source_embedding_.shape, model.nearest_targets(0, k=2).shape
    ((300, 16), (2,))
    """

    _parameter_constraints: dict[str, Any] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "kernel": [str, Kernel, callable],
        "self_loops": [Interval(Real, 0, None, closed="left")],
        "normalize": [StrOptions({"left", "right", "both"}), None],
        "center": ["boolean", StrOptions({"auto"})],
        "scaling": [Interval(Real, None, None, closed="neither")],
        "decoder": [StrOptions({"auto", "learned", "factors"})],
        "unit_length": ["boolean"],
        "solver": [str, Nystrom],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "memory_budget": [Real, str, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_components: int = 128,
        *,
        kernel: Any = "auto",
        self_loops: float = 0.0,
        normalize: str | None = None,
        center: bool | str = "auto",
        scaling: float = 1.0,
        decoder: str = "auto",
        unit_length: bool = True,
        solver: Any = "auto",
        tol: float = 0.5,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_budget: float | str | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components, self.kernel, self.self_loops, self.normalize = n_components, kernel, self_loops, normalize
        self.center, self.scaling, self.decoder, self.unit_length = center, scaling, decoder, unit_length
        self.solver, self.tol, self.random_state = solver, tol, random_state
        self.n_jobs, self.memory_budget, self.verbose = n_jobs, memory_budget, verbose

    @atomic_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the source and target vectors of a graph.

        Parameters
        ----------
        X : sparse matrix, array, networkx graph, table of edges or path
            The graph, in any form that :func:`lopsided.graphs.read_graph` accepts; or one whose edges are in blocks on
            disk, from :func:`lopsided.distributed.store_graph`, for the kernels NodeKernel and Katz.
        y : ignored
            Present for scikit-learn API consistency.
        """
        self._validate_params()
        A, nodes = read_graph(X)
        k, seed = min(self.n_components, A.shape[0]), seed_of(self.random_state)
        wanted = recipes(self.kernel, A, k, self.center)
        self._check_graph(A)
        learns = learns_scores(self.decoder, A)
        computed, unit = in_single(A) if is_auto(self.kernel) else (A, 1.0)
        balance = self._balanced(computed)
        kernels = " and ".join(type(recipe.kernel).__name__ for recipe in wanted)
        size = f"{count_of(len(nodes), 'node')} and {count_of(A.nnz, 'edge')}"
        announce(lambda: f"embedding {size} in {count_of(k, 'component')} by {kernels}")
        with jobs(self.n_jobs, self.memory_budget):
            formula, weights = self._learned(wanted, computed, k, seed, learns)
            parts = self._parts(wanted, computed, balance)
            decoder = EdgeDecoder(formula, parts, known_nodes(parts, computed))
            blend = Blend.of(parts, decoder.known, weights, self.scaling, k, seed) if is_auto(self.kernel) else None
        self.adjacency_, self.nodes_, self.n_features_in_ = A, nodes, A.shape[0]
        self.kernel_ = tuple(part.kernel for part in parts) if is_auto(self.kernel) else parts[0].kernel
        self.solver_, self.singular_values_, self.weights_ = parts[0].solver, parts[0].s, weights
        self._parts_, self._blend, self._decoder = parts, blend, decoder
        self._balance, self._unit, self._nodes = balance, unit, NodeIndex(nodes)
        self.source_embedding_, self.target_embedding_ = self._vectors(decoder.known)
        return self

    @gate
    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit and return features of the nodes, shape (n_nodes, 2 n_components).

        They are source and target vectors side by side; for kernel="auto", the leading components of both together,
        which repeat nothing that a node's two vectors have in common. With ``set_output(transform="pandas")`` the node
        ids become the index of the DataFrame.
        """
        self.fit(X)
        return self._output(self._features(self._decoder.known), self.nodes_)

    @gate
    def transform(self, X: Any, in_edges: Any = None, *, unknown: str = "error") -> np.ndarray:
        """Embed new nodes, each by its own edges, and return their features as ``fit_transform`` does.

        Parameters
        ----------
        X : sparse matrix or array of shape (b, n_nodes), table of edges, or None
            Edges from the new nodes: row i holds the weights from new node i to every node, in the order of ``nodes_``;
            in a table (or a file or list of edges) sources are ids of new nodes, and targets ids of the graph or of
            other new nodes. With None kernels between vectors give zero source vectors.
        in_edges : the same, default=None
            Edges to the new nodes: row i holds the weights to new node i; in a table targets are ids of new nodes. With
            None kernels between vectors give zero target vectors.
        unknown : {"error", "ignore"}, default="error"
            Whether ids in tables that are neither nodes of the graph nor new nodes are an error, or their edges are
            left out with a warning.

        Returns
        -------
        array of shape (b, 2 n_components)
            One row per new node, in the order of the rows of X; for tables in order of first appearance, in X and then
            in ``in_edges``. A copy of a node, with both kinds of edges, gets the node's vectors, except as far as the
            kernel truncates small values.
        """
        check_is_fitted(self)
        new = edges_of_new(self._nodes, X, in_edges, self.adjacency_.dtype, unknown)
        return self._output(self._features(self._new_nodes(new)), new.ids)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the column names: source0, ..., target0, ...; node0, node1, ... for kernel="auto"."""
        check_is_fitted(self)
        k = self.source_embedding_.shape[1]
        sides = [("node", 2 * k)] if self._blend is not None else [("source", k), ("target", k)]
        return np.array([f"{side}{i}" for side, width in sides for i in range(width)], dtype=object)

    def _check_graph(self, A: sparse.csr_array) -> None:
        n = A.shape[0]
        if not A.nnz:
            raise ValueError(
                f"the graph has {count_of(n, 'node')} but no edges, so they cannot be told apart; give a graph with "
                "edges"
            )
        if self.n_components > n:
            warn(f"n_components={self.n_components} exceeds the number of nodes; keeping {n}", RankWarning)

    def _balanced(self, A: sparse.csr_array) -> Balance:
        return Balance(A, self.normalize, self.self_loops, isolated=~is_linked(A))

    def _parts(self, wanted: tuple[Recipe, ...], A: sparse.csr_array, balance: Balance) -> list[Part]:
        """Decompose every kernel on a graph."""
        settings: dict[str, Any] = {name: getattr(self, name) for name in OF_KERNEL_SVD}
        todo = counted(wanted, "kernels of the graph", len(wanted))
        return [fit_part(recipe, balance.matrix(A), ~balance.isolated, settings) for recipe in todo]

    def _learned(
        self, wanted: tuple[Recipe, ...], A: sparse.csr_array, k: int, seed: int, learns: bool
    ) -> tuple[Formula, tuple[float, ...]]:
        """The formula of scores and the weights of the parts, from embeddings of the graph without some of its edges.

        Nothing else of these is kept, so that memory never holds them beside the embedding of the graph.
        """
        seen = trials(A, seed) if is_auto(self.kernel) or learns else []
        narrow = tuple(recipe._replace(width=k) for recipe in wanted)
        with quiet():  # the graph itself will warn
            again = counted(seen, "copies of the graph with hidden edges", len(seen))
            tried = [self._parts(narrow, trial.adjacency, self._balanced(trial.adjacency)) for trial in again]
        formula = learned(tried, seen) if seen and learns else by_factors(len(wanted), k)
        if self.decoder == AUTO and formula.is_learned:
            formula = with_better_ranking(formula, tried, seen)
        if not is_auto(self.kernel):
            return formula, (1.0,)
        return formula, weights_by_trials(tried, seen, self.scaling, mutual_share(A))

    def _new_nodes(self, new: NewEdges) -> Nodes:
        """New nodes with their singular vectors in every part; edges among them lead on to known nodes."""
        outward, inward = (edges / self._unit for edges in new.to_known())
        rows, columns = self._balance.rows(outward), self._balance.columns(inward)
        with jobs(self.n_jobs, self.memory_budget):
            vectors = [part.of_new(rows, columns, new.given) for part in self._parts_]
        isolated = np.diff(outward.indptr) + np.diff(inward.indptr) == 0
        for source, target in vectors:
            source[isolated] = target[isolated] = 0
        return Nodes(vectors, Walk.on(abs(outward)).P, Degrees.of(outward, inward), inward)

    def _vectors(self, nodes: Nodes) -> Sides:
        """Source and target vectors of nodes."""
        if self._blend is not None:
            with jobs(self.n_jobs, self.memory_budget):
                source, target = self._blend.embedding(self._parts_, nodes)
        else:
            source, target = (side * self._parts_[0].power(self.scaling) for side in nodes.vectors[0])
        return Sides(*(side.astype(self.adjacency_.dtype, copy=False) for side in (source, target)))

    def _features(self, nodes: Nodes) -> np.ndarray:
        if self._blend is None:
            return np.hstack(self._vectors(nodes))
        with jobs(self.n_jobs, self.memory_budget):
            return self._blend.of_both(self._parts_, nodes).astype(self.adjacency_.dtype, copy=False)

    def _output(self, vectors: np.ndarray, ids: np.ndarray | None) -> Any:
        """Scale rows to unit length if requested; index pandas output by node ids, since rows of X may be edges."""
        if self.unit_length:
            vectors = unit_or_short_rows(vectors)
        if _get_output_config("transform", self)["dense"] != "pandas":
            return vectors
        import pandas as pd

        return pd.DataFrame(vectors, index=None if ids is None else pd.Index(ids, tupleize_cols=False))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # X is a graph: its rows are not samples, targets depend on its columns
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = True
        named = isinstance(self.kernel, str) and self.kernel in (AUTO, "diffusion")
        tags.input_tags.positive_only = named or isinstance(self.kernel, Diffusion)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def vectors_without_degrees(model: DirectedGraphEmbedding) -> Sides:
    """Source and target vectors without degrees, for plots, in which degrees would hide everything else.

    For kernel="auto" they are the features of proximity and links; for other kernels, the embedding itself.
    """
    if model._blend is None:
        return Sides(model.source_embedding_, model.target_embedding_)
    return Sides(*map(np.hstack, model._blend.of_parts(model._parts_, model._decoder.known)))
