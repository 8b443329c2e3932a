"""Resolution and validation of the ``kernel`` parameter of DirectedGraphEmbedding."""

from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import LopsidedWarning, warn
from ..io import read_graph
from ..kernels import Diffusion, GraphKernel, Kernel, as_kernel

AUTO = "auto"
# Chosen on the graphs of docs/graphs_table1.md; `python benchmarks/graphs_table1.py ablation` changes it.
DEFAULT_KERNEL = Diffusion(restart=0.2, direction="last", transform="root", threshold=1e-4)


def is_auto(kernel: Any) -> bool:
    """Whether the kernel is "auto"."""
    return isinstance(kernel, str) and kernel == AUTO


def wanted_kernel(kernel: Any, A: sparse.csr_array) -> Kernel:
    """The unfitted kernel; those that combine graph kernels, or have an adjacency other than A, are refused."""
    kernel = as_kernel(DEFAULT_KERNEL if is_auto(kernel) else kernel)
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
                f"the adjacency of {type(kernel).__name__}, {own.shape[0]} nodes and {own.nnz} edges, is not the "
                f"graph, {A.shape[0]} nodes and {A.nnz} edges; leave it out, since fit supplies the graph, or fit "
                "KernelSVD on node numbers, nodes = np.arange(n)[:, None], as X and Z"
            )
    return kernel


def warn_if_no_paths(kernel: Kernel, A: sparse.csr_array) -> None:
    """Warn if a kernel of vectors, whose inner products count paths of two edges, meets a graph without any."""
    if not isinstance(kernel, GraphKernel) and not np.diff(A.indptr)[A.indices].any():
        warn(
            "no node has both incoming and outgoing edges, so there is no path of two edges, and kernels between "
            "vectors cannot tell nodes apart; use self_loops=1.0, or a graph kernel",
            LopsidedWarning,
        )
