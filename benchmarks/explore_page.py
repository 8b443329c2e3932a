"""Size of the page, and in headless Chromium the milliseconds until it is drawn, of a search and of linked views."""

import shutil
import time
import warnings
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
from scipy import sparse

from common import main, print_table
from lopsided.explore import write_page

SEED = 0
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SOFTWARE_WEBGL = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
WAIT = 120_000  # milliseconds
REPEATS = 5


def vectors(n: int) -> SimpleNamespace:
    """Twenty clusters in 16 dimensions, with shuffled ids and five random edges a node."""
    rng = np.random.default_rng(SEED)
    centres, label = 2 * rng.standard_normal((20, 16)), rng.integers(0, 20, n)
    source, target = (c[label] + rng.standard_normal((n, 16)) for c in (centres, centres[rng.permutation(20)]))
    ids = np.array([f"node-{i}" for i in rng.permutation(n)], dtype=object)
    ends = rng.integers(0, n, (2, 5 * n))
    A = sparse.csr_array((np.ones(5 * n), ends), shape=(n, n))
    sides = {"source_embedding_": source, "target_embedding_": target, "edge_vectors": lambda: (source, target)}
    return SimpleNamespace(nodes_=ids, label=label, adjacency_=A, **sides)


def in_browser(path: Path, n: int) -> dict[str, float]:
    """Milliseconds as the page itself measures them; with software WebGL, so drawing is slower than on a screen."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=BROWSER, args=SOFTWARE_WEBGL)
        page = browser.new_page(viewport={"width": 1400, "height": 760})
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready='true']", timeout=WAIT)
        found = {"drawn": page.evaluate("lopsidedPage.since_start")}
        for name, call in (("search", "searched"), ("linked", "linked")):
            times = []
            for i in range(REPEATS):
                page.fill("#search", f"node-{n - 1 - i}")
                page.press("#search", "Enter")
                times.append(page.evaluate(f"lopsidedPage.{call}"))
            found[name] = float(np.median(times))
        browser.close()
    return found


def page(smoke: bool) -> list[dict[str, object]]:
    """One row for each number of nodes."""
    rows = []
    for n in (300,) if smoke else (1_000, 100_000, 1_000_000):
        model = vectors(n)
        with TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a million nodes have too many pairs
            path, start = Path(folder) / "page.html", time.perf_counter()
            write_page(model, path, labels=model.label.tolist())
            row = {"nodes": n, "write": time.perf_counter() - start, "bytes": path.stat().st_size}
            if BROWSER and find_spec("playwright"):
                row |= in_browser(path, n)
        rows.append(row)
    names = ("nodes", "write", "bytes", "drawn", "search", "linked")
    table = [[row.get(name, "") for name in names] for row in rows]
    titles = ["nodes", "write, s", "bytes", "drawn, ms", "search, ms", "linked views, ms"]
    print_table("The page in headless Chromium", titles, table)
    return rows


if __name__ == "__main__":
    main(__file__, __doc__, {"page": page}, seed=SEED)
