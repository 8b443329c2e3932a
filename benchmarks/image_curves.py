"""Nonlinear SVD of photographs: its time beside scipy's SVD, and what it keeps of an image at each rank.

    python benchmarks/image_curves.py                 all parts (scikit-learn's pictures china and flower, in grey)
    python benchmarks/image_curves.py speed           one of: speed, compression, denoising
    python benchmarks/image_curves.py --smoke         every eighth pixel

speed: ``image_svd`` with 100 components, B and all, over ``scipy.linalg.svd`` of the same 427 x 640 matrix.
compression: PSNR and SSIM between the picture and the one restored from k components of B (inverse of the profile).
denoising: the same against the clean picture, from one with normal noise of deviation 0.1 added and cut to [0, 1].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.datasets import load_sample_image

from common import RESULTS, main, print_table, race
from lopsided.images import image_svd, psnr, ssim
from lopsided.kernels import Exponential, Kernel, Linear, LinearPolynomial

SEED = 0
PICTURES = ("china", "flower")
COMPONENTS = (2, 5, 10, 20, 50, 100, 200)
NOISE = 0.1
KERNELS: dict[str, Kernel] = {
    "SVD": Linear(),
    "linear + polynomial": LinearPolynomial(0.4, 2),
    "exponential, eta = 1": Exponential(1.0),
    "exponential, eta = -1": Exponential(-1.0),
}
Curves = dict[str, dict[str, list[float]]]


def picture(name: str, smoke: bool) -> np.ndarray:
    """A photograph in grey, between 0 and 1."""
    step = 8 if smoke else 1
    return load_sample_image(f"{name}.jpg")[::step, ::step].mean(axis=2) / 255


def speed(smoke: bool) -> list[dict[str, Any]]:
    """Time of each kernel over that of the plain SVD."""
    image = picture("china", smoke)
    k = min(100, *image.shape)
    tasks: dict[str, Callable[[], Any]] = {"scipy": lambda: scipy.linalg.svd(image)}
    tasks |= {name: (lambda kernel=kernel: image_svd(image, kernel, k)) for name, kernel in KERNELS.items()}
    seconds = race(tasks, 1 if smoke else 11)
    rows = [{"kernel": name, "s": seconds[name], "over scipy": seconds[name] / seconds["scipy"]} for name in seconds]
    print_table(f"{k} components of {image.shape}", list(rows[0]), [list(row.values()) for row in rows])
    return rows


def compression(smoke: bool) -> dict[str, Curves]:
    """Curves of pictures from themselves."""
    return curves("compression", smoke, lambda image: image)


def denoising(smoke: bool) -> dict[str, Curves]:
    """Curves of pictures from noisy ones."""
    rng = np.random.default_rng(SEED)
    return curves("denoising", smoke, lambda image: np.clip(image + NOISE * rng.standard_normal(image.shape), 0, 1))


def curves(part: str, smoke: bool, spoil: Callable[[np.ndarray], np.ndarray]) -> dict[str, Curves]:
    """PSNR and SSIM against components, for every picture and kernel."""
    found = {}
    for name in PICTURES:
        clean = picture(name, smoke)
        spoilt = spoil(clean)
        counts = [k for k in COMPONENTS if k <= min(clean.shape)]
        found[name] = {label: curve(clean, spoilt, kernel, counts) for label, kernel in KERNELS.items()}
        rows = [
            [label, *(f"{p:.1f} / {s:.3f}" for p, s in zip(*one.values(), strict=True))]
            for label, one in found[name].items()
        ]
        print_table(f"{part} of {name}: PSNR in dB / SSIM", ["kernel", *map(str, counts)], rows)
    if not smoke:
        draw(part, found)
    return found


def curve(clean: np.ndarray, spoilt: np.ndarray, kernel: Kernel, counts: list[int]) -> dict[str, list[float]]:
    """Of one kernel."""
    model = image_svd(spoilt, kernel, max(counts))
    restored = [model.restore(model.reconstruct(k)) for k in counts]
    return {"psnr": [psnr(clean, one) for one in restored], "ssim": [ssim(clean, one) for one in restored]}


def draw(part: str, found: dict[str, Curves]) -> None:
    """Both measures, a column for each picture."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, len(found), figsize=(9, 6), sharex=True, layout="constrained")
    for column, (name, lines) in zip(axes.T, found.items(), strict=True):
        for ax, measure in zip(column, ("psnr", "ssim"), strict=True):
            for label, one in lines.items():
                ax.semilogx(COMPONENTS[: len(one[measure])], one[measure], marker="o", markersize=3, label=label)
            ax.set_ylabel("PSNR, dB" if measure == "psnr" else "SSIM")
            ax.spines[["top", "right"]].set_visible(False)
        column[0].set_title(f"{part}: {name}")
        column[1].set_xlabel("components")
    axes[0, 0].legend(fontsize="small", frameon=False)
    figure.savefig(RESULTS / f"image_{part}.png", dpi=120)


PARTS = {"speed": speed, "compression": compression, "denoising": denoising}

if __name__ == "__main__":
    main(__file__, __doc__, PARTS, seed=SEED)
