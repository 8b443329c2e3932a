"""Cluster the functions of numpy, scipy and scikit-learn by their docstrings, and print the words of each cluster."""

from __future__ import annotations

import importlib
import inspect
from collections import Counter

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from lopsided import KernelBiclustering

MODULES = [
    "numpy",
    "numpy.linalg",
    "numpy.fft",
    "numpy.random",
    "numpy.ma",
    "scipy.linalg",
    "scipy.sparse",
    "scipy.sparse.linalg",
    "scipy.signal",
    "scipy.stats",
    "scipy.special",
    "scipy.optimize",
    "scipy.ndimage",
    "scipy.interpolate",
    "scipy.spatial.distance",
    "scipy.cluster.hierarchy",
    "sklearn.metrics",
    "sklearn.datasets",
    "sklearn.preprocessing",
    "sklearn.linear_model",
    "sklearn.cluster",
    "sklearn.model_selection",
]
CLUSTERS = 8
LEAST_WORDS = 30


def documents() -> tuple[list[str], list[str]]:
    """Names and docstrings of public functions and classes, without duplicate docstrings."""
    found: dict[str, str] = {}
    for name in MODULES:
        module = importlib.import_module(name)
        for member in getattr(module, "__all__", dir(module)):
            thing = vars(module).get(member)
            text = (callable(thing) and inspect.getdoc(thing)) or ""
            if len(text.split()) >= LEAST_WORDS and text not in found:
                found[text] = f"{name}.{member}"
    return list(found.values()), list(found)


def main() -> None:
    """Count words, bicluster functions and words, and print each bicluster."""
    names, texts = documents()
    words = CountVectorizer(stop_words="english", token_pattern=r"[a-z]{4,}", min_df=10, max_df=0.3, binary=True)
    X = words.fit_transform(texts)
    print(f"{X.shape[0]} functions x {X.shape[1]} words, {X.nnz} entries\n")
    model = KernelBiclustering(CLUSTERS, random_state=0).fit(X)
    vocabulary = words.get_feature_names_out()
    for cluster in range(CLUSTERS):
        rows, columns = model.get_indices(cluster)
        counts = np.asarray(X[rows][:, columns].sum(axis=0)).ravel()
        homes = Counter(".".join(names[row].split(".")[:-1]) for row in rows).most_common(3)
        print(f"{len(rows)} functions of {', '.join(f'{home} ({count})' for home, count in homes)}")
        print("   words:", " ".join(vocabulary[columns[np.argsort(-counts)[:12]]]))
        print("   such as:", ", ".join(names[row] for row in rows[:4]), "\n")


if __name__ == "__main__":
    main()
