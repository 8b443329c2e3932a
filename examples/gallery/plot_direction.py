"""
What direction buys
===================

Six hundred players of three styles meet at random. Rock beats scissors, scissors beat paper and paper beats
rock, in 85 games of 100. Who met whom says nothing about the styles, while who won says everything. A method
that symmetrises sees only who met whom. (The data are made to show this; real graphs lie in between.)
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import KernelPCA
from sklearn.metrics import adjusted_rand_score

from lopsided import KernelSVD

rng = np.random.default_rng(0)
style = rng.integers(0, 3, 600)  # 0 beats 1, 1 beats 2, 2 beats 0
i, j = np.nonzero(np.triu(rng.random((600, 600)) < 0.06, 1))
chance = np.array([0.5, 0.85, 0.15])[(style[j] - style[i]) % 3]
won = rng.random(len(i)) < chance
winner, loser = np.where(won, i, j), np.where(won, j, i)
A = sparse.csr_array((np.ones(len(i)), (winner, loser)), shape=(600, 600))

# %%
# ``KernelPCA`` needs a symmetric matrix, A + Aᵀ, while ``KernelSVD`` takes A as it is. The score tells how well k-means
# on the vectors finds the styles: 1 is perfect, 0 is chance.
symmetric = KernelPCA(2).fit_transform((A + A.T).toarray())
model = KernelSVD(n_components=3, kernel="sne").fit(A)
directed = model.left_vectors_[:, 1:]  # the first is constant

figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
panels = ("KernelPCA of A + Aᵀ", symmetric), ("KernelSVD of A", directed)
for ax, (name, vectors) in zip(axes, panels, strict=True):
    found = KMeans(3, n_init=10, random_state=0).fit_predict(vectors)
    ax.scatter(*vectors.T, c=np.array(["#0072b2", "#d55e00", "#009e73"])[style], s=12)
    ax.set_title(f"{name}: styles found {max(adjusted_rand_score(style, found), 0):.2f}")
    ax.set(xticks=[], yticks=[])
plt.show()
