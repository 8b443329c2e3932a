"""CPU seconds that the library's bar and a callback of scikit-learn add to fits; how often the bar moves.

The difference between two fits of a busy machine varies by more than what is measured. So the time within the listener
is added up, call by call, and what is done once in a fit is measured on a tiny one.
"""

import io
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial, wraps

import numpy as np
from threadpoolctl import threadpool_limits

from common import main, print_table
from lopsided import DirectedGraphEmbedding, KernelSVD, Nystrom, show_progress
from lopsided._core.bar import Bar
from lopsided._core.callbacks import Tasks
from lopsided.datasets import make_citation_graph

SEED = 0
HAS_CALLBACKS = hasattr(KernelSVD, "set_callbacks")  # scikit-learn >= 1.9
HEARD = ("begin", "advance", "end", "announce")
TINY = np.eye(5)  # a fit of this takes a millisecond


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
    if HAS_CALLBACKS:
        model.set_callbacks(*callbacks)
    with show_progress(io.StringIO()) if shown else nullcontext():
        model.fit(data[0], Z=data[1])


def clock_seconds(calls: int = 10_000) -> float:
    """CPU seconds that reading the clock takes, which is longer than most of what it measures here."""
    start = time.thread_time()
    for _ in range(calls):
        time.thread_time()
    return (time.thread_time() - start) / calls


@contextmanager
def seconds_within(listener: type) -> Iterator[list[float]]:
    """Collect the CPU seconds of each call by which a class of listeners is told something."""
    found: list[float] = []
    clock = clock_seconds()
    plain = {name: getattr(listener, name) for name in HEARD}

    def timed(name: str) -> object:
        @wraps(plain[name])
        def heard(*args: object) -> None:
            start = time.thread_time()
            plain[name](*args)
            found.append(time.thread_time() - start - clock)

        return heard

    for name in HEARD:
        setattr(listener, name, timed(name))
    try:
        yield found
    finally:
        for name in HEARD:
            setattr(listener, name, plain[name])


def fixed_seconds(repeats: int, **how: object) -> float:
    """Mean CPU seconds that a tiny fit takes longer if somebody listens."""
    seconds = {True: 0.0, False: 0.0}
    for _ in range(repeats):
        for told in seconds:
            start = time.process_time()
            fit(KernelSVD(2), (TINY, TINY), **(how if told else {}))
            seconds[told] += time.process_time() - start
    return (seconds[True] - seconds[False]) / repeats


@threadpool_limits.wrap(limits=1)
def overhead(smoke: bool) -> list[dict[str, object]]:
    """A Krylov fit of many short steps, blocks of a dense matrix, and passes over landmarks."""
    n, repeats = (300, 1) if smoke else (12_000, 10)
    A = make_citation_graph(n, random_state=SEED)[0]
    X = np.random.default_rng(SEED).standard_normal((n, 20))
    some = X[: n // 3]
    models = {
        "sparse, Krylov": (KernelSVD(32, kernel="sne", n_jobs=1), (A, None)),
        "dense blocks, Krylov": (KernelSVD(4, kernel="rbf", memory_budget="20MB", n_jobs=1), (some, some)),
        "Nystrom": (KernelSVD(8, kernel="rbf", solver=Nystrom(200), n_jobs=1), (X, X)),
    }
    callback = Counting()
    ways = {"bar": (Bar, {"shown": True})}
    if HAS_CALLBACKS:
        ways["callback"] = Tasks, {"callbacks": (callback,)}
    fixed = {way: fixed_seconds(20 * repeats, **how) for way, (_, how) in ways.items()}
    rows = []
    for name, case in models.items():
        row: dict[str, object] = {"fit": name, "alone": least_seconds(partial(fit, *case), repeats)}
        for way, (listener, how) in ways.items():
            with seconds_within(listener) as found:
                for _ in range(repeats):
                    fit(*case, **how)
            row |= {way: sum(found) / repeats + fixed[way], f"{way} told": len(found) // repeats}
        rows.append(row)
    headings = [f"{way}{what}" for way in ways for what in (", ms", ", share", ", calls")]
    table = [
        [row["fit"], row["alone"]]
        + [each for way in ways for each in (1e3 * row[way], row[way] / row["alone"], row[f"{way} told"])]
        for row in rows
    ]
    print_table("Overhead of progress", ["fit", "CPU seconds", *headings], table)
    return rows


def least_seconds(task: partial[None], repeats: int) -> float:
    """Least CPU seconds of a task."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        task()
        found.append(time.process_time() - start)
    return min(found)


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
