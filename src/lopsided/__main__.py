"""``python -m lopsided`` is the command ``lopsided``."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
