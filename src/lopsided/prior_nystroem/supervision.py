"""What is known of the samples, partial labels or must-link and cannot-link pairs: validated, thinned, in folds."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from .._core import Array, at_hand, count_of, reject_masked
from ..exceptions import LopsidedWarning, warn
from ..io import is_missing

N_FOLDS = 5  # chosen on the data of benchmarks/prior_table1.py table; see its ablation

Parts = tuple[Any, Any]  # kept and held-out indices; for classes with Z, each is a pair of left and right indices


class LabelledRows(NamedTuple):
    """Rows of the labelled samples of one side, and their classes, numbered from zero."""

    rows: np.ndarray
    classes: np.ndarray


class Labels(NamedTuple):
    """Labelled samples of both sides, and whether their classes have equal weight; without Z there is no right side."""

    left: LabelledRows
    right: LabelledRows | None
    balanced: bool


class Pairs(NamedTuple):
    """Rows (p, 2) of left and right samples, distinct, and target values (p,) of the kernel for these pairs.

    Within one set, (i, j) stands for (j, i) too.
    """

    rows: np.ndarray
    targets: np.ndarray


def read_supervision(
    X: Array, y: Any, Z: Array | None, y_right: Any, pairs: Any, *, balanced: bool
) -> tuple[Labels | Pairs | None, np.ndarray]:
    """Validate labels or pairs; return them, or None if they say nothing, and the classes, empty without labels."""
    if y_right is not None and Z is None:
        raise ValueError("y_right holds the labels of Z, and there is no Z; give Z, or leave y_right out")
    nothing: np.ndarray = np.empty(0)
    if pairs is not None and (y is not None or y_right is not None):
        raise ValueError("both labels and pairs were given; give one of them")
    if pairs is not None:
        return _read_pairs(pairs, X.shape[0], None if Z is None else Z.shape[0]), nothing
    if Z is not None and (y is None) != (y_right is None):
        missing = "y, the labels of X" if y is None else "y_right, the labels of Z"
        raise ValueError(f"with Z, labels of one side alone say nothing; also give {missing}, or give pairs instead")
    if y is None:
        return None, nothing
    rows, labels = _labelled(y, X, "y")
    right_rows, right_labels = (rows, labels) if Z is None else _labelled(y_right, Z, "y_right")
    known = len(labels) and len(right_labels)
    classes = np.unique(np.concatenate([labels, right_labels])) if known else nothing
    if len(classes) < 2:
        found = f"one class only, {classes[0]}" if len(classes) else "no label"
        labels_hold = f"the labels of {X.shape[0]} samples hold {found}: the features are plain Nystrom features"
        warn(f"{labels_hold}; label samples of at least two classes (-1 means no label)", LopsidedWarning)
        return None, classes
    left = LabelledRows(rows, np.searchsorted(classes, labels))
    right = None if Z is None else LabelledRows(right_rows, np.searchsorted(classes, right_labels))
    return Labels(left, right, balanced), classes


def thinned(known: Labels, count: int, rng: np.random.Generator) -> Labels:
    """Random subset of at most ``count`` labelled samples per side, with the shares of the classes."""

    def subset(side: LabelledRows) -> LabelledRows:
        kept = _evenly(_shuffled_by_group(side.classes, rng), count)
        return LabelledRows(side.rows[kept], side.classes[kept])

    return known._replace(left=subset(known.left), right=None if known.right is None else subset(known.right))


def thinned_pairs(known: Pairs, count: int, rng: np.random.Generator) -> Pairs:
    """Random subset of at most ``count`` pairs with the shares of the targets."""
    kept = _evenly(_shuffled_by_group(known.targets, rng), count)
    return Pairs(known.rows[kept], known.targets[kept])


def folds_of(known: Labels | Pairs, rng: np.random.Generator) -> list[Parts]:
    """Cross-validation folds (kept, held out) of labelled samples, or of pairs; none of fewer than two of them."""
    if isinstance(known, Pairs):
        return _dealt(known.targets, rng)
    left = _dealt(known.left.classes, rng)
    if known.right is None:
        return left
    right = _dealt(known.right.classes, rng)
    return [((a, c), (b, d)) for (a, b), (c, d) in zip(left, right, strict=False)]


def as_labels(y: Any, name: str) -> np.ndarray:
    """Labels as an array (n,); of a list, numpy would make "nan" of what is missing among texts."""
    y = reject_masked(at_hand(y), name, text=True)
    are_text = {isinstance(label, str) for label in y} if isinstance(y, (list, tuple)) else ()
    return column_or_1d(np.asarray(y, dtype=object if len(are_text) > 1 else None), warn=True)


def _labelled(y: Any, X: Array, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the labelled samples, and their labels; -1 ("-1" in string labels), None, nan, NaT and NA mean none."""
    y = as_labels(y, name)
    check_consistent_length(X, y)
    rows = np.flatnonzero(~_missing(y))
    labels = y[rows]
    if y.dtype.kind == "O":
        plain = (label.item() if isinstance(label, np.generic) else label for label in labels)
        if len(kinds := sorted({type(label).__name__ for label in plain})) > 1:
            raise ValueError(f"{name} mixes labels of types {', '.join(kinds)}; use one type, and -1 for no label")
    if len(labels):
        check_classification_targets(labels.astype(str) if y.dtype.kind == "O" else labels)
    return rows, labels


def _missing(y: np.ndarray) -> np.ndarray:
    """Which labels are missing."""
    if y.dtype.kind == "O":
        return np.array([is_missing(label) or label in (-1, "-1") for label in y], dtype=bool)
    if y.dtype.kind in "US":
        return np.asarray(y == "-1")
    if y.dtype.kind in "mM":
        return np.isnat(y)
    return np.asarray(y == -1) | (np.isnan(y) if y.dtype.kind == "f" else False)


def _read_pairs(pairs: Any, n: int, n_right: int | None) -> Pairs:
    """Unique pairs with targets, 1 for must-link and 0 for cannot-link; within one set in ascending order."""
    if not isinstance(pairs, (tuple, list)) or len(pairs) != 2:
        raise ValueError("pairs must be (must_link, cannot_link), two arrays of shape (p, 2)")
    one_set, width = n_right is None, n if n_right is None else n_right
    sides = (("X", n), ("X" if one_set else "Z", width))
    kinds = [_pair_rows(kind, name, sides) for kind, name in zip(pairs, ("must_link", "cannot_link"), strict=True)]
    kinds = [np.sort(kind, axis=1) if one_set else kind for kind in kinds]
    must, cannot = (np.unique(kind[:, 0] * width + kind[:, 1]) for kind in kinds)  # each pair as one number
    if len(both := np.intersect1d(must, cannot, assume_unique=True)):
        i, j = divmod(both[0], width)
        twice = count_of(len(both), "pair is", "pairs are")
        raise ValueError(f"{twice} in both must_link and cannot_link, such as ({i}, {j}); keep one of each")
    if one_set and len(alone := cannot[cannot % (width + 1) == 0]):
        i = alone[0] // width
        raise ValueError(f"cannot_link holds ({i}, {i}), but a sample is always linked to itself; remove this pair")
    if not len(must) + len(cannot):
        raise ValueError("pairs is empty; leave it out for the plain Nystrom method")
    rows = np.column_stack(np.divmod(np.concatenate([must, cannot]), width))
    return Pairs(rows, np.repeat([1.0, 0.0], [len(must), len(cannot)]))


def _pair_rows(pairs: Any, name: str, sides: tuple[tuple[str, int], tuple[str, int]]) -> np.ndarray:
    found = np.asarray(pairs)
    if not found.size:
        return np.empty((0, 2), dtype=np.intp)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integer row numbers, shape (p, 2); got {found.shape} of {found.dtype}")
    for numbers, (side, size) in zip(found.T, sides, strict=True):
        low, high = numbers.min(), numbers.max()
        if low < 0 or high >= size:
            raise ValueError(f"{name} has row numbers from {low} to {high}, but rows of {side} are 0 to {size - 1}")
    return found.astype(np.intp)


def _dealt(groups: np.ndarray, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Folds (kept, held out) that share each group evenly; StratifiedKFold refuses or warns about small groups."""
    n = len(groups)
    if n < 2:
        return []
    count, order = min(N_FOLDS, n), _shuffled_by_group(groups, rng)
    folds = [np.sort(order[first::count]) for first in range(count)]
    return [(np.setdiff1d(np.arange(n), fold), fold) for fold in folds]


def _shuffled_by_group(groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Indices ordered by group, and at random within each."""
    return np.lexsort((rng.permutation(len(groups)), groups))


def _evenly(order: np.ndarray, count: int) -> np.ndarray:
    """At most ``count`` of some indices, evenly spaced, sorted."""
    n = len(order)
    return np.sort(order if n <= count else order[np.arange(count) * n // count])
