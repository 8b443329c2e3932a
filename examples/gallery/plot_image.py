"""Nonlinear SVD of a photograph
=============================

An image is a matrix, and the kernel SVD between its rows and columns rebuilds it from a few components.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_sample_image

from lopsided import image_svd
from lopsided.kernels import Exponential
from lopsided.plotting import ReconstructionDisplay

photograph = load_sample_image("china.jpg")[::3, ::3].mean(axis=2) / 255
ReconstructionDisplay.from_estimator(image_svd(photograph), (5, 20))
plt.show()

# %%
# An exponential kernel gives bright tones more weight.
ReconstructionDisplay.from_estimator(image_svd(photograph, Exponential(2.0)), (5, 20))
plt.show()
