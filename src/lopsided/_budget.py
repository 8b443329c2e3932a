"""How much memory a computation may take."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

SHARE_OF_FREE = 0.25
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
MEMORY = "/sys/fs/cgroup/memory"
GROUPS = (  # of Linux: limit, use, statistics and the entry of files there, in versions 2 and 1
    (f"{MEMORY}.max", f"{MEMORY}.current", f"{MEMORY}.stat", "inactive_file"),
    (
        f"{MEMORY}/memory.limit_in_bytes",
        f"{MEMORY}/memory.usage_in_bytes",
        f"{MEMORY}/memory.stat",
        "total_inactive_file",
    ),
)
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
    found = [free for free in (_free_of_machine(), *map(_free_of_group, GROUPS)) if free is not None]
    if found:
        return min(found)
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return FALLBACK


def _free_of_machine() -> int | None:
    """What Linux says is available."""
    try:
        fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _free_of_group(names: tuple[str, str, str, str]) -> int | None:
    """What the limit of a container leaves; the files that it has read would give way."""
    limit, used, statistics, files = names
    try:
        fields = dict(line.split() for line in Path(statistics).read_text().splitlines())
        return max(0, int(Path(limit).read_text()) - int(Path(used).read_text()) + int(fields[files]))
    except (OSError, KeyError, ValueError):  # no Linux, no such group, or a limit of "max"
        return None
