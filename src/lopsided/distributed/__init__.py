"""Rows that do not fit in memory: dask arrays and dataframes, files in blocks, results and passes that can be resumed.

Estimators take dask collections themselves; this room reads them, and offers what has no counterpart in memory. It is
the only one that imports dask (``pip install 'lopsided[dask]'``), when a name of it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .columns import sketch_columns
    from .gate import read_rows as read_rows
    from .graphs import open_graph, store_graph
    from .passes import checkpoint
    from .sources import from_blocks as from_blocks, hash_rows, read_svmlight
    from .store import open_store

__all__ = ["checkpoint", "hash_rows", "open_graph", "open_store", "read_svmlight", "sketch_columns", "store_graph"]

_FILE_OF = {
    "checkpoint": "passes",
    "from_blocks": "sources",
    "hash_rows": "sources",
    "open_graph": "graphs",
    "open_store": "store",
    "read_rows": "gate",
    "read_svmlight": "sources",
    "sketch_columns": "columns",
    "store_graph": "graphs",
}

if not TYPE_CHECKING:  # a type checker would take every misspelt name for one that this function knows

    def __getattr__(name: str) -> Any:
        """Import a name from its file, and dask with it, on first use (PEP 562)."""
        if name not in _FILE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            found = getattr(import_module(f"{__name__}.{_FILE_OF[name]}"), name)
        except ModuleNotFoundError as error:
            raise ImportError(f"lopsided.distributed needs dask; pip install 'lopsided[dask]' ({error})") from error
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted(__all__)
