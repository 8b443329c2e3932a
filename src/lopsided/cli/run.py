"""From arguments to an exit code: 0 for success, 2 and one line for errors of the user, 130 for an interrupt."""

import errno
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

from .parser import make_parser
from .words import in_one_line

USER_ERRORS = (ValueError, TypeError, OSError, ImportError, MemoryError)  # of data, options, files and extras
INPUTS = ("graph", "data", "table", "interactions", "image", "labels", "pairs", "new")  # arguments that name files
DEBUG = "LOPSIDED_DEBUG"  # set in the environment, it shows tracebacks


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = make_parser()
    try:
        options = parser.parse_args(arguments)
        if options.command is None:
            parser.print_help()
            return 0
        _check_inputs(options)
        with _interrupts_wait():
            module = import_module(f".commands.{options.command.replace('-', '_')}", __package__)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _show_warning
            with _progress(options), _stopped_by(signal.SIGTERM):
                module.run(options)
            sys.stdout.flush()
    except SystemExit as end:  # argparse has said what is wrong
        return int(end.code or 0)
    except KeyboardInterrupt:
        return _complain("interrupted; no file was left half-written", 130)
    except BrokenPipeError:  # as of `lopsided ... | head`; nothing may be flushed to it at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except USER_ERRORS as error:
        if os.environ.get(DEBUG):
            raise
        return _complain(_one_line(error), 2)
    return 0


def _check_inputs(options: Any) -> None:
    """Check, before anything is imported or read, that the files are there and that one of them at most is a pipe."""
    given = [text for name in INPUTS for text in [getattr(options, name, None)] if text is not None]
    for text in given:
        if text != "-" and not (text and Path(text).exists()):
            raise FileNotFoundError(errno.ENOENT, "no such file", text or "''")
        if Path(text).is_dir():
            raise ValueError(f"{text} is a folder; name a file in it")
    if given.count("-") > 1:
        raise ValueError("only one input can be -, which reads from a pipe; name a file for the other")


def _progress(options: Any) -> AbstractContextManager[None]:
    """A bar on standard error, if that is a terminal and something is computed."""
    if options.quiet or options.json or not sys.stderr.isatty():
        return nullcontext()
    from .._core import show_progress  # late, as it imports numpy

    return show_progress()


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Let Ctrl-C stop the process after the enclosed imports: Python ignores it if it comes within their callbacks."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if seen:
        raise KeyboardInterrupt


@contextmanager
def _stopped_by(number: signal.Signals) -> Iterator[None]:
    """Let a signal that would end the process at once stop it as Ctrl-C does, so that unfinished files are removed."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, stop)
    try:
        yield
    finally:
        signal.signal(number, before)


def _complain(message: str, code: int) -> int:
    sys.stderr.write(f"lopsided: {message}\n")
    return code


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return in_one_line(f"{error.filename}: {error.strerror}")
    if isinstance(error, MemoryError):
        return in_one_line(f"out of memory; lower -k or --memory, or use a larger machine. {error}")
    return in_one_line(error) or type(error).__name__


def _show_warning(message: Any, category: type, *_: object, **__: object) -> None:
    sys.stderr.write(f"lopsided: warning: {in_one_line(message)}\n")
