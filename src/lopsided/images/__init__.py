"""Images: nonlinear singular value decomposition, Gaussian mixture descriptors of patches, and image quality."""

from .decomposition import ImageSVD, image_svd
from .mixtures import ImageMixtures
from .quality import psnr, ssim

__all__ = ["ImageMixtures", "ImageSVD", "image_svd", "psnr", "ssim"]
