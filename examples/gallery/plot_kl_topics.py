"""A topic that contains another
=============================

The Kullback-Leibler divergence of a broad topic from a narrow one differs from the reverse: the narrow one is a case of
the broad one. A symmetric similarity cannot say which is which.
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
# Rows are topics that are explained, columns those that explain: narrow topics (6 to 29) are near their broad one.
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
axes[0].imshow(K, cmap="viridis")
axes[0].set(title="exp(-KL / 3.3)", xlabel="topic that explains", ylabel="topic that is explained")
model = KernelSVD(3, kernel=KullbackLeibler(0.3)).fit(topics, Z=topics)
size = np.where(np.arange(30) < 6, 90, 25)
group = np.concatenate([np.arange(6), np.repeat(np.arange(6), 4)])
axes[1].scatter(*model.right_vectors_[:, 1:].T, s=size, c=group, cmap="tab10")
axes[1].set(title="topics as those that explain (large: broad)", xlabel="component 1", ylabel="component 2")
plt.show()
