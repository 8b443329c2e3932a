"""A folder of npy files, one per block of rows, with a manifest: written block by block, and resumed after a kill."""

import errno
import json
import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self, TypeVar

import dask.array as da
import numpy as np

from ..io import written_whole
from .compute import call, compute

MANIFEST = "manifest.json"
LEFT_OVER = re.compile(r"\.[0-9a-f]{32}\.part$")  # how the name of a file ends while it is being written
KIND = "lopsided row blocks, 1"
T = TypeVar("T")


class StoreError(ValueError):
    """A folder is not a store of row blocks, is incomplete, or holds the results of other settings or data."""


@dataclass(frozen=True)
class Manifest:
    """What a store holds: its rows, and the hash of what computed them."""

    key: str
    heights: tuple[int, ...]
    width: int
    dtype: str

    @classmethod
    def of(cls, key: str, heights: Sequence[int], width: int, dtype: str) -> Self:
        """The manifest with heights from a list, as JSON has them."""
        return cls(key, tuple(heights), width, dtype)

    def blocks(self, folder: Path) -> list[Path]:
        """The files of the blocks."""
        return [folder / f"{number}.npy" for number in range(len(self.heights))]

    def missing(self, folder: Path) -> list[int]:
        """Numbers of the blocks that are not there, or not whole."""
        return [i for i, path in enumerate(self.blocks(folder)) if not self._is_whole(path, self.heights[i])]

    def _is_whole(self, path: Path, height: int) -> bool:
        try:
            found = np.load(path, mmap_mode="r")
        except (OSError, ValueError, EOFError):  # none, or cut short
            return False
        return found.shape == (height, self.width) and found.dtype.str == self.dtype


def open_store(folder: str | os.PathLike[str]) -> Any:
    """Open what ``transform(X, out=folder)`` wrote, as a dask array.

    Parameters
    ----------
    folder : path
        The folder given as ``out``. It holds a file ``0.npy``, ``1.npy``, ... for every block, and a manifest.

    Returns
    -------
    dask array of shape (n, n_components)
        Blocks are read from their files when they are computed.

    Examples
    --------
    >>> import tempfile
    >>> import dask.array as da
    >>> from lopsided import KernelSVD, Nystrom
    >>> from lopsided.distributed import open_store
    >>> X = da.random.default_rng(0).random((300, 3), chunks=(100, 3))
    >>> folder = tempfile.mkdtemp()
    >>> model = KernelSVD(2, solver=Nystrom(20)).fit(X, Z=X)
    >>> _ = model.transform(X, out=folder)
    >>> open_store(folder).shape
    (300, 2)
    """
    path = Path(folder)
    manifest = read_manifest(path, KIND, Manifest.of)
    if manifest is None:
        raise StoreError(f"{path} has no {MANIFEST}; transform(X, out=...) did not write it")
    if missing := manifest.missing(path):
        whole = len(manifest.heights) - len(missing)
        raise StoreError(
            f"{path} is half-written: {whole} of {len(manifest.heights)} blocks are there, and block {missing[0]} is "
            "missing; repeat the call that was writing it to continue"
        )
    return _as_array(path, manifest)


def write(array: Any, key: str, folder: str | os.PathLike[str]) -> Any:
    """Compute the missing blocks of a dask array into a folder, and return the dask array of its files."""
    path = Path(folder)
    if path.suffix == ".zarr":
        raise ValueError(
            f"out={str(path)!r}: results are written as npy files, so that an interrupted call can continue; name a "
            "folder without .zarr, or write zarr with dask: model.transform(X).to_zarr(...)"
        )
    heights = tuple(map(int, array.chunks[0]))
    wanted = Manifest(key, heights, int(array.shape[1]), np.dtype(array.dtype).str)
    missing = _claim(path, wanted)
    _check_room(path, wanted, missing)
    blocks, files = array.to_delayed().ravel(), wanted.blocks(path)
    compute([call(_written, blocks[i], str(files[i])) for i in missing])
    return _as_array(path, wanted)


def _claim(path: Path, wanted: Manifest) -> list[int]:
    """Write the manifest of a new store, or check that of one to continue; return the blocks to compute."""
    found = read_manifest(path, KIND, Manifest.of)
    if found is None:
        reject_other_files(path)
        path.mkdir(parents=True, exist_ok=True)
        clear_left_overs(path)
        write_manifest(path, KIND, asdict(wanted))
        return list(range(len(wanted.heights)))
    for field in reversed(fields(Manifest)):  # the key last, as it covers all others
        before, now = getattr(found, field.name), getattr(wanted, field.name)
        if before != now:
            what = "the settings, the landmarks or the data" if field.name == "key" else f"{field.name} of the rows"
            raise StoreError(
                f"{path} holds the results of another call: {what} differ ({_short(before)}, now {_short(now)}); name "
                "another folder, or delete this one"
            )
    clear_left_overs(path)
    return wanted.missing(path)


def reject_other_files(path: Path) -> None:
    """Raise StoreError if there is something without a manifest, which no call of ours has written."""
    if path.exists() and (not path.is_dir() or any(not _is_left_over(file) for file in path.iterdir())):
        raise StoreError(f"{path} exists and is not a store of row blocks; name an empty or a new folder")


def clear_left_overs(path: Path) -> None:
    """Delete what a process that was killed has begun to write."""
    for file in filter(_is_left_over, path.iterdir()):
        file.unlink(missing_ok=True)


def _is_left_over(file: Path) -> bool:
    return bool(LEFT_OVER.search(file.name))


def write_manifest(path: Path, kind: str, facts: dict[str, Any]) -> None:
    """Write the manifest of a folder."""
    write_file(path / MANIFEST, json.dumps({"kind": kind, **facts}).encode())


def read_manifest(path: Path, kind: str, build: Callable[..., T]) -> T | None:
    """Build what the manifest of a folder holds from its facts; None if there is no manifest."""
    file = path / MANIFEST
    if not file.exists():
        return None
    try:
        found = json.loads(file.read_text())
        if (other := found.pop("kind")) == kind:
            return build(**found)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{file} is damaged ({error}); delete the folder {path} and start again") from error
    raise StoreError(f"{path} holds {other!r}, not {kind!r}; name another folder")


def _check_room(path: Path, wanted: Manifest, missing: Sequence[int]) -> None:
    needed = sum(wanted.heights[i] for i in missing) * wanted.width * np.dtype(wanted.dtype).itemsize
    free = shutil.disk_usage(path).free
    if needed > free:
        raise OSError(
            errno.ENOSPC,
            f"{len(missing)} blocks need {needed} bytes, but only {free} are free; free some space",
            str(path),
        )


def _as_array(path: Path, manifest: Manifest) -> Any:
    dtype = np.dtype(manifest.dtype)
    return da.map_blocks(
        _load,
        folder=str(path.absolute()),
        key=manifest.key,
        chunks=(manifest.heights, (manifest.width,)),
        dtype=dtype,
        meta=np.empty((0, 0), dtype=dtype),
    )


def _load(block_id: tuple[int, ...] | None = None, *, folder: str, key: str) -> np.ndarray:
    number = block_id[0] if block_id else 0
    return np.load(Path(folder) / f"{number}.npy", mmap_mode="r")


def _written(block: np.ndarray, path: str) -> int:
    """Write a block to its file, whole or not at all, within a dask task; the number of its rows."""
    write_file(Path(path), np.ascontiguousarray(block))
    return len(block)


def write_file(path: Path, content: bytes | np.ndarray) -> None:
    """Write bytes, or an array as npy, to a file that appears when all of it is on disk."""
    with written_whole(path) as part, part.open("wb") as file:
        if isinstance(content, bytes):
            file.write(content)
        else:
            np.save(file, content, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
