"""The file of a saved model: a zip of .npy arrays, uncompressed and aligned for memory maps, and one of JSON."""

import hashlib
import io
import json
import math
import mmap as memory_map
import re
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from ..exceptions import SavedModelError
from .atomic import written_whole

MAGIC = "lopsided model"
VERSION = 1
HEADER = "model.json"
ALIGNMENT = 64  # bytes, as of arrays that numpy makes; the header of an .npy file takes a multiple of it
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
ZIP64_EXTRA = 20  # bytes that zipfile puts before the padding
PADDING_ID = 0xD935  # registered for alignment
VERIFIED_BYTES = 1 << 26  # of arrays whose hashes are always checked, which takes 0.1 s


def write(path: Path, tree: Any, arrays: Sequence[np.ndarray], written_by: dict[str, str]) -> None:
    """Write a tree and its arrays; the comment of the zip holds the version and the hash of the JSON."""
    with written_whole(path) as part, zipfile.ZipFile(part, "w") as file:
        hashes = [_write_array(file, f"{i}.npy", array) for i, array in enumerate(arrays)]
        header = {"written_by": written_by, "sha256": hashes, "model": tree}
        text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
        file.writestr(HEADER, text)
        file.comment = f"{MAGIC} {VERSION} {hashlib.sha256(text).hexdigest()}".encode()


def _write_array(file: zipfile.ZipFile, name: str, array: np.ndarray) -> str:
    member = zipfile.ZipInfo(name)
    begin = file.fp.tell() + LOCAL_HEADER.size + len(name) + ZIP64_EXTRA + 4  # type: ignore[union-attr]
    padding = -begin % ALIGNMENT
    member.extra = struct.pack("<HH", PADDING_ID, padding) + bytes(padding)
    with file.open(member, "w", force_zip64=True) as out:
        hashed = _Hashed(out)
        npy.write_array(hashed, np.asarray(array), version=(1, 0), allow_pickle=False)
    return hashed.sha256.hexdigest()


class _Hashed:
    """A stream that hashes what is written to it."""

    def __init__(self, out: Any) -> None:
        self.out, self.sha256 = out, hashlib.sha256()

    def write(self, data: Any) -> int:
        self.sha256.update(data)
        return int(self.out.write(data))


class Container:
    """A saved file, opened: its tree, and its arrays by number, which are mapped and not read."""

    def __init__(self, path: Path, *, verify: bool | None) -> None:
        with path.open("rb") as file:
            try:
                comment, self._members = _members(file)
            except (zipfile.BadZipFile, struct.error, NotImplementedError, EOFError, OSError) as error:
                raise SavedModelError(f"it is not a zip, or is cut short: {error}") from None
            self._bytes = memoryview(memory_map.mmap(file.fileno(), 0, access=memory_map.ACCESS_COPY))
        header = self._header(comment)
        self.tree, self._hashes = header["model"], header["sha256"]
        self._found: dict[int, np.ndarray] = {}
        small = sum(end - begin for begin, end in self._members.values()) <= VERIFIED_BYTES
        if verify or (verify is None and small):
            self._verify()

    def array(self, number: int) -> np.ndarray:
        """An array of the file, as a copy-on-write view of it."""
        if number not in self._found:
            self._found[number] = self._mapped(number)
        return self._found[number]

    def _header(self, comment: str) -> dict[str, Any]:
        """The JSON, checked against the version and the hash in the comment."""
        parts = re.fullmatch(rf"{MAGIC} (\d+) ([0-9a-f]+)", comment)
        if parts is None:
            raise SavedModelError("it is a zip file, but not one that lopsided.io.save wrote")
        if int(parts[1]) > VERSION:
            raise SavedModelError(f"its format is {parts[1]}, and this version reads up to {VERSION}; upgrade lopsided")
        text = bytes(self._part(HEADER))
        if hashlib.sha256(text).hexdigest() != parts[2]:
            raise SavedModelError(f"its {HEADER} was altered or damaged: the hash differs")
        header: dict[str, Any] = json.loads(text)
        return header

    def _verify(self) -> None:
        for number, expected in enumerate(self._hashes):
            if hashlib.sha256(self._part(f"{number}.npy")).hexdigest() != expected:
                raise SavedModelError(f"its array {number}.npy was altered or damaged: the hash differs")

    def _part(self, name: str) -> memoryview:
        if name not in self._members:
            raise SavedModelError(f"it has no {name}")
        begin, end = self._members[name]
        return self._bytes[begin:end]

    def _mapped(self, number: int) -> np.ndarray:
        part = self._part(f"{int(number)}.npy")
        head = io.BytesIO(part[: 1 << 16])
        if npy.read_magic(head) != (1, 0):
            raise SavedModelError(f"its array {number}.npy is in a format that lopsided does not write")
        shape, by_columns, dtype = npy.read_array_header_1_0(head)
        data = part[head.tell() :]
        if dtype.hasobject or dtype.itemsize * math.prod(shape) != len(data):
            raise SavedModelError(f"its array {number}.npy does not have the size it declares")
        return np.ndarray(shape, dtype, buffer=data, order="F" if by_columns else "C")


def _members(file: BinaryIO) -> tuple[str, dict[str, tuple[int, int]]]:
    """The comment, and begin and end of each member; none is decompressed, so no size exceeds that of the file."""
    with zipfile.ZipFile(file) as archive:
        found = {}
        for member in archive.infolist():
            if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
                raise SavedModelError(f"its {member.filename!r} is compressed, but lopsided.io.save compresses nothing")
            found[member.filename] = _place(file, member)
        return archive.comment.decode("ascii", "replace"), found


def _place(file: BinaryIO, member: zipfile.ZipInfo) -> tuple[int, int]:
    file.seek(member.header_offset)
    signature, *_, name, extra = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
    begin = member.header_offset + LOCAL_HEADER.size + name + extra
    end = begin + member.file_size
    aligned = member.filename == HEADER or begin % ALIGNMENT == 0
    if signature != b"PK\x03\x04" or not aligned or end > file.seek(0, io.SEEK_END):
        raise SavedModelError(f"its {member.filename!r} is not where the file says it is")
    return begin, end
