"""Images: nonlinear singular value decompositions of them, and descriptions by mixtures of their patches."""

from .decomposition import ImageSVD, image_svd
from .mixtures import ImageMixtures
from .quality import psnr, ssim

__all__ = ["ImageMixtures", "ImageSVD", "image_svd", "psnr", "ssim"]
