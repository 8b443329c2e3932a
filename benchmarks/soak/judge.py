"""What a call may end in: finite answers or an error with a message, in time, with its arguments untouched."""

from __future__ import annotations

import copy
import os
import signal
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import lopsided
from lopsided.exceptions import LopsidedWarning

OURS = (os.path.dirname(lopsided.__file__) + os.sep, f"{os.sep}sklearn{os.sep}")
VALIDATION = os.path.join("sklearn", "utils", "validation.py")
LONGEST = 10  # seconds of computing for one call
ALLOWED = (ValueError, TypeError)  # with NotFittedError and the errors of lopsided.exceptions, which are ValueErrors
LEARNED = (
    "singular_values_", "left_vectors_", "right_vectors_", "source_embedding_", "target_embedding_", "left_duals_",
    "right_duals_", "C_", "dictionary_", "normalization_", "row_labels_", "item_vectors_",
)  # fmt: skip

Work = Callable[[], Iterable[Any]]


class Fault(Exception):
    """A call that ended badly."""


def judged(arguments: object, work: Work, *, strict: bool = True) -> str | None:
    """Do the work, whose answers are checked one by one; return None, or what was wrong and where.

    Errors come from the library or scikit-learn's validation if it is ``strict``, and have the allowed types always;
    functions that take files may say what the system said.
    """
    before = copy.deepcopy(arguments)
    try:
        with _limited(), _watched():
            try:
                for answer in work():
                    check_answer(answer)
            except (Fault, KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:
                check_error(error, strict=strict)
        if not same(arguments, before):
            raise Fault("an argument was modified")
    except Fault as fault:
        cause = fault.__cause__ or fault
        ours = [frame for frame in traceback.extract_tb(cause.__traceback__) if OURS[0] in frame.filename]
        where = f"{ours[-1].filename.removeprefix(OURS[0])}:{ours[-1].lineno} {ours[-1].line}" if ours else ""
        return f"{where}: {fault}"
    return None


def attempt(method: Callable[..., Any], *arguments: Any, **named: Any) -> Iterator[Any]:
    """A method after a good fit: it may refuse its points, with a message."""
    try:
        yield method(*arguments, **named)
    except ALLOWED as error:
        check_error(error)


class _limited:
    """A limit on the seconds of computing; a call that waits for something has six times as long."""

    def __enter__(self) -> None:
        for kind in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(kind, _too_long)
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        signal.setitimer(signal.ITIMER_REAL, 6 * LONGEST)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _too_long(*_: object) -> None:
    raise Fault(f"took more than {LONGEST} s")


class _watched(warnings.catch_warnings):
    """Warnings of numpy and Python are errors; those of the library, and three of scikit-learn on data, are not."""

    def __enter__(self) -> None:  # type: ignore[override]
        super().__enter__()
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", LopsidedWarning)
        warnings.filterwarnings("ignore", message="X (has|does not have valid) feature names")
        warnings.filterwarnings("ignore", message="The least populated class in y has")  # of a given cv
        warnings.filterwarnings("ignore", message="A column-vector y was passed when a 1d array was expected")


def check_error(error: BaseException, *, strict: bool = True) -> None:
    """A fault unless the error has a type that is documented and a message, and comes from where input is checked."""
    frames = traceback.extract_tb(error.__traceback__)
    if not strict and isinstance(error, OSError):
        return
    if not isinstance(error, ALLOWED) or isinstance(error, np.linalg.LinAlgError) or not str(error):
        raise Fault(f"{type(error).__name__}: {str(error)[:200]}") from error
    if isinstance(error, TypeError) and "required positional argument" in str(error):
        return
    validated = any(frame.filename.endswith(VALIDATION) for frame in frames)  # which may call pandas and numpy
    raised = frames[-1].line.lstrip().startswith("raise") or OURS[0] not in frames[-1].filename
    if strict and not validated and not (raised and any(part in frames[-1].filename for part in OURS)):
        raise Fault(f"raised outside: {type(error).__name__}: {str(error)[:200]}") from error


def check_answer(answer: Any) -> None:
    """A fault unless all numbers of an answer, or of what an estimator learned, are finite."""
    if hasattr(answer, "get_params"):
        for name in LEARNED:
            value = vars(answer).get(name)
            if value is not None and not np.isfinite(np.asarray(value, dtype=float)).all():
                raise Fault(f"{name} is not finite")
    elif is_dataclass(answer):
        for field in fields(answer):
            check_answer(getattr(answer, field.name))
    elif isinstance(answer, dict):
        check_answer(list(answer.values()))
    elif isinstance(answer, (list, tuple)):
        for each in answer:
            check_answer(each)
    elif sparse.issparse(answer):
        check_answer(answer.data)
    elif isinstance(answer, (float, np.ndarray, np.floating)):
        values = np.asarray(answer)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise Fault("the answer is not finite")


def same(one: Any, other: Any) -> bool:
    """Whether an argument is what it was."""
    if sparse.issparse(one):
        parts = [part for part in ("data", "indices", "indptr", "row", "col") if hasattr(one, part)]
        return type(one) is type(other) and one.shape == other.shape and all(
            _same_entries(getattr(one, part), getattr(other, part)) for part in parts
        )  # fmt: skip
    if isinstance(one, (tuple, list)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return same(list(one.items()), list(other.items()))
    if isinstance(one, (pd.DataFrame, pd.Series)):
        return bool(one.equals(other))
    if isinstance(one, np.ndarray):
        return type(one) is type(other) and _same_entries(one, other)
    return True


def _same_entries(one: Any, other: Any) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind in "fiubcmM":
        return one.tobytes() == other.tobytes()  # negative zeros and NaN too
    return repr(one.tolist()) == repr(other.tolist())
