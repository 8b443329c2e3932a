"""Linear maps that bring vectors of two widths to one, so that a kernel can compare them.

The wider vectors are projected to the width of the narrower ones. For a matrix A whose rows and columns are compared,
the papers' alternatives are a0, the pseudo-inverse of A; a1, a PCA projection; a2, a random projection; a3, learned.
"""

from dataclasses import dataclass
from functools import reduce
from operator import matmul
from typing import ClassVar

import numpy as np
from scipy import sparse

from ..._core import Array, in_unit, row_lengths, run, safe_unit, slices_of

BLOCK_ENTRIES = 1 << 22  # entries of a random matrix that a thread holds at once
TILE_ROWS, TILE_COLUMNS = 32, 128  # of a random matrix that are drawn together


@dataclass(frozen=True)
class Compatibility:
    """The maps x -> x C_x and z -> z C_z, each C a product of factors, never formed; without any, the identity.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernel_svd import Compatibility
    >>> halved = Compatibility(left_factors=(np.eye(3)[:, :2], 0.5 * np.eye(2)))
    >>> halved.left(np.ones((1, 3))), halved.right(np.ones((1, 2)))
    (array([[0.5, 0.5]]), array([[1., 1.]]))
    """

    left_factors: tuple[Array, ...] = ()
    right_factors: tuple[Array, ...] = ()
    name: ClassVar[str] = "given"

    def left(self, X: Array) -> Array:
        """Map left points, the rows of X."""
        return reduce(matmul, self.left_factors, X)

    def right(self, Z: Array) -> Array:
        """Map right points, the rows of Z."""
        return reduce(matmul, self.right_factors, Z)


class Identity(Compatibility):
    """Identity on both sides, for vectors of equal width.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernel_svd import Identity
    >>> Identity().left(np.ones((1, 2)))
    array([[1., 1.]])
    """

    name = "identity"


class PCAProjection(Compatibility):
    """Alternative a1: C = V_w V_n^T, which maps the principal axes V_w of the wider points to V_n of the narrower.

    Every C = V_w R with orthogonal R minimises |W - W C C^T|, the objective of the 2024 paper (Algorithm 1), and R
    decides how the two sides compare. This one is their alignment: for the rows and columns of A = U S V^T with more
    columns than rows, C = V U^T is the polar factor, and A C = (A A^T)^(1/2) is in the coordinates of the columns of A;
    then x_i C z_j = (U S^2 V^T)_ij, so that the linear kernel has the singular vectors of A. For two sets of points,
    axes are matched by order, and the sign of each is that of the sum of cubed coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernel_svd import make_compatible
    >>> A = np.random.default_rng(0).random((3, 5))
    >>> maps = make_compatible("pca", A, A.T, np.random.default_rng(0))
    >>> type(maps).__name__, maps.left(A).shape, maps.right(A.T).shape
    ('PCAProjection', (3, 3), (5, 3))
    """

    name = "pca"


@dataclass(frozen=True)
class TruncatedProjection(PCAProjection):
    """Alternative a1 of large sparse points: x.z from the r leading axes of both sides, and |x| and |z| unchanged.

    With the axes V and V' of both sides, x becomes [x V, |x - V V^T x|, 0] and z becomes [z V', 0, |z - V' V'^T z|]:
    what is outside of the leading axes counts as orthogonal to the other side, and is not dropped, since the polar
    factor keeps the lengths of the points too. This suits kernels of |x|^2, |z|^2 and x.z, and forms no array wider
    than r + 2.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernel_svd import TruncatedProjection
    >>> axis = np.array([[1.0], [0.0], [0.0]])
    >>> maps = TruncatedProjection(left_factors=(axis,), right_factors=(axis,))
    >>> maps.left(np.array([[3.0, 4.0, 0.0]]))
    array([[3., 4., 0.]])
    """

    energy: float = 1.0  # share of the squared norm of the wider points along their axes

    def left(self, X: Array) -> np.ndarray:
        """Map left points, the rows of X."""
        inside = np.asarray(super().left(X))
        outside = _length_outside(X, inside)
        return np.column_stack([inside, outside, np.zeros_like(outside)])

    def right(self, Z: Array) -> np.ndarray:
        """Map right points, the rows of Z."""
        inside = np.asarray(super().right(Z))
        outside = _length_outside(Z, inside)
        return np.column_stack([inside, np.zeros_like(outside), outside])


@dataclass(frozen=True)
class RandomProjection(Compatibility):
    """Alternative a2: projection by independent normal entries of variance 1 / width, preserving norms on average.

    The matrix is drawn again from its seed whenever points are mapped, a few columns at a time and only in rows that
    meet entries of the points, and is never stored. Cost: O(nnz width).

    A rotation Q after C keeps all lengths and products on the side that is mapped, and decides how it compares with the
    other side. For the rows and columns of a matrix A with more columns than rows, Q is the polar factor for which
    A C Q = (A C C^T A^T)^(1/2) is in the coordinates of the columns, as A C = (A A^T)^(1/2) is for "pca". This costs
    an SVD of width x width, and is done up to a width of 2,500 for points in memory. Two sets of points have no
    correspondence that Q could be found from.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernel_svd import make_compatible
    >>> A = np.random.default_rng(0).random((3, 5))
    >>> maps = make_compatible("random", A, A.T, np.random.default_rng(0))
    >>> type(maps).__name__, maps.left(A).shape, maps.right(A.T).shape
    ('RandomProjection', (3, 3), (5, 3))
    """

    seed: int = 0
    shape: tuple[int, int] = (0, 0)  # widths before and after
    of_right: bool = False  # the side that is mapped
    rotation: np.ndarray | None = None  # Q; None for the identity
    name: ClassVar[str] = "random"

    def left(self, X: Array) -> Array:
        """Map left points, the rows of X."""
        return X if self.of_right else self._turned(X)

    def right(self, Z: Array) -> Array:
        """Map right points, the rows of Z."""
        return self._turned(Z) if self.of_right else Z

    def _turned(self, W: Array) -> np.ndarray:
        mapped = self.project(W)
        return mapped if self.rotation is None else mapped @ self.rotation.astype(mapped.dtype, copy=False)

    def project(self, W: Array) -> np.ndarray:
        """Project points of the side that is mapped, before the rotation."""
        before, after = self.shape
        mapped = np.zeros((W.shape[0], after), dtype=W.dtype)
        met = np.arange(before)
        if sparse.issparse(W):
            W = by_columns = sparse.csc_array(W)
            met = np.flatnonzero(np.diff(by_columns.indptr))
        tiles = np.unique(met // TILE_ROWS)
        parts = [tiles[part] for part in slices_of(len(tiles), BLOCK_ENTRIES // (TILE_ROWS * TILE_COLUMNS))]
        rows = [(part[:, None] * TILE_ROWS + np.arange(TILE_ROWS)).ravel() for part in parts]
        sides = [W[:, part[part < before]] for part in rows]

        def fill(first: int) -> None:
            columns = slice(first, min(first + TILE_COLUMNS, after))
            for part, side in zip(parts, sides, strict=True):
                C = np.empty((side.shape[1], columns.stop - first), np.float32)  # one C for every dtype
                for place, tile in enumerate(part.tolist()):
                    rng = np.random.default_rng([self.seed, first, tile])
                    rng.standard_normal(out=C[place * TILE_ROWS : (place + 1) * TILE_ROWS], dtype=np.float32)
                mapped[:, columns] += side @ C.astype(W.dtype, copy=False)

        run(fill, range(0, after, TILE_COLUMNS))
        return np.divide(mapped, mapped.dtype.type(np.sqrt(after)), out=mapped)


@dataclass(frozen=True)
class PseudoInverse(Compatibility):
    """Alternative a0: the pseudo-inverse of the matrix A whose rows and columns are compared.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernel_svd import make_compatible
    >>> A = np.array([[2.0, 0.0], [0.0, 4.0], [0.0, 0.0]])
    >>> maps = make_compatible("pinv", A, A.T, np.random.default_rng(0))
    >>> type(maps).__name__, bool(np.allclose(maps.left(A) @ maps.right(A.T).T, A))
    ('PseudoInverse', True)
    """

    residual: float = 0.0  # |A C A - A| / |A| of the compatibility condition: near eps, or sqrt(eps) for sparse A
    name: ClassVar[str] = "pinv"


class LearnedProjection(Compatibility):
    """Alternative a3: projection learned from a task (:mod:`lopsided.kernel_svd.compatibility.alternate`).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lopsided import LearnedKernelSVDClassifier
    >>> model = LearnedKernelSVDClassifier(max_iter=2).fit(*load_iris(return_X_y=True))
    >>> type(model.compatibility_).__name__
    'LearnedProjection'
    """

    name = "learned"


def _length_outside(points: Array, inside: np.ndarray) -> np.ndarray:
    """Length of each point without its coordinates ``inside`` along orthonormal axes."""
    unit = safe_unit(points)
    whole, within = (row_lengths(in_unit(part, unit)) for part in (points, inside))
    return unit * np.sqrt(np.maximum((whole - within) * (whole + within), 0))
