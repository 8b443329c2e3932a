"""Files that appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a temporary file beside ``path``, which takes its place if the block succeeds.

    After an error or an interrupt the temporary file is removed, and a file that was there before is as it was.
    """
    target = Path(path)
    part = target.with_name(f".{target.name[:64]}.{uuid4().hex}.part")
    try:
        part.touch(exist_ok=False)
    except OSError as error:
        raise type(error)(error.errno, f"{error.strerror}, so nothing can be written there", str(path)) from None
    try:
        yield part
        if target.exists():
            os.chmod(part, target.stat().st_mode)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
