"""Whole matrices from files: .npy, .npz, .mtx and svmlight."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .bounds import check_shape, check_zip
from .columns import shown
from .matrix_market import read_matrix_market

LONGEST_REASON = 300  # characters of an error of numpy that are shown


def is_matrix_file(path: Path) -> bool:
    """Whether the extension is one of a file that holds a matrix rather than columns."""
    return path.suffix.lower() in MATRICES


def read_matrix(path: Path) -> tuple[Any, np.ndarray | None]:
    """The matrix in an .npy, .npz, .mtx or svmlight file, as an array or in CSR, and the labels that svmlight has."""
    try:
        return MATRICES[path.suffix.lower()](path)
    except FileNotFoundError:
        raise
    except Exception as error:  # readers of numpy and scipy end in errors of a dozen types on damaged files
        reason = (str(error).splitlines() or [""])[0] or type(error).__name__
        raise ValueError(f"cannot read {str(path)!r}: {reason[:LONGEST_REASON]}") from error


def _npy(path: Path) -> tuple[Any, None]:
    return np.load(path, mmap_mode="r", allow_pickle=False), None


def _npz(path: Path) -> tuple[Any, None]:
    check_zip(path)
    with np.load(path, allow_pickle=False) as file:
        if "format" in file.files:
            return _by_rows(sparse.load_npz(path)), None
        if len(file.files) != 1:
            raise ValueError(
                f"it holds the arrays {shown(file.files)}; save one, or a matrix with scipy.sparse.save_npz"
            )
        return file[file.files[0]], None


def _mtx(path: Path) -> tuple[Any, None]:
    return read_matrix_market(path), None


def _svmlight(path: Path) -> tuple[Any, np.ndarray]:
    from sklearn.datasets import load_svmlight_file  # late, as the import is slow

    X, y = load_svmlight_file(path)
    return _by_rows(X), y


def _by_rows(matrix: Any) -> sparse.csr_array:
    check_shape(matrix.shape, matrix.nnz)
    return sparse.csr_array(matrix)


MATRICES: dict[str, Callable[[Path], tuple[Any, np.ndarray | None]]] = {
    ".npy": _npy,
    ".npz": _npz,
    ".mtx": _mtx,
    ".svm": _svmlight,
    ".svmlight": _svmlight,
    ".libsvm": _svmlight,
}
