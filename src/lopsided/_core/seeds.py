"""Conversion of ``random_state`` to a seed for numpy generators."""

from typing import Any

from sklearn.utils import check_random_state


def seed_of(random_state: Any) -> int:
    """Draw a seed from ``random_state``; None gives 0, so that the global generator is never used.

    Examples
    --------
    >>> seed_of(None), seed_of(0) == seed_of(0)
    (0, True)
    """
    return 0 if random_state is None else int(check_random_state(random_state).randint(2**31))
