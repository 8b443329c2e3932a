"""Clusters of rows and of columns
===============================

In this table, groups of rows go with groups of columns, but rows and columns are shuffled and the entries are noisy.
``KernelBiclustering`` finds the groups of both. Sorting the table by cluster shows them as blocks.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from lopsided import KernelBiclustering
from lopsided.plotting import BiclusterDisplay

rng = np.random.default_rng(0)
rows, columns = rng.integers(0, 4, 200), rng.integers(0, 4, 120)
X = rng.poisson(0.3 + 2.5 * (rows[:, None] == columns)).astype(float)
model = KernelBiclustering(4, random_state=0).fit(X)
BiclusterDisplay.from_estimator(model, X)
plt.show()
