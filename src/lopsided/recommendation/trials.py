"""The choice of a kernel, a threshold and an exponent of popularity by hidden interactions."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from .._core import Array, best_columns
from ..kernels import Association
from .metrics import ndcg_of_users
from .smoothing import Smoother, popularity_weights

# `python benchmarks/recommend.py ablation` has the defaults without trials, on two sets of interactions, and `shapes`
# on generated ones; these numbers were settled there and on MovieLens, powers on its ratings and plays.
POWERS = 0.75, 0.25  # of the entries: the usual, as ratings have it, and one for counts with heavy tails
POPULARITY = 0.25
POPULARITIES = (0.0, 0.125, 0.25, 0.375, 0.5, 0.75, 1.0)
RANKS = (1, 2, 8, 32)  # t is the square of these singular values, or of the last one
ABOVE_FIRST = 4.0  # the largest t, in units of the largest squared singular value
HIDDEN_SHARE = 0.2  # of a user's interactions
TOP = 20  # recommended items that are judged
TRIAL_ENTRIES = 1 << 21  # scores of trial users, which bounds their number
TRIAL_USERS = (100, 500)  # least, whatever the number of items, and most
MARGIN = 1.5  # standard errors by which a setting must be better than the default
FEWEST_USERS = 10  # below which nothing can be said


class Setting(NamedTuple):
    """A threshold t in units of the largest squared singular value, and the exponent of popularity."""

    threshold: float
    popularity: float


class Trial(NamedTuple):
    """A setting, the mean NDCG of the 20 items that it recommends to the trial users, and the kernel below it."""

    setting: Setting
    ndcg: float
    kernel: Association


class Hidden(NamedTuple):
    """A table without some interactions of some users, and the numbers, rows and hidden parts of these users."""

    table: sparse.csr_array
    users: np.ndarray
    rows: sparse.csr_array
    held_out: sparse.csr_array


def hide(table: Array, rng: np.random.Generator) -> Hidden | None:
    """Hide a fifth of the positive entries of random users who have several; None if such users are too few."""
    found = sparse.coo_array(table)
    positive = np.flatnonzero(found.data > 0)
    counts = np.bincount(found.row[positive], minlength=found.shape[0])
    several = np.flatnonzero(counts > 1)
    if len(several) < FEWEST_USERS:
        return None
    least, most = TRIAL_USERS
    count = min(max(TRIAL_ENTRIES // found.shape[1], least), most, len(several))
    users = np.sort(rng.choice(several, count, replace=False))
    positive = positive[np.isin(found.row[positive], users)]
    shuffled = positive[np.lexsort((rng.random(len(positive)), found.row[positive]))]
    rank = np.arange(len(shuffled)) - np.searchsorted(found.row[shuffled], found.row[shuffled])
    hidden = np.zeros(found.nnz, dtype=bool)
    hidden[shuffled[rank < np.maximum(HIDDEN_SHARE * counts[found.row[shuffled]], 1).astype(int)]] = True
    kept, held_out = (
        sparse.csr_array((found.data[part], (found.row[part], found.col[part])), shape=found.shape)
        for part in (~hidden, hidden)
    )
    return Hidden(kept, users, kept[users], held_out[users])


class Trials:
    """NDCG of the hidden interactions of every trial user, under settings that are judged once each."""

    def __init__(self, kernel: Association, smoother: Smoother, hidden: Hidden) -> None:
        self.kernel, self.smoother, self.hidden = kernel, smoother, hidden
        self.judged = dict[Setting, np.ndarray]()
        self._projected = smoother.project(kernel.left(hidden.rows))
        self._latest = -1.0, np.empty(0)  # a threshold, and the scores of all items under it
        self._weighted = np.empty_like(self._projected.products)  # scores of one setting, in memory that is used again

    def of(self, setting: Setting) -> np.ndarray:
        """NDCG of every trial user."""
        if setting not in self.judged:
            weights, scores = popularity_weights(self.kernel.column_sums, setting.popularity), self._weighted
            np.multiply(self._smoothed(setting.threshold), weights, out=scores)
            best, _ = best_columns(lambda users: scores[users], self.hidden.rows, min(TOP, scores.shape[1]))
            self.judged[setting] = ndcg_of_users(best, self.hidden.held_out)
        return self.judged[setting]

    @property
    def compared(self) -> tuple[Trial, ...]:
        """Every setting that was judged, with its mean."""
        return tuple(Trial(setting, float(found.mean()), clone(self.kernel)) for setting, found in self.judged.items())

    def best(self, settings: Iterable[Setting]) -> Setting:
        """The setting of the largest mean."""
        return max(settings, key=lambda one: self.of(one).mean())

    def _smoothed(self, threshold: float) -> np.ndarray:
        if threshold != self._latest[0]:
            t = threshold * float(self.smoother.squares[0])
            self._latest = threshold, self.smoother.scores(self._projected, t)
        return self._latest[1]


class Grid(NamedTuple):
    """The thresholds and popularities that are compared, and the default among them."""

    thresholds: tuple[float, ...]
    popularities: tuple[float, ...]
    default: Setting

    @classmethod
    def of(cls, squares: np.ndarray, threshold: float | None, popularity: float | None) -> "Grid":
        """What is given, and where nothing is, thresholds at some squared singular values, by default the last one."""
        positive = squares[squares > 0]
        ranked = [float(positive[q - 1] / positive[0]) for q in RANKS if q < len(positive)]
        last = float(positive[-1] / positive[0]) if len(positive) else 1.0
        thresholds = (ABOVE_FIRST, *ranked, last) if threshold is None else (threshold,)
        popularities = POPULARITIES if popularity is None else (popularity,)
        default = Setting(thresholds[-1], POPULARITY if popularity is None else popularity)
        return cls(thresholds, popularities, default)

    @property
    def size(self) -> int:
        """Number of settings."""
        return len(self.thresholds) * len(self.popularities)


def best_setting(trials: Trials, grid: Grid) -> Setting:
    """The setting of a grid under which the hidden interactions rank best.

    The threshold is chosen at the default popularity, then the popularity at this threshold, then both again. The
    default stays unless the best is better by 1.5 standard errors over the users.
    """
    best = grid.default
    for _ in range(2):
        best = trials.best(Setting(t, best.popularity) for t in grid.thresholds)
        best = trials.best(Setting(best.threshold, p) for p in grid.popularities)
    return best if _is_better(trials.of(best), trials.of(grid.default)) else grid.default


def best_kernel(tried: Sequence[Trials], threshold: float | None, popularity: float | None) -> Trials | None:
    """The trials of the first kernel, the usual, or of one that is better by 1.5 standard errors, each at its best."""
    if len(tried) < 2:
        return next(iter(tried), None)
    ndcg = {one: one.of(best_setting(one, Grid.of(one.smoother.squares, threshold, popularity))) for one in tried}
    better = [one for one in tried if _is_better(ndcg[one], ndcg[tried[0]])]
    return max(better, key=lambda one: ndcg[one].mean(), default=tried[0])


def _is_better(ndcg: np.ndarray, usual: np.ndarray) -> bool:
    """Whether NDCG of the trial users is larger by 1.5 standard errors of the paired differences."""
    gain = ndcg - usual
    return bool(gain.mean() > MARGIN * gain.std() / np.sqrt(len(gain)))
