"""CPU seconds from an interrupt until a fit has stopped: at most a step of an iteration, or one call of LAPACK."""

import signal
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from common import main, print_table
from lopsided import AsymmetricLSSVC, DirectedGraphEmbedding, KernelRecommender, KernelSVD, Nystrom, PriorNystroem
from lopsided.datasets import make_citation_graph

SEED = 0
SETTLING = 0.2  # seconds after which the threads of the pool are idle
MOMENTS = (0.1, 0.3, 0.5, 0.7, 0.9)  # shares of a fit after which it is interrupted

Fit = Callable[[], object]


def stop(*_: object) -> None:
    """What Python does on Ctrl-C."""
    raise KeyboardInterrupt


def fits(n: int) -> dict[str, Fit]:
    """Fits of every kind; the large matrices of the last four are decomposed by single calls of LAPACK."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((4 * n, 20))
    y = rng.integers(0, 2, 4 * n)
    A = make_citation_graph(10 * n, random_state=SEED)[0]
    seen = (rng.random((n, n)) < 0.02).astype(float)
    few = np.where(rng.random(4 * n) < 0.1, y, -1)

    def lapack(size: int) -> Fit:
        return lambda: KernelSVD(16, solver="lapack", n_jobs=1).fit(X[:size], Z=X[:size] + 1)

    def machine(size: int) -> Fit:
        return lambda: AsymmetricLSSVC(kernel="sne", n_jobs=1).fit(X[:size], y[:size])

    return {
        "KernelSVD, sparse": lambda: KernelSVD(64, kernel="sne", n_jobs=1).fit(A),
        "KernelSVD, dense, in blocks": lambda: KernelSVD(16, memory_budget="8MB", n_jobs=1).fit(X, Z=X + 1),
        "KernelSVD, Nystrom": lambda: KernelSVD(16, solver=Nystrom(min(1000, n)), n_jobs=1).fit(X, Z=X + 1),
        "DirectedGraphEmbedding": lambda: DirectedGraphEmbedding(64, n_jobs=1).fit(A),
        "KernelRecommender": lambda: KernelRecommender(n_jobs=1).fit(seen),
        "PriorNystroem": lambda: PriorNystroem(n_jobs=1).fit(X, few),
        f"KernelSVD, lapack, n = {n:,}": lapack(n),
        f"KernelSVD, lapack, n = {2 * n:,}": lapack(2 * n),
        f"AsymmetricLSSVC, n = {n:,}": machine(n),
        f"AsymmetricLSSVC, n = {2 * n:,}": machine(2 * n),
    }


def waits(fit: Fit) -> dict[str, float]:
    """CPU seconds of a fit, and the longest wait of several interrupts, after which no thread may be at work."""
    start = time.process_time()
    fit()
    whole = time.process_time() - start
    longest = 0.0
    before = signal.signal(signal.SIGPROF, stop)
    for moment in MOMENTS:
        due = time.process_time() + max(moment * whole, 1e-3)
        try:
            signal.setitimer(signal.ITIMER_PROF, max(moment * whole, 1e-3))
            fit()
        except KeyboardInterrupt:
            longest = max(longest, time.process_time() - due)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)
    time.sleep(SETTLING)
    busy = time.process_time()
    time.sleep(SETTLING)
    assert time.process_time() - busy < SETTLING / 2, "an interrupted fit goes on computing"
    return {"seconds": whole, "longest_wait": longest}


def interrupt(smoke: bool) -> list[dict[str, object]]:
    """One row for each fit."""
    with threadpool_limits(1):  # CPU seconds of one thread are what a clock shows on an idle machine
        rows = [{"fit": name, **waits(fit)} for name, fit in fits(60 if smoke else 1_000).items()]
    table = [[row["fit"], row["seconds"], row["longest_wait"]] for row in rows]
    print_table("Interrupts", ["fit", "fit, CPU s", "longest wait, CPU s"], table)
    return rows


if __name__ == "__main__":
    main(__file__, __doc__, {"interrupt": interrupt}, seed=SEED)
