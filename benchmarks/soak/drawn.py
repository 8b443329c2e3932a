"""Random choices of one call, by hypothesis: data of every kind, kernels, settings and things of the wrong type."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st
from scipy import sparse

from lopsided import Nystrom, kernels as k

SIZES = [1, 2, 3, 5, 8, 13, 21, 34]
LARGE = [320, 350]  # sizes at which the iterative solver is the default
VALUES = {
    "normal": lambda r, n, d: r.standard_normal((n, d)),
    "constant": lambda r, n, d: np.full((n, d), r.choice([1.0, -3.0, 0.1])),
    "zeros": lambda r, n, d: np.zeros((n, d)),
    "negative zeros": lambda r, n, d: np.where(r.random((n, d)) < 0.5, -0.0, r.standard_normal((n, d))),
    "duplicates": lambda r, n, d: r.standard_normal((2, d))[r.integers(0, 2, n)],
    "one outlier": lambda r, n, d: np.where(np.arange(n * d).reshape(n, d) == 1, 1e8, r.standard_normal((n, d))),
    "one row of zeros": lambda r, n, d: np.where(np.arange(n)[:, None] == 0, 0.0, r.standard_normal((n, d))),
    "binary": lambda r, n, d: (r.random((n, d)) < 0.2).astype(float),
    "counts": lambda r, n, d: r.poisson(0.7, (n, d)).astype(float),
    "probabilities": lambda r, n, d: r.dirichlet(np.ones(d), n) if d else np.zeros((n, d)),
    "rank one": lambda r, n, d: np.outer(r.standard_normal(n), r.standard_normal(d)),
    "columns of any size": lambda r, n, d: r.standard_normal((n, d)) * 10.0 ** r.integers(-12, 12, d),
    "entries of any size": lambda r, n, d: r.standard_normal((n, d)) * 10.0 ** r.integers(-300, 300, (n, d)),
    "nearly constant": lambda r, n, d: 1 + 1e-12 * r.standard_normal((n, d)),
}
BROKEN = {
    "one NaN": lambda r, n, d: np.where(np.arange(n * d).reshape(n, d) == n * d // 2, np.nan, 1.0),
    "one infinity": lambda r, n, d: np.where(np.arange(n * d).reshape(n, d) == 0, -np.inf, 1.0),
}
SCALES = [1.0] * 12 + [1e-3, 1e3, 1e8, 1e-8, 1e30, 1e-30, 1e150, 1e-150, 1e200, 1e-200, 1e300, 1e-300, 5e-324]
DTYPES = ["float64"] * 5 + ["float32"] * 3 + ["int64", "uint8", "bool", "float16", "longdouble", "object"]
LOOPS = {"max_iter", "n_iter", "n_init", "n_adapt", "n_iter_no_change", "n_splits"}  # numbers of repetitions
PLAIN = ("array", "fortran", "read only", "strided", "backwards", "list")  # kinds that hold every dtype


def _locked(A: np.ndarray) -> np.ndarray:
    A.flags.writeable = False
    return A


def _unsorted(S: sparse.csr_array) -> sparse.csr_array:
    for i in range(S.shape[0]):
        row = slice(S.indptr[i], S.indptr[i + 1])
        S.indices[row], S.data[row] = S.indices[row][::-1].copy(), S.data[row][::-1].copy()
    S.has_sorted_indices = S.has_canonical_format = False
    return S


def _repeated(A: np.ndarray) -> sparse.csr_array:
    """Every entry stored twice, as halves."""
    S = sparse.csr_array(A / 2)
    found = (np.repeat(S.data, 2), np.repeat(S.indices, 2), 2 * S.indptr)
    return sparse.csr_array(found, shape=S.shape)


def _mapped(A: np.ndarray) -> np.ndarray:
    """A file in memory, which disappears with the array."""
    with tempfile.NamedTemporaryFile() as file:
        M = np.memmap(file, dtype=A.dtype, mode="w+", shape=A.shape)
    M[:] = A
    return M


def _with_text(A: np.ndarray) -> pd.DataFrame:
    """A table whose last column is text."""
    return pd.DataFrame(A).assign(name=[f"row {i}" for i in range(len(A))])


KINDS = {
    "array": lambda A: A,
    "fortran": np.asfortranarray,
    "read only": lambda A: _locked(A.copy()),
    "strided": lambda A: np.repeat(A, 2, axis=0)[::2],
    "backwards": lambda A: A[::-1, ::-1],
    "mapped": _mapped,
    "list": lambda A: A.tolist(),
    "frame": lambda A: pd.DataFrame(A, columns=[f"c{i}" for i in range(A.shape[1])]),
    "polars": lambda A: pl.DataFrame(A, schema=[f"c{i}" for i in range(A.shape[1])]),
    "csr": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "lil": sparse.lil_array,
    "bsr": sparse.bsr_array,
    "unsorted": lambda A: _unsorted(sparse.csr_array(A)),
    "repeated": _repeated,
}
REFUSED = {
    "text column": _with_text,
    "masked": np.ma.masked_array,
    "flat": np.ravel,
    "deep": lambda A: A[None],
}

JUNK: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3.5, -0.5, 0.0, float("nan"), float("inf"), float("-inf"), 1e300, 5e-324, 10**30,
    "", "x", "auto", "rbf", "é\x00", b"x", [], [1], [[1.0, 2.0]], (1, 2), {}, {"a": 1}, set(), object(), repr, int,
    np.float32(1), np.int64(2), np.array(1.0), np.array([]), np.array([1.0, 2.0]), np.eye(3), np.full((3, 3), np.nan),
    np.array(["a", "b"]), np.zeros((0, 3)), np.zeros((3, 0)), sparse.eye_array(3, format="csr"),
    sparse.coo_array((0, 0)), 1j, Decimal("0.5"), Fraction(1, 3), np.datetime64("2020-01-01"), pd.NA,
    pd.Series([1, 2]), range(3), Path("nowhere"),
]  # fmt: skip


def product(X: Any, Z: Any) -> np.ndarray:
    """A kernel function that looks at the first columns."""
    X, Z = (A.toarray() if sparse.issparse(A) else np.asarray(A) for A in (X, Z))
    return np.tanh(X[:, :1] / (1 + np.abs(X[:, :1]))) - 2 * np.tanh(Z[:, :1] / (1 + np.abs(Z[:, :1]))).T


class Draw:
    """The choices of one call, remembered so that a failure says what it was about."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.notes: list[str] = []
        self.rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))

    def of(self, options: Iterable[Any]) -> Any:
        """One of several; the first is the simplest."""
        options = list(options)
        return options[self.data.draw(st.integers(0, len(options) - 1))]

    def chance(self, p: float) -> bool:
        """True with about this probability."""
        return self.data.draw(st.integers(0, 99)) >= 100 * (1 - p)

    def junk(self) -> Any:
        """Anything at all."""
        found = self.of(JUNK)
        self.notes.append(f"junk {found!r}")
        return found

    def values(self, n: int, d: int) -> np.ndarray:
        """Numbers of any distribution, scale and type."""
        kinds = BROKEN if self.chance(0.04) else VALUES
        name, scale, dtype = self.of(kinds), self.of(SCALES), self.of(["complex"] if self.chance(0.02) else DTYPES)
        A = kinds[name](self.rng, n, d)
        with np.errstate(all="ignore"):
            if dtype.startswith("float"):
                limits = np.finfo(dtype)
                A = np.where(np.isfinite(A), np.clip(A * scale, limits.min / 4, limits.max / 4), A)
            elif dtype != "object":
                A = np.clip(np.round(np.nan_to_num(A)), -1e15, 1e15)
            A = np.abs(A).astype(dtype) if dtype == "uint8" else A.astype(dtype)
        self.notes.append(f"{name} {n}x{d} *{scale:g} {dtype}")
        return A

    def points(self, n: int | None = None, d: int | None = None) -> Any:
        """A table of any kind; seldom one without rows or columns."""
        n = self.of(LARGE if self.chance(0.05) else [0] if self.chance(0.02) else SIZES) if n is None else n
        d = (0 if self.chance(0.02) else self.of(SIZES[:6])) if d is None else d
        kinds = REFUSED if self.chance(0.04) else KINDS
        A, kind = self.values(n, d), self.of(kinds)
        if kind not in PLAIN and A.dtype.name not in ("float64", "float32", "int64", "bool", "uint8"):
            A = A.real.astype(float)
        self.notes.append(kind)
        return kinds[kind](A)

    def bandwidth(self) -> float | None:
        """A length scale."""
        return self.of([None, None, 1.0, 0.3, 5.0, 1e-8, 1e8, 1e-150, 1e150, 1e-300, 1e300])

    def kernel(self) -> Any:
        """A kernel of points, by name, object or function, perhaps combined."""
        makers = [
            "rbf", "sne", "linear", "polynomial", "laplacian", "student_t", "tl1", "tanh", "exponential",
            "linear_polynomial", "kullback_leibler", "attention", product,
            k.RBF, k.SNE, k.Laplacian, k.TL1, k.Attention, lambda b: k.StudentT(b or 1.0),
            lambda _: k.Polynomial(self.of([1, 2, 3, 7]), self.of([0.0, 1.0, 1e8])),
            lambda _: k.Exponential(self.of([1.0, -1.0, 1e-3])),
            lambda _: k.Tanh(self.of([None, 1.0, 1e-8])), lambda _: k.LinearPolynomial(),
            lambda _: k.KullbackLeibler(self.of([None, 1.0, 1e8]), distribution=self.of(["discrete", "gaussian"])),
        ]  # fmt: skip
        maker = self.of(makers)
        kernel = maker if isinstance(maker, str) or maker is product else maker(self.bandwidth())
        if self.chance(0.15):
            kernel = self.of([lambda a: a.T, lambda a: 2 * a, lambda a: a + k.RBF(1.0), lambda a: a * k.SNE(1.0)])(
                k.as_kernel(kernel)
            )
        self.notes.append(str(kernel))
        return kernel

    def settings(self, **options: list[Any]) -> dict[str, Any]:
        """Some of the settings, each at one of its values."""
        chosen = {name: self.of(values) for name, values in options.items() if self.chance(0.6)}
        self.notes.append(str(chosen))
        return chosen

    def nystrom(self) -> Nystrom:
        """Landmarks of any kind."""
        return Nystrom(
            self.of([None, 1, 2, 5, 20]),
            landmarks=self.of(["uniform", "kmeans", "leverage", "pivoted"]),
            extension=self.of(["orthonormal", "plain"]),
            denominators=self.of(["auto", "all", "landmarks"]),
        )


def length(A: Any) -> int:
    """Number of rows of any table."""
    return A.shape[0] if hasattr(A, "shape") else len(A)


def width(A: Any) -> int:
    """Number of columns of any table; one if it has none."""
    if hasattr(A, "shape"):
        return A.shape[1] if len(A.shape) > 1 else 1
    return len(A[0]) if len(A) else 1


def with_short_loops(arguments: dict[str, Any]) -> dict[str, Any]:
    """The same, but for endless repetitions, which would be what was asked for."""
    endless = {name for name in LOOPS & arguments.keys() if isinstance(arguments[name], int) and arguments[name] > 2}
    return arguments | dict.fromkeys(endless, 2)
