"""Save fitted models to one file that holds arrays and JSON, and load them without running code from it."""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..exceptions import SavedModelError
from .container import Container, write
from .encoding import Decoder, Encoder


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save an estimator, a kernel or a pipeline of them to one file of arrays and JSON.

    The file appears whole or not at all, and one that was there before is replaced. It holds no code: functions, and
    types that are not of lopsided, numpy, scipy.sparse or a few of scikit-learn, are refused with a TypeError.

    Parameters
    ----------
    model : estimator or kernel
        Fitted or not. All that it stores is saved, the points with which new ones are compared included.
    path : path
        The file to write; by custom it ends with ``.lopsided``. ``numpy.load(path)`` reads its arrays.

    Notes
    -----
    The file is a zip of uncompressed .npy arrays and of ``model.json``, with a SHA-256 hash of each array in the JSON,
    and of the JSON in the comment of the zip. Cost: one pass over the arrays, and no copy of them.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from lopsided import KernelSVD
    >>> from lopsided.io import load, save
    >>> X = np.random.default_rng(0).random((9, 3))
    >>> model = KernelSVD(kernel="sne").fit(X, Z=X)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.lopsided")
    >>> save(model, path)
    >>> np.array_equal(load(path).transform(X), model.transform(X))
    True
    """
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"save takes an estimator or a kernel, not a {type(model).__name__}")
    encoder = Encoder()
    tree = encoder.encode(model, type(model).__name__)
    write(Path(path), tree, encoder.arrays, _versions())


def load(path: str | os.PathLike[str], *, mmap: bool = True, verify: bool | None = None) -> Any:
    """Load a model that :func:`save` wrote. No code from the file is run, whoever wrote it.

    Parameters
    ----------
    path : path
        The file.
    mmap : bool, default=True
        Whether arrays stay in the file and are read when they are used: loading is then immediate, and memory is taken
        as it is needed. A later change of an array does not reach the file. The file must not be truncated while the
        model is in use; ``save`` to the same path is safe. False copies all arrays to memory.
    verify : bool or None, default=None
        Whether to check the hash of every array, which reads the whole file, at about 1 GB/s. None does so for files of
        up to 64 MB. The hash of the JSON, all sizes and the indices of sparse matrices are always checked. Hashes
        reveal damage, but not who wrote a file.

    Returns
    -------
    estimator or kernel

    Raises
    ------
    lopsided.exceptions.SavedModelError
        If the file is not a saved model, is damaged, was written by a newer version, or holds a type that is refused.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from lopsided import KernelSVD
    >>> from lopsided.io import load, save
    >>> X = np.random.default_rng(0).random((20, 3))
    >>> path = os.path.join(tempfile.mkdtemp(), "model.lopsided")
    >>> save(KernelSVD(2).fit(X, Z=X), path)
    >>> load(path).singular_values_.shape
    (2,)
    """
    path = Path(path)
    try:
        container = Container(path, verify=verify)
        array = container.array if mmap else _in_memory(container)
        return _checked(Decoder(array).decode(container.tree))
    except SavedModelError as error:
        raise SavedModelError(f"cannot load {str(path)!r}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        raise SavedModelError(f"cannot load {str(path)!r}: it was altered or damaged ({reason})") from error


def _in_memory(container: Container) -> Any:
    copies: dict[int, np.ndarray] = {}
    return lambda number: copies.setdefault(number, np.array(container.array(number), order="K"))


def _checked(model: Any) -> Any:
    if not isinstance(model, BaseEstimator):
        raise SavedModelError(f"it holds a {type(model).__name__}, which is neither an estimator nor a kernel")
    return model


def _versions() -> dict[str, str]:
    return {name: import_module(name).__version__ for name in ("lopsided", "numpy", "scipy", "sklearn")}
