"""CPU seconds of a fit alone, with the library's bar and with a callback of scikit-learn; how often the bar moves."""

import io
import statistics
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial

import numpy as np

from common import main, print_table
from lopsided import DirectedGraphEmbedding, KernelSVD, Nystrom, show_progress
from lopsided.datasets import make_citation_graph

SEED = 0


class Counting:
    """A callback that counts what it hears."""

    heard = 0

    def setup(self, estimator: object, context: object) -> None:
        """Nothing to prepare."""

    def teardown(self, estimator: object, context: object) -> None:
        """Nothing to close."""

    def on_fit_task_begin(self, estimator: object, context: object) -> None:
        """Count."""
        self.heard += 1

    def on_fit_task_end(self, estimator: object, context: object) -> None:
        """Count."""
        self.heard += 1


def fit(
    model: KernelSVD, data: tuple[object, object], callbacks: tuple[Counting, ...] = (), shown: bool = False
) -> None:
    """Fit with some callbacks, or under the bar."""
    model.set_callbacks(*callbacks)
    with show_progress(io.StringIO()) if shown else nullcontext():
        model.fit(data[0], Z=data[1])


def cpu_seconds(tasks: dict[str, Callable[[], None]], repeats: int) -> dict[str, float]:
    """Median CPU seconds of tasks that take turns; the wall clock of a busy machine varies too much."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repeats):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            seconds[name].append(time.process_time() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def overhead(smoke: bool) -> list[dict[str, object]]:
    """A Krylov fit of many short steps, blocks of a dense matrix, and passes over landmarks."""
    n, repeats = (300, 1) if smoke else (12_000, 7)
    A = make_citation_graph(n, random_state=SEED)[0]
    X = np.random.default_rng(SEED).standard_normal((n, 20))
    some = X[: n // 3]
    models = {
        "sparse, Krylov": (KernelSVD(32, kernel="sne", n_jobs=1), (A, None)),
        "dense blocks, Krylov": (KernelSVD(4, kernel="rbf", memory_budget="20MB", n_jobs=1), (some, some)),
        "Nystrom": (KernelSVD(8, kernel="rbf", solver=Nystrom(200), n_jobs=1), (X, X)),
    }
    rows = []
    for name, case in models.items():
        callback = Counting()
        tasks = {
            "nobody": partial(fit, *case),
            "bar": partial(fit, *case, shown=True),
            "callback": partial(fit, *case, (callback,)),
        }
        rows.append({"fit": name, **cpu_seconds(tasks, repeats), "heard": callback.heard // repeats})
    table = [[r["fit"], r["nobody"], r["bar"] / r["nobody"], r["callback"] / r["nobody"], r["heard"]] for r in rows]
    print_table("Overhead of progress", ["fit", "CPU seconds", "bar, ratio", "callback, ratio", "tasks told"], table)
    return rows


class Clock(io.StringIO):
    """A stream that notes when it is written to."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def write(self, text: str) -> int:
        """Note the time."""
        self.times.append(time.perf_counter())
        return len(text)


def moves(smoke: bool) -> dict[str, float]:
    """The longest time in which the bar stands still, in a fit of about a minute."""
    A = make_citation_graph(300 if smoke else 150_000, random_state=SEED)[0]
    clock, start = Clock(), time.perf_counter()
    with show_progress(clock):
        DirectedGraphEmbedding(128).fit(A)
    times = [start, *clock.times, time.perf_counter()]
    found = {"fit": times[-1] - start, "longest_gap": float(np.diff(times).max())}
    print_table("The bar", ["fit, s", "longest time without a move, s"], [list(found.values())])
    return found


if __name__ == "__main__":
    main(__file__, __doc__, {"overhead": overhead, "moves": moves}, seed=SEED)
