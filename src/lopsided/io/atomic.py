"""Files that appear whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a temporary file beside ``path``, which takes its place if the block succeeds.

    After an error or an interrupt the temporary file is removed, and a file that was there before is as it was.
    """
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:64]}.", suffix=".part")
    except OSError as error:
        raise type(error)(error.errno, f"{error.strerror}, so nothing can be written there", str(path)) from None
    os.close(handle)
    part = Path(name)
    try:
        yield part
        os.chmod(part, target.stat().st_mode if target.exists() else 0o666 & ~_umask())
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def _umask() -> int:
    """The permissions that new files are denied; Python tells them only when they are set."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
