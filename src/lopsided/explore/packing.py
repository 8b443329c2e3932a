"""Arrays and texts as one compressed block that a page can hold, small enough for a hundred thousand nodes."""

import base64
import gzip
import json
from typing import Any

import numpy as np

TONES = 2**14 - 1  # levels of a coordinate: thirty times the pixels of a plot, to zoom into
SHADES = 255  # levels of a score


def packed(facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    """Facts as JSON and arrays of unsigned integers, the bytes of equal weight together, compressed, in base64."""
    places, parts = {}, []
    for name, array in arrays.items():
        planes = np.ascontiguousarray(array).reshape(-1, 1).view(np.uint8).reshape(-1, array.dtype.itemsize)
        places[name] = [int(array.size), array.dtype.itemsize]
        parts.append(np.ascontiguousarray(planes.T).tobytes())
    header = json.dumps({**facts, "arrays": places}, ensure_ascii=False).encode("utf-8", "replace")
    block = len(header).to_bytes(4, "little") + header + b"".join(parts)
    return base64.b64encode(gzip.compress(block, 9, mtime=0)).decode("ascii")


def quantised(values: np.ndarray, low: float, high: float, count: int, dtype: type) -> np.ndarray:
    """Values between low and high as whole numbers from 0 to count."""
    share = (values - low) / ((high - low) or 1)
    return np.rint(np.clip(share, 0, 1) * count).astype(dtype)
