"""``lopsided svd-image``: an image rebuilt from few components."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from ..._core import count_of
from ...images import image_svd, psnr, ssim
from ...io import written_whole
from ..inputs import as_file, output_beside
from ..report import PIPE, Report, checked_output

FORMATS = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp")


def run(options: argparse.Namespace) -> None:
    """Write the image of the leading components."""
    if options.image == PIPE or options.output == PIPE:
        raise ValueError("images cannot be read from or written to a pipe; name files")
    output = checked_output(options.output or output_beside(options.image, ".svd.png"), options.force, FORMATS)
    report = Report(options)
    with as_file(options.image) as path:
        image = _read(path)
    height, width = image.shape[:2]
    k = min(options.k, height, width)
    found = image_svd(image, options.kernel, k)
    rebuilt = found.restore(found.reconstruct(k))
    share = k * (height + width + 1) / (height * width)
    quality = {"psnr": float(psnr(found.image, rebuilt, peak=1.0)), "ssim": float(ssim(found.image, rebuilt, peak=1.0))}
    report.say(
        f"{count_of(k, 'component')}, {share:.0%} of the numbers in the image: PSNR {quality['psnr']:.1f} dB, "
        f"SSIM {quality['ssim']:.3f}",
        components=k,
        share=share,
        **quality,
    )
    with written_whole(output) as part:
        _pillow().fromarray(np.rint(np.clip(rebuilt, 0, 1) * 255).astype(np.uint8)).save(
            part, format=_format(Path(output))
        )
    report.wrote(output, f"{width} x {height} pixels")
    report.finish()


def _read(path: Path) -> np.ndarray:
    try:
        with _pillow().open(path) as image:
            deep = image.mode[0] in "IF"  # more than 8 bits, of which a conversion by Pillow keeps the lowest alone
            pixels = np.asarray(image if deep else image.convert("L" if image.mode in ("1", "L", "LA") else "RGB"))
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is not an image that Pillow reads: {error}") from error
    if not deep:
        return pixels
    white = 1 if pixels.dtype.kind == "f" else np.iinfo(np.uint16).max
    if not 0 <= pixels.min() <= pixels.max() <= white:
        raise ValueError(
            f"the pixels of {path} are from {pixels.min():g} to {pixels.max():g}, not from 0 to {white}; scale them"
        )
    return pixels if white == 1 else pixels.astype(np.uint16)


def _format(path: Path) -> str:
    return {".jpg": "JPEG", ".jpeg": "JPEG", ".tif": "TIFF"}.get(path.suffix.lower(), path.suffix[1:].upper())


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("reading images needs Pillow: pip install 'lopsided[cli]'") from error
    return Image
