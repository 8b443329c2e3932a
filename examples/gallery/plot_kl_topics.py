"""A topic that contains another
=============================

A narrow topic is a special case of a broad one, so its Kullback-Leibler divergence from the broad topic is smaller than
the reverse. A symmetric similarity cannot tell which is which.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from lopsided import KernelSVD
from lopsided.kernels import KullbackLeibler

rng = np.random.default_rng(0)
broad = rng.dirichlet(np.full(40, 0.5), 6)
narrow = np.vstack([rng.dirichlet(200 * topic**2 / (topic**2).sum() + 0.02, 4) for topic in broad])
topics = np.vstack([broad, narrow])
K = KullbackLeibler(0.3)(topics, topics)

# %%
# Rows are explained by columns. Each narrow topic (6 to 29) is explained well by its broad topic (0 to 5), as the
# bright steps on the left show. The reverse, in the upper right, is weaker.
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
axes[0].imshow(K, cmap="viridis")
axes[0].set(title="exp(-KL / 3.3)", xlabel="explaining topic", ylabel="explained topic")
model = KernelSVD(3, kernel=KullbackLeibler(0.3)).fit(topics, Z=topics)
size = np.where(np.arange(30) < 6, 90, 25)
group = np.concatenate([np.arange(6), np.repeat(np.arange(6), 4)])
colours = np.array(["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"])
axes[1].scatter(*model.right_vectors_[:, 1:].T, s=size, c=colours[group])
axes[1].set(title="right vectors; large points are broad topics", xlabel="component 1", ylabel="component 2")
plt.show()
