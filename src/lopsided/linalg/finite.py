"""What has left the range of floating-point numbers."""

from __future__ import annotations

import numpy as np

from ..exceptions import NotFiniteError


def check_finite(block: np.ndarray) -> None:
    """Refuse the product of a kernel matrix that has overflowed."""
    if not np.isfinite(block).all():
        raise NotFiniteError(
            "the kernel matrix has entries that are not finite; lower eta or degree, scale the data down, or look at "
            "what the kernel function returns"
        )
