"""Nonlinear SVD of photographs: counterparts of Figures 1 and 2 of the 2016 paper, on scikit-learn's sample images.

    python examples/image_gallery.py [folder]      writes image_kernels.png and image_parameters.png
    python examples/image_gallery.py --small       the same on every fourth pixel, in seconds

The figures show B divided by its largest entry, as in the paper.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_sample_image

from lopsided.images import image_svd
from lopsided.kernels import Exponential, Linear, LinearPolynomial

FEW, MANY = 20, 100
KERNELS = {
    "SVD": Linear(),
    "linear + polynomial\nc = 0.5, d = 2": LinearPolynomial(0.5, 2),
    "exponential\n$\\eta$ = 1": Exponential(1.0),
    "exponential\n$\\eta$ = -1": Exponential(-1.0),
}
ETAS = (1.0, -1.0, -2.0)
DEGREES = (2, 4, 8)


def kernels_figure(image: np.ndarray, few: int, many: int) -> Any:
    """One row per kernel; columns show all of B, and B from few and from many components."""
    figure, axes = pyplot.subplots(len(KERNELS), 3, figsize=(11, 2.5 * len(KERNELS)), layout="constrained")
    for row, (name, kernel) in zip(axes, KERNELS.items(), strict=True):
        found = image_svd(image, kernel, many)
        pictures = found.values, found.reconstruct(few), found.reconstruct(many)
        for ax, values in zip(row, pictures, strict=True):
            show(ax, found.display(values))
        row[0].set_ylabel(name)
    for ax, title in zip(axes[0], ("all components", f"{few} components", f"{many} components"), strict=True):
        ax.set_title(title)
    return figure


def parameters_figure(image: np.ndarray, many: int) -> Any:
    """Left: exponential kernels by eta. Right: linear + polynomial kernels by degree. All from many components."""
    figure, axes = pyplot.subplots(4, 2, figsize=(8, 10.5), layout="constrained")
    for column, kernels in zip(
        axes.T,
        (
            {f"exponential, $\\eta$ = {eta:g}": Exponential(eta) for eta in ETAS},
            {f"linear + polynomial, d = {degree}": LinearPolynomial(0.5, degree) for degree in DEGREES},
        ),
        strict=True,
    ):
        show(column[0], image / np.iinfo(image.dtype).max)
        column[0].set_title("original")
        for ax, (name, kernel) in zip(column[1:], kernels.items(), strict=True):
            found = image_svd(image, kernel, many)
            show(ax, found.display(found.reconstruct()))
            ax.set_title(name)
    return figure


def show(ax: Any, picture: np.ndarray) -> None:
    """Show an image with pixels in [0, 1], without ticks."""
    ax.imshow(picture, vmin=0, vmax=1, cmap="gray")
    ax.set(xticks=[], yticks=[])


def main() -> None:
    """Write both figures as PNG files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("out"))
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    step, few, many = (4, FEW // 4, MANY // 4) if options.small else (1, FEW, MANY)
    flower, china = (load_sample_image(name)[::step, ::step] for name in ("flower.jpg", "china.jpg"))
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, figure in (
        ("image_kernels", kernels_figure(flower, few, many)),
        ("image_parameters", parameters_figure(china, many)),
    ):
        path = options.folder / f"{name}.png"
        figure.savefig(path, dpi=110)
        print(f"wrote {path}")


if __name__ == "__main__":
    main()
