"""What a fit costs on a machine that is busy with something else.

    python benchmarks/busy_machine.py fits      128 components of the Pubmed graph (data beside the project, or in
                                                $LOPSIDED_DATA)
    python benchmarks/busy_machine.py blas      generated tables, with one thread of BLAS as we keep it, and with two
    python benchmarks/busy_machine.py --smoke   seconds of it on small generated data

Protocol: every fit once alone and once beside processes in a busy loop, taking turns; medians. "fits" has two such
processes: on two cores a fair scheduler leaves half of the machine, a factor of 2; the bound that we keep is 3. "blas"
has one. They have sessions of their own, as programs in other windows do: the scheduler of Linux shares cores among
sessions. The record holds the load of the machine before the run, since anything else that runs spoils both columns.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np
from sklearn.datasets import make_classification

from common import clock, load_graph, main, print_table
from lopsided import AsymmetricLSSVC, AsymmetricLSSVR, DirectedGraphEmbedding, KernelSVD
from lopsided.datasets import make_citation_graph

SEED = 0
COMPONENTS = 128


def fits(smoke: bool) -> dict[str, Any]:
    """Seconds alone and beside busy processes, and their ratio, of each estimator."""
    A = make_citation_graph(300, random_state=SEED)[0] if smoke else load_graph("pubmed")
    k, repeats, load = (20, 1, None) if smoke else (COMPONENTS, 5, os.getloadavg()[0])
    tasks: dict[str, Callable[[], Any]] = {
        "KernelSVD": lambda: KernelSVD(k, kernel="sne").fit(A),
        "DirectedGraphEmbedding": lambda: DirectedGraphEmbedding(k).fit(A),
    }
    return {"load": load, **shown(f"{A.shape[0]:,} nodes, {k} components, seconds", tasks, 2, repeats)}


def blas(smoke: bool) -> dict[str, Any]:
    """Seconds of fits that decompose matrices of one to two thousand rows, by the threads that BLAS has for it."""
    n, repeats, load = (150, 1, None) if smoke else (1500, 3, os.getloadavg()[0])
    X, y = make_classification(n, 20, n_informative=10, random_state=SEED)
    square = np.random.default_rng(SEED).standard_normal((n, n))
    tasks: dict[str, Callable[[], Any]] = {
        "AsymmetricLSSVC": lambda: AsymmetricLSSVC().fit(X, y),
        "AsymmetricLSSVR": lambda: AsymmetricLSSVR().fit(X, X[:, 0]),
        "KernelSVD": lambda: KernelSVD(n // 2, kernel="sne").fit(square),
    }
    found: dict[str, Any] = {"load": load, "one": shown(f"{n:,} samples, one thread of BLAS", tasks, 1, repeats)}
    modules = [sys.modules[f"lopsided._core.{name}"] for name in ("decompositions", "atomic_fit")]
    with ExitStack() as stack:
        for module in modules:
            stack.enter_context(mock.patch.object(module, "ONE_THREAD", 0))
        found["several"] = shown(f"{n:,} samples, as many threads of BLAS as it takes", tasks, 1, repeats)
    return found


def shown(title: str, tasks: dict[str, Callable[[], Any]], neighbours: int, repeats: int) -> dict[str, Any]:
    """Print and return the times of tasks alone and beside so many busy processes."""
    found = {name: side_by_side(task, neighbours, repeats) for name, task in tasks.items()}
    headings = ["alone", "busy", "ratio"]
    print_table(title, ["fit", *headings], [[name, *(row[each] for each in headings)] for name, row in found.items()])
    return found


def side_by_side(task: Callable[[], Any], neighbours: int, repeats: int) -> dict[str, float]:
    """Median seconds of a task alone and beside busy processes, after a first run that is not counted."""
    task()
    alone, busy = [], []
    for _ in range(repeats):
        alone.append(clock(task, 1)[0])
        with busy_processes(neighbours):
            busy.append(clock(task, 1)[0])
    medians = {"alone": statistics.median(alone), "busy": statistics.median(busy)}
    return medians | {"ratio": medians["busy"] / medians["alone"]}


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Keep processes in a busy loop for as long as the context lasts."""
    command = [sys.executable, "-c", "print(flush=True)\nwhile True: pass"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) for _ in range(count)]
    try:
        for process in processes:
            assert process.stdout is not None
            process.stdout.readline()  # it has started
        yield
    finally:
        for process in processes:
            process.kill()
            process.communicate()


if __name__ == "__main__":
    main(__file__, __doc__, {"fits": fits, "blas": blas}, seed=SEED)
