"""Matrix Market files, every entry accounted for: scipy's reader drops what it does not expect, and may crash."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .bounds import check_shape

FIELDS = {"real": 1, "double": 1, "integer": 1, "pattern": 0}  # numbers per entry, beside its row and column
SYMMETRIES = {"general": None, "symmetric": 1.0, "skew-symmetric": -1.0}  # the sign of the other triangle


def read_matrix_market(path: Path) -> np.ndarray | sparse.csr_array:
    """The matrix in a Matrix Market file: CSR in coordinate format, an array in array format."""
    head, _, rest = path.read_bytes().partition(b"\n")
    words = head.decode("latin-1").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"] or words[2] not in ("coordinate", "array"):
        raise ValueError("its first line is not that of a Matrix Market file")
    layout, field, symmetry = words[2:]
    if field not in FIELDS or symmetry not in SYMMETRIES:
        raise ValueError(
            f"its entries are {field} and {symmetry}; only real matrices, general or symmetric, can be read"
        )
    while rest.lstrip()[:1] == b"%":
        rest = rest.lstrip().partition(b"\n")[2]
    numbers = _numbers(rest)
    n_sizes = 3 if layout == "coordinate" else 2
    sizes = numbers[:n_sizes]
    if len(sizes) < n_sizes or (sizes < 0).any() or (sizes != np.floor(sizes)).any():
        raise ValueError("its line of sizes is missing or damaged")
    shape, body = (int(sizes[0]), int(sizes[1])), numbers[n_sizes:]
    if SYMMETRIES[symmetry] and shape[0] != shape[1]:
        raise ValueError(f"it is {symmetry} but of shape {shape}")
    if layout == "array":
        return _array(body, shape, symmetry)
    return _coordinate(body.reshape(-1, 2 + FIELDS[field]), int(sizes[2]), shape, symmetry)


def _numbers(text: bytes) -> np.ndarray:
    """All numbers of a text, whatever space is between them."""
    letters = np.frombuffer(text, dtype=np.uint8) > ord(" ")
    words = np.count_nonzero(letters[1:] & ~letters[:-1]) + int(letters[:1].any())
    try:
        numbers = np.fromstring(text, sep=" ")
    except (DeprecationWarning, ValueError):
        numbers = np.empty(0)
    if len(numbers) != words:  # numpy before 2.3 stops at what is not a number
        raise ValueError("it holds something that is not a number")
    return numbers


def _array(body: np.ndarray, shape: tuple[int, int], symmetry: str) -> np.ndarray:
    n, sign = shape[0], SYMMETRIES[symmetry]
    wanted = n * shape[1] if sign is None else n * (n + 1) // 2 if sign > 0 else n * (n - 1) // 2
    _check_count(len(body), wanted)
    if sign is None:
        return body.reshape(shape[::-1]).T
    columns, rows = np.triu_indices(n, 0 if sign > 0 else 1)  # the lower triangle, column by column
    K = np.zeros(shape)
    K[columns, rows] = sign * body
    K[rows, columns] = body
    return K


def _coordinate(entries: np.ndarray, wanted: int, shape: tuple[int, int], symmetry: str) -> sparse.csr_array:
    _check_count(len(entries), wanted)
    check_shape(shape, wanted)
    places = entries[:, :2].T - 1
    if (places < 0).any() or (places >= np.array(shape)[:, None]).any() or (places != np.floor(places)).any():
        raise ValueError(f"an entry lies outside of the shape {shape}")
    (i, j), values = places.astype(np.int64), entries[:, 2] if entries.shape[1] > 2 else np.ones(len(entries))
    if sign := SYMMETRIES[symmetry]:
        other = i != j
        i, j = np.concatenate([i, j[other]]), np.concatenate([j, i[other]])
        values = np.concatenate([values, sign * values[other]])
    found: Any = sparse.csr_array((values, (i, j)), shape=shape)
    return found


def _check_count(found: int, wanted: int) -> None:
    if found != wanted:
        raise ValueError(f"it declares {wanted:,} entries and holds {found:,}")
