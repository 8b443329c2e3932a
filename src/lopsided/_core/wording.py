"""Numbers of things in messages."""

from typing import Any

import numpy as np


def count_of(number: int | np.integer[Any], singular: str, plural: str | None = None) -> str:
    """The number and what it counts: 1 edge, 6,000 edges; the plural adds an s unless it is given."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
