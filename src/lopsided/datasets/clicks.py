"""Logs of clicks of any size: categories with power laws in hashed columns, and clicks that depend on pairs."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.utils._param_validation import Interval

from .._core import canonical, checked, mixed, seed_of

COUNT = Interval(Integral, 1, None, closed="left")
N_GROUPS = 12  # kinds of contexts along each of two directions, which the categories of a field tell apart
GROUP_NOISE = 0.5  # standard deviation of what a field shows of the context, in units of the context's
FEWEST, MOST = 2.0, 1e5  # categories of a group, by field; the rank-th is drawn in proportion to 1 / rank
BIAS, ADDITIVE, INTERACTION = -1.2, 0.6, 1.0  # of the log-odds of a click: bias, weight of a, weight of a b
BLOCK_ROWS = 50_000
MOST_BLOCKS = 1_000_000  # tasks that dask can be asked to list


@checked(n_samples=[COUNT], n_columns=[COUNT], n_fields=[COUNT], block_rows=[COUNT])
def make_click_log(
    n_samples: int = 100_000,
    n_columns: int = 1_000_000,
    *,
    n_fields: int = 26,
    block_rows: int = BLOCK_ROWS,
    random_state: Any = None,
) -> tuple[Any, Any]:
    """Generate rows of a click log, lazily, in sparse blocks.

    Every row has a context of two standard normal numbers a and b, who looks and at what. Each field shows one
    category: every other field one of the group that a is in, the rest one of the group of b, both seen through noise.
    Groups have from 2 to 100,000 categories, by field, with power laws. Categories are hashed to ``n_columns``, and a
    row has length one. A click has log-odds -1.2 + 0.6 a + a b. The product cannot be seen in any one category, so
    that a model that adds up weights of categories finds the second term only.

    Parameters
    ----------
    n_samples, n_columns, n_fields : int, default=100000, 1000000 and 26
        Numbers of rows, of columns, and of entries in a row (fewer where two meet in a column).
    block_rows : int, default=50000
        Rows of a block. The data depend on it, as every block has a seed of its own.
    random_state : int, RandomState instance or None, default=None
        Seed; None means a fixed seed.

    Returns
    -------
    X, y : dask arrays of shapes (n_samples, n_columns) and (n_samples,)
        Rows in CSR blocks of float32, and clicks, zero or one. Blocks are generated whenever they are read, at about a
        million rows in ten seconds a core; needs the extra ``dask``.

    Examples
    --------
    >>> from lopsided.datasets import make_click_log
    >>> X, y = make_click_log(1000, 500, block_rows=300)
    >>> X.chunks[0], X.blocks[3].compute().shape, bool(y.sum().compute() > 0)
    ((300, 300, 300, 100), (100, 500), True)
    """
    from ..distributed import from_blocks  # of an optional extra

    if n_samples > MOST_BLOCKS * block_rows:
        raise ValueError(
            f"n_samples={n_samples} makes more than {MOST_BLOCKS:,} blocks of {block_rows} rows; raise block_rows"
        )
    heights = [min(block_rows, n_samples - start) for start in range(0, n_samples, block_rows)]
    log = _ClickLog(seed_of(random_state), tuple(heights), n_columns, n_fields)
    X = from_blocks(log.rows, heights, n_columns, sparse.csr_array((0, 0), dtype=np.float32))
    return X, from_blocks(log.clicks, heights, None, np.empty(0, dtype=np.int8))


@dataclass(frozen=True)
class _ClickLog:
    """The blocks of a click log, each from a seed of its own."""

    seed: int
    heights: tuple[int, ...]
    n_columns: int
    n_fields: int

    def _context(self, number: int) -> tuple[np.random.Generator, np.ndarray, np.ndarray]:
        """The generator of a block after its contexts (rows, 2) and clicks (rows,)."""
        rng = np.random.default_rng([self.seed, number])
        contexts = rng.standard_normal((self.heights[number], 2), dtype=np.float32)
        a, b = contexts.T
        clicks = rng.random(len(a), dtype=np.float32) < expit(BIAS + ADDITIVE * a + INTERACTION * a * b)
        return rng, contexts, clicks

    def clicks(self, number: int) -> np.ndarray:
        """Clicks of a block."""
        return self._context(number)[2].astype(np.int8)

    def rows(self, number: int) -> sparse.csr_array:
        """Rows of a block."""
        rng, contexts, _ = self._context(number)
        shape = n, fields = self.heights[number], self.n_fields
        side = np.arange(fields) % 2
        categories = np.geomspace(FEWEST, MOST, fields)
        seen = contexts[:, side] + GROUP_NOISE * rng.standard_normal(shape, dtype=np.float32)
        seen *= N_GROUPS / 6 / np.sqrt(1 + GROUP_NOISE**2)  # three standard deviations on either side of the middle
        groups = np.clip(np.floor(seen) + N_GROUPS // 2, 0, N_GROUPS - 1).astype(np.int64)
        ranks = np.exp(rng.random(shape, dtype=np.float32) * np.log1p(categories).astype(np.float32)).astype(np.int64)
        named = (np.arange(fields) * N_GROUPS + groups) * int(2 * MOST) + ranks
        columns = np.sort((mixed(named) % np.uint64(self.n_columns)).astype(np.int32), axis=1)
        values = np.full(n * fields, 1 / np.sqrt(fields), dtype=np.float32)
        indptr = np.arange(0, n * fields + 1, fields, dtype=np.int32)
        return canonical(sparse.csr_array((values, columns.ravel(), indptr), shape=(n, self.n_columns)))
