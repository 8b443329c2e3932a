"""Source and target vectors of a graph as files that other programs read."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._core import slices_of
from .atomic import written_whole
from .files import imported_pyarrow, write_text

SIDES = ("source", "target")
LINES_AT_ONCE = 4096  # of text, formatted in memory
DIGITS = {4: 9, 8: 17}  # significant digits that determine a float of so many bytes


def write_vectors(model: Any, path: str | os.PathLike[str], *, side: str = "both") -> None:
    """Write the vectors of an embedded graph to a file, in the format of its extension.

    ``.parquet`` has the columns id, source_0, source_1, ..., target_0, ..., and ``.csv`` and ``.tsv`` hold the same as
    text (these need ``lopsided[graph]``); ``.txt`` and ``.w2v`` are the text format of word2vec, which gensim reads;
    ``.npy`` is one array, in the order of ``nodes_``; ``.npz`` has the arrays id, source and target. Text holds all
    digits.

    Parameters
    ----------
    model : DirectedGraphEmbedding
        Fitted; or any object with ``nodes_``, ``source_embedding_`` and ``target_embedding_``.
    path : path
        The file, which is replaced if it exists.
    side : {"both", "source", "target"}, default="both"
        Which vectors; "both" sets them side by side.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from lopsided import DirectedGraphEmbedding
    >>> from lopsided.io import write_vectors
    >>> model = DirectedGraphEmbedding(n_components=2).fit([("ann", "bob"), ("bob", "eve"), ("eve", "ann")])
    >>> path = os.path.join(tempfile.mkdtemp(), "vectors.npz")
    >>> write_vectors(model, path)
    >>> np.load(path)["id"].tolist()
    ['ann', 'bob', 'eve']
    """
    if not (isinstance(side, str) and side in ("both", *SIDES)):
        raise ValueError(f"side={side!r} is not one of 'both', 'source', 'target'")
    kind = Path(path).suffix.lower()
    if kind not in WRITERS:
        raise ValueError(f"{Path(path).name!r} ends with {kind!r}, not with one of {', '.join(WRITERS)}")
    check_embedded(model)
    reject_unwritable(model.nodes_, path)
    vectors = {name: getattr(model, f"{name}_embedding_") for name in SIDES if side in ("both", name)}
    with written_whole(path) as part:
        WRITERS[kind](part, plain_ids(model.nodes_), vectors)


def check_embedded(model: Any) -> None:
    """Raise an error unless a model has nodes and their vectors."""
    if hasattr(model, "fit"):
        check_is_fitted(model)
    if not all(hasattr(model, name) for name in ("nodes_", *(f"{side}_embedding_" for side in SIDES))):
        raise TypeError(
            f"a {type(model).__name__} has no node vectors; pass a fitted DirectedGraphEmbedding, or an object "
            "with nodes_, source_embedding_ and target_embedding_"
        )


def reject_unwritable(nodes: np.ndarray, path: str | os.PathLike[str]) -> None:
    """Raise an error if the format of a file cannot hold some id, which is known before any vector is computed."""
    if WRITERS[Path(path).suffix.lower()] is not _word2vec:
        return
    broken = next((name for name in map(str, nodes.tolist()) if len(name.split()) != 1), None)
    if broken is not None:
        raise ValueError(f"the id {broken[:60]!r} has spaces, which the word2vec format does not allow; write .parquet")


def vector_columns(model: Any, side: str = "both") -> dict[str, np.ndarray]:
    """The columns id, source_0, source_1, ..., target_0, ... of an embedded graph."""
    vectors = {name: getattr(model, f"{name}_embedding_") for name in SIDES if side in ("both", name)}
    return _columns(plain_ids(model.nodes_), vectors)


def plain_ids(nodes: np.ndarray) -> np.ndarray:
    """Ids as integers, or as an array of strings."""
    return nodes if nodes.dtype.kind in "iu" else np.array([str(node) for node in nodes.tolist()], dtype=object)


def _columns(ids: np.ndarray, vectors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {"id": ids, **{f"{name}_{j}": column for name, array in vectors.items() for j, column in enumerate(array.T)}}


def _parquet(path: Path, ids: np.ndarray, vectors: dict[str, np.ndarray]) -> None:
    pyarrow = imported_pyarrow()
    pyarrow.parquet.write_table(pyarrow.table(_columns(ids, vectors)), path, compression="none")


def _delimited(separator: str) -> Callable[[Path, np.ndarray, dict[str, np.ndarray]], None]:
    def write(path: Path, ids: np.ndarray, vectors: dict[str, np.ndarray]) -> None:
        with path.open("wb") as file:
            write_text(_columns(ids, vectors), file, separator)

    return write


def _word2vec(path: Path, ids: np.ndarray, vectors: dict[str, np.ndarray]) -> None:
    names = [str(node) for node in ids.tolist()]
    width = sum(array.shape[1] for array in vectors.values())
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{len(names)} {width}\n")
        for rows in slices_of(len(names), LINES_AT_ONCE):
            block = np.hstack([array[rows] for array in vectors.values()])
            line = " ".join([f"%.{DIGITS[block.itemsize]}g"] * width)
            file.writelines(f"{name} {line % tuple(row)}\n" for name, row in zip(names[rows], block, strict=True))


def _npy(path: Path, ids: np.ndarray, vectors: dict[str, np.ndarray]) -> None:
    with path.open("wb") as file:  # numpy would add .npy to the name of the temporary file
        np.save(file, np.hstack(list(vectors.values())))


def _npz(path: Path, ids: np.ndarray, vectors: dict[str, np.ndarray]) -> None:
    with path.open("wb") as file:
        arrays: dict[str, Any] = {"id": ids if ids.dtype.kind in "iu" else ids.astype(str), **vectors}
        np.savez(file, **arrays)


WRITERS: dict[str, Callable[[Path, np.ndarray, dict[str, np.ndarray]], None]] = {
    ".parquet": _parquet,
    ".csv": _delimited(","),
    ".tsv": _delimited("\t"),
    ".txt": _word2vec,
    ".w2v": _word2vec,
    ".npy": _npy,
    ".npz": _npz,
}
VECTOR_FORMATS = tuple(WRITERS)
