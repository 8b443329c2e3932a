"""What has left the range of floating-point numbers."""

from __future__ import annotations

import numpy as np


class NotFiniteError(ValueError):
    """A kernel matrix has overflowed, or holds what is not a number."""


def check_finite(block: np.ndarray) -> None:
    """Refuse the product of a kernel matrix that has overflowed."""
    if not np.isfinite(block).all():
        raise NotFiniteError(
            "the kernel matrix has entries that are not finite; lower eta or degree, scale the data down, or look at "
            "what the kernel function returns"
        )
