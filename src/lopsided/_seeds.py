"""What ``random_state`` means: a seed for numpy's generators, drawn from it or fixed."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_random_state


def seed_of(random_state: Any) -> int:
    """A seed drawn from ``random_state``; 0 for None, so that the global generator is never looked at.

    Examples
    --------
    >>> seed_of(None), seed_of(0) == seed_of(0)
    (0, True)
    """
    return 0 if random_state is None else int(check_random_state(random_state).randint(2**31))
