"""Seconds and memory to save and load a model of 1 GB: lopsided.io, joblib with and without a memory map, pickle."""

import pickle
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import joblib
import numpy as np

from common import clock, in_child, main, peak_bytes, print_table
from lopsided import KernelSVD
from lopsided.io import load, save

SEED = 0
WIDTH = 128
BYTES = 10**9


def by_pickle(model: KernelSVD, path: str) -> None:
    """Write a pickle."""
    with open(path, "wb") as file:
        pickle.dump(model, file)


def from_pickle(path: str) -> KernelSVD:
    """Read a pickle."""
    with open(path, "rb") as file:
        return pickle.load(file)


WAYS = {
    "lopsided.io": (save, load),
    "lopsided.io, verified": (save, lambda path: load(path, verify=True)),
    "joblib, memory map": (joblib.dump, lambda path: joblib.load(path, mmap_mode="r")),
    "joblib": (joblib.dump, joblib.load),
    "pickle": (by_pickle, from_pickle),
}


def loaded(way: str, path: str) -> dict[str, float]:
    """Seconds to load in a process that has imported the library, and the memory that it adds."""
    KernelSVD(1).fit(np.eye(3), Z=np.eye(3))
    before, start = peak_bytes(), time.perf_counter()
    model = WAYS[way][1](path)
    return {"seconds": time.perf_counter() - start, "added_bytes": peak_bytes() - before, "rows": len(model.X_fit_)}


def model(smoke: bool) -> list[dict[str, object]]:
    """A model most of which is the left points that it keeps."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal(((10**6 if smoke else BYTES) // (8 * WIDTH), WIDTH))
    fitted = KernelSVD(2, kernel="linear", n_jobs=1).fit(X, Z=X[:8].copy())
    rows = []
    with TemporaryDirectory() as folder:
        for way, (write, _) in WAYS.items():
            path = str(Path(folder) / "model")
            saving, _ = clock(lambda write=write, path=path: write(fitted, path), 1)
            found = in_child(__file__, "loaded", way, path)
            if found["rows"] != len(X):
                raise ValueError(f"{way} lost rows")
            size = Path(path).stat().st_size
            rows.append({"way": way, "size": size, "save": saving, "load": found["seconds"], **found})
    table = [[r["way"], r["size"] / 1e6, r["save"], r["load"], r["added_bytes"] / 1e6] for r in rows]
    print_table("A saved model", ["way", "file, MB", "save, s", "load, s", "memory added, MB"], table)
    return rows


if __name__ == "__main__":
    main(__file__, __doc__, {"model": model}, {"loaded": loaded}, seed=SEED)
