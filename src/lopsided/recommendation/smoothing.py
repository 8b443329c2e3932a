"""Ridge regression of every item on all items, from the leading components of a table and products with it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from .._core import Array, block_bytes, blocks_of, by_rows, dense, row_sums
from ..kernels import SPARSE_BYTES, product_slices

BLOCK_BYTES = 1 << 27  # of products of rows with all users, at most


class Projected(NamedTuple):
    """Rows k of K in the coordinates of the components, k V, and their products k K^T K with all items."""

    coordinates: np.ndarray
    products: np.ndarray


@dataclass(frozen=True)
class Smoother:
    """Scores k (K^T K + t I)^-1 K^T K of all items for rows k of a table K = U diag(s) V^T.

    Component c is kept to s_c^2 / (s_c^2 + t). The q leading components are treated exactly; for the others, which are
    not known, s^2 / (s^2 + t) is replaced by its chord s^2 / (s_q^2 + t), which is exact at zero and at s_q. They enter
    through k K^T K alone.
    """

    K: Array  # (n, m)
    turned: Array  # K^T, by rows: scipy would convert it for every product
    V: np.ndarray  # (m, q)
    squares: np.ndarray  # s^2 (q,), largest first

    @classmethod
    def of(cls, K: Array, V: np.ndarray, s: np.ndarray) -> "Smoother":
        """The smoother of K with its right singular vectors V and singular values s."""
        return cls(K, by_rows(K.T), V, np.square(s))

    def project(self, rows: Array) -> Projected:
        """What the scores of some rows need of the table, for every t. Cost: O(nnz q), and the sparse products."""
        products = [dense((rows[part] @ self.turned) @ self.K) for part in self._blocks(rows)]
        return Projected(np.asarray(rows @ self.V), np.concatenate(products))

    def _blocks(self, rows: Array) -> list[slice]:
        """Blocks of rows whose products with all users, who may be far more than the items, fit the memory."""
        n_users = self.K.shape[0]
        if not (sparse.issparse(rows) and sparse.issparse(self.turned)):
            return blocks_of(rows.shape[0], self.K.dtype.itemsize * n_users, BLOCK_BYTES)
        users_of_items = np.diff(self.turned.indptr)
        widths = np.minimum(row_sums(users_of_items[rows.indices], rows), n_users)
        return product_slices(widths, block_bytes(BLOCK_BYTES) // SPARSE_BYTES)

    def scores(self, projected: Projected, t: float) -> np.ndarray:
        """Scores of all items, shape (rows, m)."""
        chord = self.squares.dtype.type(self.squares[-1] + t)
        beyond_chord = self.squares * (chord / (self.squares + t) - 1)
        found = (projected.coordinates * beyond_chord) @ self.V.T
        found += projected.products
        found /= chord
        return found


def popularity_weights(counts: np.ndarray, exponent: float) -> np.ndarray:
    """Factors (c + mean c)^p of the scores of items."""
    return np.asarray((counts + counts.mean()) ** counts.dtype.type(exponent))
