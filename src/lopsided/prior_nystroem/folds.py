"""Random subsets and folds of labelled samples and of pairs, stratified by class or target."""

import numpy as np

from .criteria import Parts
from .supervision import LabelledRows, Labels, Pairs

N_FOLDS = 5  # chosen on the data of benchmarks/prior_table1.py table; see its ablation


def thinned(known: Labels, count: int, rng: np.random.Generator) -> Labels:
    """Random subset of at most ``count`` labelled samples per side."""
    left = _thinned_side(known.left, count, rng)
    return Labels(left, None if known.right is None else _thinned_side(known.right, count, rng), known.balanced)


def folds_of(known: Labels | Pairs, rng: np.random.Generator, *, one_set: bool) -> list[Parts]:
    """Cross-validation folds (kept, held out) of labelled samples, of both sides at once with Z, or of pairs.

    The list is empty if there are fewer than two labelled samples or pairs.
    """
    if isinstance(known, Pairs):
        # Within one set both orders of a pair say the same, and go to one fold.
        rows = np.sort(known.rows, axis=1) if one_set else known.rows
        _, first, pair = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        folds = _dealt(known.targets[first], rng)
        return [(np.flatnonzero(np.isin(pair, kept)), np.flatnonzero(np.isin(pair, out))) for kept, out in folds]
    left = _dealt(known.left.classes, rng)
    if known.right is None:
        return left
    right = _dealt(known.right.classes, rng)
    return [((a, c), (b, d)) for (a, b), (c, d) in zip(left, right, strict=False)]


def _thinned_side(side: LabelledRows, count: int, rng: np.random.Generator) -> LabelledRows:
    n, order = len(side.rows), _shuffled_by_group(side.classes, rng)
    kept = np.sort(order if n <= count else order[np.arange(count) * n // count])
    return LabelledRows(side.rows[kept], side.classes[kept])


def _dealt(groups: np.ndarray, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Folds (kept, held out) that share each group evenly.

    StratifiedKFold gives the same shares, but refuses or warns about classes of few labels, which are common here, and
    its other draws would change all recorded errors a little.
    """
    n = len(groups)
    if n < 2:
        return []
    count, order = min(N_FOLDS, n), _shuffled_by_group(groups, rng)
    folds = [np.sort(order[first::count]) for first in range(count)]
    return [(np.setdiff1d(np.arange(n), fold), fold) for fold in folds]


def _shuffled_by_group(groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Indices ordered by group, and at random within each."""
    return np.lexsort((rng.permutation(len(groups)), groups))
