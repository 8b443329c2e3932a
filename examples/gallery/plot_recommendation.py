"""Users and items
===============

A table of interactions is asymmetric by nature, with users on one side and items on the other. ``KernelRecommender``
corrects it for active users and popular items, embeds both sides, and ranks what a user has not seen.
"""

# %%
# Six hundred users have one of eight tastes, and items are of very unequal popularity. We hide one item of each user.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD

from lopsided import KernelRecommender

rng = np.random.default_rng(0)
taste, genre = rng.integers(0, 8, 600), rng.integers(0, 8, 300)
popularity = rng.pareto(1.5, 300) + 0.2
chance = popularity * np.where(taste[:, None] == genre, 8.0, 1.0)
seen = (rng.random((600, 300)) < np.minimum(25 * chance / chance.sum(axis=1, keepdims=True), 0.9)).astype(float)
hidden = np.array([rng.choice(np.flatnonzero(row)) for row in seen])
train = seen.copy()
train[np.arange(600), hidden] = 0

# %%
# There are two baselines: the most popular items for everyone, and linear SVDs with different numbers of components.
model = KernelRecommender(random_state=0).fit(train)


def best(scores, k=10):
    """The k items with the highest scores that each user has not seen."""
    return np.argsort(-np.where(train > 0, -np.inf, scores), axis=1)[:, :k]


def linear(k):
    """Scores of a linear SVD with k components."""
    svd = TruncatedSVD(k, random_state=0)
    return svd.fit_transform(train) @ svd.components_


lists = {
    "KernelRecommender": model.recommend(train, 10),
    **{f"linear SVD, {k} components": best(linear(k)) for k in (2, 8, 32, 128)},
    "most popular": best(np.tile(train.sum(axis=0), (600, 1))),
}
recall = {name: (items == hidden[:, None]).any(axis=1).mean() for name, items in lists.items()}

# %%
# You need not tell ``KernelRecommender`` a number of components. A linear SVD does as well only if you give it the
# right one, here the number of tastes.
figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
bars = ax.barh(list(recall), list(recall.values()), color=["#0072b2"] + ["0.6"] * 5)
ax.bar_label(bars, fmt="{:.0%}", padding=3)
ax.set(title="users whose hidden item is among ten recommended", xlim=(0, 0.55), xticks=[])
ax.spines[["top", "right", "bottom"]].set_visible(False)
ax.invert_yaxis()
plt.show()
