"""Clusters of rows and of columns
===============================

A table in which groups of rows go with groups of columns, shuffled and noisy.
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
