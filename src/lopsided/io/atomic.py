"""Files that appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path of a temporary file beside ``path``, which takes its place if the block succeeds.

    The temporary file is readable by its owner alone. After an error or an interrupt it is removed, and a file that was
    there before is as it was.
    """
    target = Path(path)
    part = target.with_name(f".{target.name[:64]}.{uuid4().hex}.part")
    try:
        part.touch(exist_ok=False)
    except OSError as error:
        raise type(error)(error.errno, f"{error.strerror}, so nothing can be written there", str(path)) from None
    try:
        usual = part.stat().st_mode  # of new files here
        part.chmod(0o600)
        yield part
        part.chmod(target.stat().st_mode if target.exists() else usual)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
