"""Seconds and memory of the command line: its help, `embed` against the same calls of the library, 2 million edges."""

import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from common import clock, in_child, load_graph, main, peak_bytes, print_table
from lopsided import DirectedGraphEmbedding
from lopsided.datasets import make_citation_graph
from lopsided.io import write_vectors

SEED = 0
COMMAND = [sys.executable, "-m", "lopsided"]
COMPONENTS = 128
LARGE = ("", "--kernel node_kernel -k 32")  # options: the default, and the SVD of the adjacency itself


def write_edges(path: Path, rows: np.ndarray, columns: np.ndarray) -> None:
    """A CSV file of edges between named nodes."""
    pd.DataFrame({"source": rows, "target": columns}).astype(str).radd("n").to_csv(path, index=False)


def run(*arguments: object) -> float:
    """Seconds of a command in a process of its own."""
    return clock(lambda: subprocess.run([*COMMAND, *map(str, arguments)], check=True, capture_output=True), 1)[0]


def help_text(smoke: bool) -> dict[str, float]:
    """Median seconds of `lopsided --help`, beside those of an empty interpreter."""
    repeats = 1 if smoke else 15
    seconds = {
        "lopsided --help": statistics.median(run("--help") for _ in range(repeats)),
        "python -c pass": clock(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), repeats)[0],
    }
    print_table("Help, seconds", list(seconds), [list(seconds.values())])
    return seconds


def in_library(path: str, output: str, components: str) -> dict[str, float]:
    """The same by calls, in a process that has imported the library."""
    DirectedGraphEmbedding(2).fit([("a", "b"), ("b", "a")])
    start = time.perf_counter()
    write_vectors(DirectedGraphEmbedding(int(components), random_state=0).fit(path), output)
    return {"seconds": time.perf_counter() - start}


def embed(smoke: bool) -> dict[str, object]:
    """`lopsided embed` of Pubmed against the library."""
    A = make_citation_graph(300, random_state=SEED)[0] if smoke else load_graph("pubmed")
    k, repeats = (4, 1) if smoke else (COMPONENTS, 3)
    with TemporaryDirectory() as folder:
        path, output = Path(folder) / "edges.csv", Path(folder) / "vectors.parquet"
        write_edges(path, *A.nonzero())
        ours, theirs = [], []
        for _ in range(repeats):
            ours.append(run("embed", path, "-k", k, "-o", output, "--force"))
            theirs.append(in_child(__file__, "in_library", path, output, k)["seconds"])
    found = {"command": statistics.median(ours), "library": statistics.median(theirs)}
    found["ratio"] = found["command"] / found["library"]
    print_table(f"embed, {A.shape[0]:,} nodes, {A.nnz:,} edges, k = {k}, seconds", list(found), [list(found.values())])
    return found


def measured(path: str, output: str, options: str) -> dict[str, float]:
    """`lopsided embed` within this process, whose memory is measured."""
    from lopsided.cli import main as command

    start = time.perf_counter()
    code = command(["embed", path, "-o", output, "-q", *options.split()])
    return {"code": code, "seconds": time.perf_counter() - start, "bytes": peak_bytes()}


def large(smoke: bool) -> list[dict[str, object]]:
    """Two million edges between 400,000 nodes, from CSV to Parquet: with the default, and by a plain SVD."""
    n, edges = (300, 2_000) if smoke else (400_000, 2_000_000)
    rng = np.random.default_rng(SEED)
    rows = rng.integers(0, n, edges)
    columns = np.minimum((rng.pareto(1.5, edges) * n / 50).astype(int), n - 1)
    found = []
    with TemporaryDirectory() as folder:
        path, output = Path(folder) / "edges.csv", Path(folder) / "vectors.parquet"
        write_edges(path, rows, columns)
        for options in LARGE:
            output.unlink(missing_ok=True)
            costs = in_child(__file__, "measured", path, output, options)
            found.append(
                {
                    "command": f"lopsided embed edges.csv {options}".strip(),
                    **costs,
                    "output_bytes": output.stat().st_size,
                }
            )
    table = [[row["command"], row["seconds"], row["bytes"] / 1e9, row["output_bytes"] / 1e9] for row in found]
    print_table(f"{edges:,} edges between {n:,} nodes", ["command", "seconds", "peak GB", "file, GB"], table)
    return found


if __name__ == "__main__":
    parts = {"help": help_text, "embed": embed, "large": large}
    main(__file__, __doc__, parts, {"in_library": in_library, "measured": measured}, seed=SEED)
