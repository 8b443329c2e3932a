"""The command ``lopsided``. Importing it, and ``--help``, import nothing numerical."""

from .run import main

__all__ = ["main"]
