"""What reading a graph from CSV costs: two million edges with string ids, beside pyarrow and pandas.

    python benchmarks/read_edges.py            the file is generated in a temporary folder
    python benchmarks/read_edges.py --smoke    seconds of it on a small file

pyarrow: read_csv, then dictionary_encode of both id columns. pandas: read_csv, then factorize of both id columns
together. read_graph does more: it numbers both ends together in order of first appearance and assembles the adjacency.
The tasks take turns; medians. Times are kept only if all agree on the number of nodes.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from common import main, print_table, race
from lopsided.io import read_graph

SEED = 0
EDGES, NODES = 2_000_000, 200_000


def write_edges(path: Path, edges: int, nodes: int) -> None:
    """A weighted edge list of nodes called user-0000000 and so on."""
    rng = np.random.default_rng(SEED)
    names = np.array([f"user-{i:07d}" for i in range(nodes)], dtype=object)
    table = {"source": names[rng.integers(nodes, size=edges)], "target": names[rng.integers(nodes, size=edges)]}
    pyarrow.csv.write_csv(
        pa.table(table | {"weight": rng.random(edges).round(3)}),
        path,
        pyarrow.csv.WriteOptions(quoting_style="none"),
    )


def by_pyarrow(path: Path) -> list[pa.ChunkedArray]:
    """Both id columns, each with a dictionary of its own."""
    table = pyarrow.csv.read_csv(path)
    return [table[side].dictionary_encode() for side in ("source", "target")]


def by_pandas(path: Path) -> pd.Index:
    """The ids of both columns."""
    table = pd.read_csv(path)
    return pd.factorize(pd.concat([table["source"], table["target"]]))[1]


def csv(smoke: bool) -> dict[str, float]:
    """Seconds of all three, and the ratio of ours to pyarrow's."""
    edges, nodes = (2_000, 300) if smoke else (EDGES, NODES)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "edges.csv"
        write_edges(path, edges, nodes)
        dictionaries = [set(column.chunk(0).dictionary.to_pylist()) for column in by_pyarrow(path)]
        counts = {len(set.union(*dictionaries)), len(by_pandas(path)), len(read_graph(path).nodes)}
        if len(counts) > 1:
            raise ValueError(f"the readers found different numbers of nodes, {sorted(counts)}")
        tasks = {
            "read_graph": lambda: read_graph(path),
            "pyarrow": lambda: by_pyarrow(path),
            "pandas": lambda: by_pandas(path),
        }
        seconds = race(tasks, 1 if smoke else 7)
    seconds["ratio"] = seconds["read_graph"] / seconds["pyarrow"]
    print_table(f"{edges:,} edges, {counts.pop():,} nodes, seconds", list(seconds), [list(seconds.values())])
    return seconds


if __name__ == "__main__":
    main(__file__, __doc__, {"csv": csv}, seed=SEED)
