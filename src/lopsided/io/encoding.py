"""Fitted models as a tree of JSON and a list of arrays, and back; no code is written, and none is run.

Numbers, strings, None and lists are themselves. Everything else is an object of JSON with one or two keys, the first of
which says what it is: {"tuple": [...]}, {"dict": [[key, value], ...]}, {"array": 3} for the fourth array of the file,
{"type": "lopsided.kernels.SNE", "state": {...}}, and so on.
"""

import math
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from .._core import AdjacencyBlocks, is_lazy
from ..exceptions import SavedModelError
from .types import class_of, name_of

PLAIN_DTYPES = "biufcUSmM"  # kinds of arrays whose bytes are their values
COMPRESSED_AXIS = {"csr": 0, "csc": 1}  # of the sparse formats that are saved
CALLBACKS = "_skl_callbacks"  # attribute in which scikit-learn keeps them: code, and of no use to a fitted model
CHECKED_AT_ONCE = 1 << 20  # indices, so that a check of memory-mapped ones takes little memory


class Encoder:
    """Turns a model into a tree; ``arrays`` collects the arrays in it, each once, however often it occurs."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._numbers: dict[int, int] = {}
        self._open: set[int] = set()

    def encode(self, value: Any, where: str) -> Any:
        """The tree of a value; ``where`` is its place in the model, for messages."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if id(value) in self._open:
            raise TypeError(f"{where} contains itself, which a saved model cannot represent")
        self._open.add(id(value))
        try:
            return self._compound(value, where)
        finally:
            self._open.remove(id(value))

    def _compound(self, value: Any, where: str) -> Any:
        for kinds, tag in ((list, None), (tuple, "tuple"), (set, "set"), (frozenset, "frozenset")):
            if type(value) is kinds:
                parts = [self.encode(part, f"{where}[{i}]") for i, part in enumerate(value)]
                return {tag: parts} if tag else parts
        if type(value) is dict:
            return {"dict": [[self.encode(k, where), self.encode(v, f"{where}[{k!r}]")] for k, v in value.items()]}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, np.generic) and value.dtype.kind in PLAIN_DTYPES:
            return {"scalar": [value.dtype.str, value.tobytes().hex()]}
        if isinstance(value, np.dtype) and value.kind in PLAIN_DTYPES:
            return {"dtype": value.str}
        if sparse.issparse(value):
            return self._sparse(value, where)
        if isinstance(value, np.random.RandomState):
            return {"random_state": self.encode(value.get_state(), where)}
        if type(value) in (datetime, date) and getattr(value, "tzinfo", None) is None:
            return {type(value).__name__: value.isoformat()}
        if type(value) is timedelta:
            return {"timedelta": [value.days, value.seconds, value.microseconds]}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        return self._object(value, where)

    def _array(self, array: np.ndarray, where: str) -> Any:
        if np.ma.isMaskedArray(array) or isinstance(array, np.matrix):
            raise TypeError(f"{where} is a {type(array).__name__}, which a saved model cannot hold; use plain arrays")
        if array.dtype == object:
            items = [self.encode(item, f"{where}[{i}]") for i, item in enumerate(array.ravel().tolist())]
            return {"objects": items, "shape": list(array.shape)}
        if array.dtype.kind not in PLAIN_DTYPES:
            raise TypeError(f"{where} is an array of {array.dtype}, which a saved model cannot hold")
        if id(array) not in self._numbers:
            self._numbers[id(array)] = len(self.arrays)
            self.arrays.append(array)
        return {"array": self._numbers[id(array)]}

    def _sparse(self, matrix: Any, where: str) -> Any:
        if matrix.format not in COMPRESSED_AXIS:
            raise TypeError(f"{where} is sparse in the format {matrix.format!r}; convert it with .tocsr() before fit")
        parts = [self._array(getattr(matrix, part), where) for part in ("data", "indices", "indptr")]
        flavour = "array" if isinstance(matrix, sparse.sparray) else "matrix"
        return {"sparse": [matrix.format, flavour, list(matrix.shape)], "parts": parts}

    def _object(self, value: Any, where: str) -> Any:
        name = name_of(type(value))
        if name is None or isinstance(value, AdjacencyBlocks):
            raise TypeError(_refusal(value, where))
        if isinstance(value, tuple):
            names = getattr(value, "_fields", range(len(value)))  # a plain subclass of tuple has none
            fields = zip(names, value, strict=True)
            return {"type": name, "fields": [self.encode(part, f"{where}.{field}") for field, part in fields]}
        state = value.__getstate__() or {}
        _reject_memory(state, where)
        kept = {key: part for key, part in state.items() if key != CALLBACKS}
        return {"type": name, "state": {key: self.encode(part, f"{where}.{key}") for key, part in kept.items()}}


def _refusal(value: Any, where: str) -> str:
    if callable(value) and not isinstance(value, BaseEstimator):
        name = getattr(value, "__qualname__", getattr(value, "__name__", type(value).__name__))
        return (
            f"{where} is a function, {name}, and a saved model holds no code; use a kernel of lopsided.kernels, or "
            "compute the kernel matrix and fit with kernel='precomputed'"
        )
    if isinstance(value, AdjacencyBlocks):
        return (
            f"{where} is a graph in blocks on disk, which a file cannot hold; pickle the model, which keeps the name "
            "of their folder, or save its vectors with lopsided.io.write_vectors"
        )
    if is_lazy(value):
        name = where.partition(".")[2]
        return (
            f"{where} is lazy and may not fit in memory; compute it first, model.{name} = model.{name}.compute(), or "
            f"leave it out, model.{name} = None: new rows are embedded without it, and model.transform(X, out=folder) "
            "writes those of fit"
        )
    return (
        f"{where} is a {type(value).__module__}.{type(value).__qualname__}, and saved models hold only types of "
        "lopsided, numpy and scipy.sparse, and a few of scikit-learn; pickle models with types of your own"
    )


def _reject_memory(state: dict[str, Any], where: str) -> None:
    """A pipeline that caches its steps would read pickles from the folder that it names."""
    if state.get("memory") is not None:
        raise SavedModelError(f"{where}.memory names a folder of pickles; a saved model needs memory=None")


class Decoder:
    """Builds a model from a tree and from a function that returns an array of the file by its number."""

    def __init__(self, array: Callable[[int], np.ndarray]) -> None:
        self._array = array

    def decode(self, tree: Any) -> Any:
        """The value of a tree."""
        if isinstance(tree, list):
            return [self.decode(part) for part in tree]
        if not isinstance(tree, dict):
            return tree
        if "type" in tree:
            return self._object(tree)
        if "objects" in tree:
            items = self.decode(tree["objects"])
            return np.fromiter(items, dtype=object, count=len(items)).reshape(tree["shape"])
        if "sparse" in tree:
            form, flavour, shape = tree["sparse"]
            return _sparse_of(form, flavour, shape, [self._array(part["array"]) for part in tree["parts"]])
        ((tag, content),) = tree.items()
        return self._tagged(tag, content)

    def _tagged(self, tag: str, content: Any) -> Any:
        match tag:
            case "array":
                return self._array(content)
            case "float":
                return float(content)
            case "tuple" | "set" | "frozenset":
                kinds: dict[str, Callable[[Any], Any]] = {"tuple": tuple, "set": set, "frozenset": frozenset}
                return kinds[tag](self.decode(part) for part in content)
            case "dict":
                return {self.decode(key): self.decode(part) for key, part in content}
            case "scalar":
                return np.frombuffer(bytes.fromhex(content[1]), dtype=_plain_dtype(content[0]))[0]
            case "dtype":
                return _plain_dtype(content)
            case "random_state":
                state = np.random.RandomState()
                state.set_state(self.decode(content))
                return state
            case "datetime" | "date":
                return {"datetime": datetime, "date": date}[tag].fromisoformat(content)
            case "timedelta":
                return timedelta(*content)
            case "bytes":
                return bytes.fromhex(content)
        raise SavedModelError(f"it holds a {tag!r}, which this version does not know")

    def _object(self, tree: dict[str, Any]) -> Any:
        kind = class_of(tree["type"])
        if kind is None:
            raise SavedModelError(f"it holds a {tree['type']!r}, which this version does not know")
        if issubclass(kind, tuple):
            fields = [self.decode(part) for part in tree["fields"]]
            return kind._make(fields) if hasattr(kind, "_make") else kind(fields)
        thing = object.__new__(kind)
        state = {key: self.decode(part) for key, part in tree["state"].items()}
        _reject_memory(state, kind.__name__)
        if hasattr(thing, "__setstate__"):
            thing.__setstate__(state)
        else:
            thing.__dict__.update(state)
        return thing


def _plain_dtype(text: str) -> np.dtype:
    dtype = np.dtype(text)
    if dtype.kind not in PLAIN_DTYPES:
        raise SavedModelError(f"it holds values of type {text!r}")
    return dtype


def _sparse_of(form: str, flavour: str, shape: Sequence[int], parts: Sequence[np.ndarray]) -> Any:
    """A sparse matrix on the given arrays, without a copy and without a change of their types."""
    if flavour not in ("array", "matrix"):
        raise SavedModelError(f"it holds a sparse {flavour!r}, which this version does not know")
    axis = COMPRESSED_AXIS[form]
    _check_structure(parts, shape[axis], shape[1 - axis])
    matrix: Any = getattr(sparse, f"{form}_{flavour}")(tuple(shape), dtype=parts[0].dtype)
    matrix.data, matrix.indices, matrix.indptr = parts
    return matrix


def _check_structure(parts: Sequence[np.ndarray], n: int, width: int) -> None:
    """Check row pointers and indices, since compiled code would follow wrong ones out of its arrays."""
    data, indices, indptr = parts
    entries = len(indices)
    sound = len(data) == entries and indptr.shape == (n + 1,) and indices.dtype == indptr.dtype
    sound = sound and indices.dtype.kind == "i" and data.ndim == indices.ndim == 1
    sound = sound and indptr[0] == 0 and indptr[-1] <= entries and not (np.diff(indptr) < 0).any()
    for start in range(0, entries, CHECKED_AT_ONCE):
        part = indices[start : start + CHECKED_AT_ONCE]
        sound = sound and part.min() >= 0 and part.max() < width
    if not sound:
        raise SavedModelError("it holds a sparse matrix with indices outside its shape")
