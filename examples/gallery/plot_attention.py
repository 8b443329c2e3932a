"""Attention is an asymmetric kernel
=================================

Queries attend to keys, and the kernel k(q, z) is the softmax of their inner products. Its kernel SVD shows how few
directions an attention map has, and gives queries and keys an embedding each.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from lopsided import KernelSVD
from lopsided.kernels import Attention

rng = np.random.default_rng(0)
time = np.linspace(0, 4 * np.pi, 120)
wave = np.column_stack([np.cos(time), np.sin(time), np.cos(2 * time), np.sin(2 * time)])
queries = 3 * wave + 0.3 * rng.standard_normal(wave.shape)
keys = 3 * np.roll(wave, 10, axis=0) + 0.3 * rng.standard_normal(wave.shape)
model = KernelSVD(12, kernel=Attention()).fit(queries, Z=keys)

# %%
# On the left is the attention map. On the right is what 12 of its 120 components keep of it.
figure, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
for ax, name, K in zip(
    axes, ("attention", "12 components"), (model.kernel_(queries, keys), model.reconstruct()), strict=True
):
    ax.imshow(K, cmap="viridis")
    ax.set(title=name, xlabel="keys", ylabel="queries")
plt.show()
