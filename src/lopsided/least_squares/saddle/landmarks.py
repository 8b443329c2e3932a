"""Saddle systems of a Nystrom approximation: fitted on all samples, evaluated at new ones through landmarks only."""

from __future__ import annotations

import numpy as np

from ..._core import centred
from ...nystrom import NystromFactors
from ...operators import LowRank
from .spectral import Spectral, SpectralSystem
from .system import Duals


class Landmarked(Spectral):
    """Systems of the orthonormal factors of a centred Nystrom approximation. Cost O(n k) for k components."""

    def __init__(self, found: NystromFactors) -> None:
        assert found.means is not None  # the approximation is centred
        self.found = found
        factors, (rows, columns) = found.factors, found.means
        L = np.column_stack([factors.U * factors.s, np.ones_like(rows), rows])
        R = np.column_stack([factors.V, columns - rows.mean(), np.ones_like(columns)])
        super().__init__(LowRank(L, R), factors)

    def at(self, C: float) -> LandmarkedSystem:
        """Return the system at one C, without a further factorisation."""
        return LandmarkedSystem(self, C)


class LandmarkedSystem(SpectralSystem):
    """The system at one C; new samples are compared with landmarks."""

    family: Landmarked

    def duals_for_prediction(self, Y: np.ndarray) -> Duals:
        """Duals over the landmarks, which define the same functions as the duals over all samples.

        f_source(x) = left(x) s V'c + mean(y), where left(x) is a sum over landmarks; f_target(x) has the same form.
        U'a and V'c are found without forming a and c, whose other components are far larger.
        """
        found, R = self.family.found, centred(centred(Y))
        u, v = found.factors.U.T @ R, found.factors.V.T @ R
        sums, gaps = self.family.eigenvalues(np.array([self.C]))
        p, q, s = (u + v) / sums.T, (u - v) / gaps.T, found.factors.s[:, None]
        of_target, of_source = s * (p + q) / 2, s * (p - q) / 2
        return Duals(
            a=found.right.map @ of_target,
            c=found.left.map @ of_source,
            b1=Y.mean(axis=0) - found.left.offset @ of_source,
            b2=Y.mean(axis=0) - found.right.offset @ of_target,
        )
