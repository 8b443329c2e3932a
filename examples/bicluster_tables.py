"""Bicluster a table of words and one of measurements, print the clusters and draw both (see docs/biclustering.md)."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from sklearn.datasets import load_wine
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import StandardScaler

from cluster_docstrings import documents
from lopsided import KernelBiclustering
from lopsided.plotting import plot_biclusters

OUT = Path("out")
SIZE = (9, 4)
DPI = 80


def words() -> None:
    """Functions of numpy, scipy and scikit-learn x words of their docstrings."""
    names, texts = documents()
    counter = CountVectorizer(stop_words="english", token_pattern=r"[a-z]{4,}", min_df=10, max_df=0.3, binary=True)
    X = counter.fit_transform(texts)
    model = KernelBiclustering(8, random_state=0).fit(X)
    print(f"{X.shape[0]} functions x {X.shape[1]} words, read as {model.reading_}")
    vocabulary = counter.get_feature_names_out()
    for cluster, columns in enumerate(model.top_columns(8)):
        example = names[model.get_indices(cluster)[0][0]]
        print(f"   {(model.row_labels_ == cluster).sum():4} such as {example}: {' '.join(vocabulary[columns])}")
    draw(X, model, "biclusters_text.png")


def wines() -> None:
    """Wines x measurements of them, in different units; drawn in standard deviations."""
    table = load_wine(as_frame=True).data
    model = KernelBiclustering(3, random_state=0).fit(table)
    print(f"\n{table.shape[0]} wines x {table.shape[1]} measurements, read as {model.reading_}")
    for cluster, columns in enumerate(model.top_columns(3)):
        stability = model.stability_[cluster]
        print(f"   {(model.row_labels_ == cluster).sum():4} wines, stability {stability:.2f}: {', '.join(columns)}")
    draw(StandardScaler().fit_transform(table), model, "biclusters_dense.png")


def draw(X: object, model: KernelBiclustering, name: str) -> None:
    """Write a picture to out/."""
    axes = plot_biclusters(X, model)
    figure = axes[0].figure
    figure.set_size_inches(*SIZE)
    figure.savefig(OUT / name, dpi=DPI)


if __name__ == "__main__":
    mpl.use("Agg")
    OUT.mkdir(exist_ok=True)
    words()
    wines()
