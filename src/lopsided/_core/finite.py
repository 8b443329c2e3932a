"""Detection of overflow and NaN in kernel matrices."""

from __future__ import annotations

import numpy as np

from ..exceptions import NotFiniteError


def check_finite(block: np.ndarray) -> None:
    """Raise NotFiniteError if a block of a kernel matrix, or a product with one, holds NaN or infinity."""
    if not np.isfinite(block).all():
        raise NotFiniteError(
            "the kernel matrix has entries that are not finite; scale the data down, or choose parameters with which "
            "the kernel grows more slowly; of a callable, look at what the kernel function returns"
        )
