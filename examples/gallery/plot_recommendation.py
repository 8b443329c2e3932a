"""Users and items
===============

The association kernel corrects a table of interactions for active users and popular items. Its two sides are the
vectors of users and of items, and their inner products rank what a user has not seen.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD

from lopsided import KernelSVD

rng = np.random.default_rng(0)
taste, genre = rng.integers(0, 8, 600), rng.integers(0, 8, 300)
popularity = rng.pareto(1.5, 300) + 0.2
chance = popularity * np.where(taste[:, None] == genre, 8.0, 1.0)
seen = (rng.random((600, 300)) < np.minimum(25 * chance / chance.sum(axis=1, keepdims=True), 0.9)).astype(float)
hidden = np.array([rng.choice(np.flatnonzero(row)) for row in seen])
train = seen.copy()
train[np.arange(600), hidden] = 0


def recall(scores, k=10):
    """Share of the hidden items that are among the k best ones that the user has not seen."""
    best = np.argsort(-np.where(train > 0, -np.inf, scores), axis=1)[:, :k]
    return (best == hidden[:, None]).any(axis=1).mean()


model = KernelSVD(8, kernel="association").fit(train)
svd = TruncatedSVD(8, random_state=0)
found = {
    "association": recall((model.left_vectors_ * model.singular_values_) @ model.right_vectors_.T),
    "linear SVD": recall(svd.fit_transform(train) @ svd.components_),
    "popularity": recall(np.tile(train.sum(axis=0), (600, 1))),
}

# %%
figure, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
bars = ax.barh(list(found), list(found.values()), color=["#0072b2", "0.6", "0.6"])
ax.bar_label(bars, fmt="%.2f", padding=3)
ax.set(xlabel="recall at 10, of one hidden item per user")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
