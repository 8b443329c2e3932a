"""How much memory a computation may take."""

from __future__ import annotations

import os
import re
import sys

SHARE_OF_FREE = 0.25
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
FALLBACK = 2 * 10**9


def budget_bytes(memory_budget: float | str | None = None) -> int:
    """Bytes from a number, a text like "500MB" or None, which is a quarter of the memory that is free.

    >>> budget_bytes("1.5GB")
    1500000000
    """
    if memory_budget is None:
        return int(SHARE_OF_FREE * _free_bytes())
    if isinstance(memory_budget, str):
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?B?)\s*", memory_budget.upper())
        if not match or match[2] not in UNITS:
            raise ValueError(f"memory_budget={memory_budget!r} is not a size; write bytes or a text like '500MB'")
        memory_budget = float(match[1]) * UNITS[match[2]]
    if not memory_budget > 0:
        raise ValueError(f"memory_budget={memory_budget} must be positive")
    return int(min(memory_budget, sys.maxsize))


def _free_bytes() -> int:
    """Memory that can be had without swapping; systems that do not tell get a modest figure."""
    try:
        with open("/proc/meminfo") as lines:
            fields = dict(line.split(":") for line in lines)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        names = getattr(os, "sysconf_names", {})
        if "SC_PHYS_PAGES" in names:
            return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
        return FALLBACK
