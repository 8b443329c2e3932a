"""``lopsided info``: versions, threads, BLAS and memory."""

import argparse
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from threadpoolctl import threadpool_info

from ... import __version__
from ..._core import budget_bytes, count_of, n_threads
from ..report import Report

PACKAGES = ("numpy", "scipy", "scikit-learn", "narwhals", "pyarrow", "pandas", "matplotlib", "pillow")


def run(options: argparse.Namespace) -> None:
    """Print what belongs in a bug report."""
    import numpy  # noqa: F401  # loads BLAS, for threadpoolctl to find

    report = Report(options)
    blas = sorted(
        f"{lib['internal_api']} {lib['version'] or ''}".strip() + f", {count_of(lib['num_threads'], 'thread')}"
        for lib in threadpool_info()
    )
    facts = {
        "lopsided": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: _version(name) for name in PACKAGES},
        "BLAS": "; ".join(blas),
        "threads": n_threads(),
        "memory budget": f"{budget_bytes() / 1e9:.1f} GB",
    }
    report.facts |= facts
    if not options.json:
        width = max(map(len, facts))
        sys.stdout.writelines(f"{name:<{width}}  {value}\n" for name, value in facts.items())
    report.finish()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
