"""From arguments to an exit code: 0 for success, 2 and one line for what the user can mend, 130 for an interrupt."""

import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

from .parser import make_parser

MENDABLE = (ValueError, TypeError, OSError, ImportError, MemoryError)  # by the user: data, options, files, extras
DEBUG = "LOPSIDED_DEBUG"  # set in the environment, it shows tracebacks


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = make_parser()
    try:
        options = parser.parse_args(arguments)
        if options.command is None:
            parser.print_help()
            return 0
        module = import_module(f".commands.{options.command.replace('-', '_')}", __package__)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _show_warning
            with _progress(options):
                module.run(options)
            sys.stdout.flush()
    except SystemExit as end:  # argparse has said what is wrong
        return int(end.code or 0)
    except KeyboardInterrupt:
        return _complain("interrupted; no output was written", 130)
    except BrokenPipeError:  # as of `lopsided ... | head`; nothing may be flushed to it at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MENDABLE as error:
        if os.environ.get(DEBUG):
            raise
        return _complain(_one_line(error), 2)
    return 0


def _progress(options: Any) -> AbstractContextManager[None]:
    """A bar on standard error, if that is a terminal and something is computed."""
    if options.quiet or options.json or not sys.stderr.isatty():
        return nullcontext()
    from .._core import show_progress  # late, as it imports numpy

    return show_progress()


def _complain(message: str, code: int) -> int:
    sys.stderr.write(f"lopsided: {message}\n")
    return code


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"out of memory; lower -k or --memory, or use a larger machine {error}".rstrip()
    return " ".join(str(error).split()) or type(error).__name__


def _show_warning(message: Any, category: type, *_: object, **__: object) -> None:
    sys.stderr.write(f"lopsided: warning: {' '.join(str(message).split())}\n")
