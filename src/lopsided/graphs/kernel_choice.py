"""Resolution and validation of the ``kernel`` parameter of DirectedGraphEmbedding: the parts of an embedding."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._core import AdjacencyBlocks
from ..exceptions import LopsidedWarning, warn
from ..io import read_graph
from ..kernels import Diffusion, GraphKernel, Katz, Kernel, NodeKernel, as_kernel

AUTO = "auto"
FACTORS, STEP, COSINE = "factors", "step", "cosine"  # what a decoder may use of a part, see EdgeDecoder
LEARNED = "learned"  # the decoder that weighs them
OF_BLOCKS = (NodeKernel, Katz)  # kernels that need products with the adjacency alone
# Chosen on the first half of the graphs of benchmarks/graphs_nodes.py, whose `ablation` changes them one at a time.
PROXIMITY = Diffusion(restart=0.2, direction="last", transform="root", threshold=None)
LINKS = NodeKernel(binary=True)
PROXIMITY_WIDTH, LINKS_WIDTH = 2, 1  # ranks of the parts, in units of n_components


class Recipe(NamedTuple):
    """A kernel between the nodes, its rank, whether it is centred, and what the decoder may use of it."""

    kernel: Kernel
    width: int
    center: bool
    terms: tuple[str, ...] = (FACTORS, STEP, COSINE)


def is_auto(kernel: Any) -> bool:
    """Whether the kernel is "auto"."""
    return isinstance(kernel, str) and kernel == AUTO


def recipes(kernel: Any, A: sparse.csr_array, k: int, center: bool | str) -> tuple[Recipe, ...]:
    """What is to be decomposed: the kernel, or for "auto" a kernel of proximity and one of links."""
    if isinstance(A, AdjacencyBlocks):
        _check_for_blocks(kernel)
    if is_auto(kernel):
        return Recipe(PROXIMITY, PROXIMITY_WIDTH * k, False), Recipe(LINKS, LINKS_WIDTH * k, False, (COSINE,))
    kernel = wanted_kernel(kernel, A)
    is_graph_kernel = isinstance(kernel, GraphKernel)
    return (Recipe(kernel, k, not is_graph_kernel if center == AUTO else bool(center)),)


def wanted_kernel(kernel: Any, A: sparse.csr_array) -> Kernel:
    """The unfitted kernel; those that combine graph kernels, or have an adjacency other than A, are refused."""
    kernel = as_kernel(kernel)
    if not isinstance(kernel, GraphKernel):
        if any(isinstance(part, GraphKernel) for part in kernel.get_params().values()):
            raise ValueError(
                f"kernel={kernel} combines graph kernels and cannot embed new nodes; give each of them its adjacency "
                "and fit KernelSVD on node numbers, nodes = np.arange(n)[:, None], as X and Z"
            )
    elif kernel.adjacency is not None:
        own = read_graph(kernel.adjacency).adjacency
        if own.shape != A.shape or (own != A).nnz:
            raise ValueError(
                f"the adjacency of {type(kernel).__name__} ({own.shape[0]} nodes, {own.nnz} edges) is not that of the "
                f"graph ({A.shape[0]} nodes, {A.nnz} edges); leave it out, since fit supplies the graph, or fit "
                "KernelSVD on node numbers, nodes = np.arange(n)[:, None], as X and Z"
            )
    return kernel


def _check_for_blocks(kernel: Any) -> None:
    """Refuse kernels that need more of a graph in blocks than products with it."""
    known = as_kernel(kernel) if not is_auto(kernel) else None
    if not isinstance(known, OF_BLOCKS) or known.adjacency is not None:
        raise ValueError(
            f"kernel={kernel!r} needs all edges in memory, but those of this graph are in blocks; use kernel=Katz() "
            "or kernel=NodeKernel() of lopsided.kernels, without an adjacency"
        )


def warn_if_no_paths(kernel: Kernel, A: sparse.csr_array) -> None:
    """Warn if a kernel of vectors, whose inner products count paths of two edges, gets a graph without such paths."""
    if not isinstance(kernel, GraphKernel) and not np.diff(A.indptr)[A.indices].any():
        warn(
            "no node has both incoming and outgoing edges, so there is no path of two edges, and kernels between "
            "vectors cannot tell nodes apart; use self_loops=1.0, or a graph kernel",
            LopsidedWarning,
        )
