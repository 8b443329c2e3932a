"""Parsing of ``memory_budget``, and detection of free memory."""

import os
import re
import sys
from numbers import Real
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

SHARE_OF_FREE = 0.25  # of the free memory, for the default budget: arrays that are not counted need room too
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
CGROUP = "/sys/fs/cgroup/memory"
GROUPS = (  # Linux cgroups v2 and v1: limit, usage, statistics, and the field of reclaimable file cache
    (f"{CGROUP}.max", f"{CGROUP}.current", f"{CGROUP}.stat", "inactive_file"),
    (
        f"{CGROUP}/memory.limit_in_bytes",
        f"{CGROUP}/memory.usage_in_bytes",
        f"{CGROUP}/memory.stat",
        "total_inactive_file",
    ),
)
FALLBACK_FREE = 2 * 10**9  # bytes, for systems that do not report their memory


def budget_bytes(memory_budget: float | str | None = None) -> int:
    """Return bytes for a number, a string like "500MB", or None, which means a quarter of the free memory.

    >>> budget_bytes("1.5GB")
    1500000000
    """
    if memory_budget is None:
        return int(SHARE_OF_FREE * _free_bytes())
    if isinstance(memory_budget, str):
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?B?)\s*", memory_budget.upper())
        if not match or match[2] not in UNITS:
            raise ValueError(f"memory_budget={memory_budget!r} is not a size; give bytes or a string such as '500MB'")
        memory_budget = float(match[1]) * UNITS[match[2]]
    if not isinstance(memory_budget, Real):
        raise TypeError(f"memory_budget must be a number of bytes or a string, not a {type(memory_budget).__name__}")
    if not memory_budget > 0:
        raise ValueError(f"memory_budget={memory_budget} must be positive")
    return int(min(memory_budget, sys.maxsize))


def _free_bytes() -> int:
    """Return the memory available without swapping, or a conservative guess if the system does not report it."""
    known = (_free_of_machine(), _free_of_process(), *map(_free_of_group, GROUPS))
    found = [free for free in known if free is not None]
    if found:
        return min(found)
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return FALLBACK_FREE


def _free_of_machine() -> int | None:
    """Return ``MemAvailable`` of Linux, or None on other systems."""
    try:
        fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _free_of_process() -> int | None:
    """Return what a limit on the address space (``ulimit -v``) leaves to this process, or None if there is no limit."""
    try:
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (OSError, ValueError, AttributeError):  # not Linux
        return None
    return None if limit == resource.RLIM_INFINITY else max(0, limit - used)


def _free_of_group(names: tuple[str, str, str, str]) -> int | None:
    """Return the memory left under a cgroup (container) limit, counting reclaimable file cache as free."""
    limit, used, statistics, files = names
    try:
        fields = dict(line.split() for line in Path(statistics).read_text().splitlines())
        return max(0, int(Path(limit).read_text()) - int(Path(used).read_text()) + int(fields[files]))
    except (OSError, KeyError, ValueError):  # not Linux, no such cgroup, or a limit of "max"
        return None
