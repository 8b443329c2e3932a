"""A kernel of your own
====================

You can use any vectorised f(X, Z) as a kernel. Here k(x, z) is the share of x that is contained in z. This is
one-sided: a library contains a list of two books, but the list does not contain the library.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from lopsided import KernelSVD


def contained(X, Z):
    """Share of the entries of x that z has, too."""
    return np.minimum(X[:, None], Z).sum(axis=2) / np.maximum(X.sum(axis=1), 1)[:, None]


rng = np.random.default_rng(0)
shelves = rng.random((25, 60)) < np.linspace(0.05, 0.9, 25)[:, None]
X = shelves.astype(float)
model = KernelSVD(2, kernel=contained).fit(X, Z=X)

# %%
# The shelves are sorted by size, with small ones on top. To the left of the diagonal the column is smaller and contains
# little of the row, and to the right it contains much. Along the first component the shelves are ordered by size as
# columns, but not as rows.
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
axes[0].imshow(contained(X, X), cmap="viridis", vmin=0)
axes[0].set(title="share of row in column", xlabel="shelf", ylabel="shelf")
sizes = X.sum(axis=1)
axes[1].plot(sizes, model.right_vectors_[:, 0], "o", color="#0072b2", label="as what contains")
axes[1].plot(sizes, model.left_vectors_[:, 0], "s", color="#d55e00", label="as what is contained")
axes[1].set(xlabel="books on the shelf", ylabel="first singular vectors")
axes[1].legend(frameon=False)
plt.show()
