"""Bounds on what a small file may expand to, so that a damaged or hostile one cannot fill the memory."""

import io
import zipfile
from pathlib import Path
from typing import Any

from .._core import budget_bytes

HONEST_EXPANSION = 100  # times its size that any archive may expand to; text of edges takes 3 to 30
BLOCK_BYTES = 1 << 20  # read from an archive at once
EMPTY_ROWS = 1000  # rows per stored entry of a sparse matrix, beyond
ALWAYS_ROWS = 1 << 20  # those that any may have


def most_bytes(path: Path) -> int:
    """Bytes that the content of a file may take: 100 times its size, or a quarter of the free memory if more."""
    return max(HONEST_EXPANSION * path.stat().st_size, budget_bytes())


def check_expansion(path: Path, size: int) -> None:
    """Raise ValueError if the content of a file is larger than it may be."""
    if size > (most := most_bytes(path)):
        raise _too_large(path, most)


def _too_large(path: Path, most: int) -> ValueError:
    return ValueError(
        f"its {path.stat().st_size:,} bytes expand to more than {most:,}, a quarter of the free memory; if that is "
        "intended, unpack it and read it in parts"
    )


def read_all(path: Path, file: Any) -> bytes:
    """The content of an open file, by blocks if it is compressed."""
    if path.suffix.lower() != ".gz":
        return bytes(file.read())
    found, block, size, most = io.BytesIO(), memoryview(bytearray(BLOCK_BYTES)), 0, most_bytes(path)
    while count := file.readinto(block):  # pyarrow's read would leak a block if the archive is damaged
        size += count
        if size > most:
            raise _too_large(path, most)
        found.write(block[:count])
    return found.getvalue()


def check_zip(path: Path) -> None:
    """Raise ValueError if the members of a zip expand to more than they may."""
    with zipfile.ZipFile(path) as archive:
        check_expansion(path, sum(member.file_size for member in archive.infolist()))


def check_shape(shape: tuple[int, ...], entries: int) -> None:
    """Raise ValueError if a sparse matrix has far more rows than entries, so that row pointers could fill memory."""
    if shape[0] > ALWAYS_ROWS + EMPTY_ROWS * entries:
        raise ValueError(
            f"it declares {shape[0]:,} rows but holds only {entries:,} entries; leave out empty rows, or check "
            "whether it is damaged"
        )
