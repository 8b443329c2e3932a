"""Passes of a fit kept in a folder, so that a fit that was killed continues where it was."""

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

import joblib
import numpy as np
from scipy import sparse

from .store import clear_left_overs, write, write_file

T = TypeVar("T")
_folder: ContextVar[Path | None] = ContextVar("folder", default=None)


@contextmanager
def checkpoint(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Let every ``fit`` on dask collections in this context resume from what an earlier one left in a folder.

    Products with the kernel, which take the time, are written block by block; the results of other passes (fetched
    rows, sums) when the pass is complete. Each is named by a hash of its settings, its landmarks and the first block of
    the data, so that the answer is the same bit for bit, and other settings start over. Vectors are read from the
    folder and not kept in memory: it must stay as long as ``left_vectors_`` and ``right_vectors_`` are used, and
    workers on other machines must see it under the same name.

    Parameters
    ----------
    folder : path
        Where passes are kept; it is made if it is not there, and can be deleted at any time.

    Examples
    --------
    >>> import tempfile
    >>> import dask.array as da
    >>> from lopsided import KernelSVD, Nystrom
    >>> from lopsided.distributed import checkpoint
    >>> X = da.random.default_rng(0).random((300, 3), chunks=(100, 3))
    >>> with checkpoint(tempfile.mkdtemp()):
    ...     model = KernelSVD(2, solver=Nystrom(20)).fit(X, Z=X)
    """
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    clear_left_overs(path)
    token = _folder.set(path)
    try:
        yield
    finally:
        _folder.reset(token)


def recall(kind: str, rows: Any, identity: Any, results: Callable[[], list[T]]) -> list[T]:
    """Results of a pass over rows, from the folder of the current checkpoint if they are there."""
    folder = _folder.get()
    if folder is None:
        return results()
    path = folder / f"{kind}-{joblib.hash((kind, rows.key(), identity))}.npz"
    if path.exists():
        return _unpacked(path)
    found = results()
    if (packed := _packed(found)) is not None:
        write_file(path, packed)
    return found


def keep_blocks(rows: Any) -> Any:
    """A dask array of the blocks of rows in the folder of the current checkpoint; None without one."""
    folder = _folder.get()
    if folder is None:
        return None
    key = rows.key()
    return write(rows.array, key, folder / f"vectors-{key}")


def _packed(results: list[Any]) -> bytes | None:
    """A list of arrays, sparse matrices, or tuples of arrays, as an npz file; None for anything else."""
    arrays: dict[str, Any] = {}
    for number, result in enumerate(results):
        if sparse.issparse(result):
            parts = {"data": result.data, "indices": result.indices, "indptr": result.indptr}
            arrays |= {f"{number}/{name}": part for name, part in parts.items()}
            arrays[f"{number}/shape"] = np.array(result.shape)
        elif isinstance(result, np.ndarray):
            arrays[f"{number}/array"] = result
        elif type(result) is tuple and all(isinstance(part, np.ndarray) for part in result):
            arrays |= {f"{number}/tuple/{i}": part for i, part in enumerate(result)}
        else:
            return None
    if any(array.dtype.hasobject for array in arrays.values()):  # which a file would have to pickle
        return None
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _unpacked(path: Path) -> list[Any]:
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    groups: dict[int, dict[str, np.ndarray]] = {}
    for name, array in arrays.items():
        number, _, part = name.partition("/")
        groups.setdefault(int(number), {})[part] = array
    return [_result(groups[number]) for number in sorted(groups)]


def _result(parts: dict[str, np.ndarray]) -> Any:
    if "array" in parts:
        return parts["array"]
    if "shape" in parts:
        csr = parts["data"], parts["indices"], parts["indptr"]
        return sparse.csr_array(csr, shape=tuple(parts["shape"].tolist()))
    return tuple(parts[f"tuple/{i}"] for i in range(len(parts)))
