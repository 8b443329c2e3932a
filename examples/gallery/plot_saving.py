"""Keep a model in a file
======================

A saved model holds arrays and JSON, and no code, so you can load one that somebody else made. Its arrays stay in the
file until you use them.
"""

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from lopsided import KernelSVD
from lopsided.io import load, save
from lopsided.plotting import SpectrumDisplay

X = np.random.default_rng(0).standard_normal((2000, 10))
model = KernelSVD(12, kernel="sne", center=True).fit(X, Z=X[:500])
path = Path(tempfile.mkdtemp()) / "model.lopsided"
save(model, path)
again = load(path)
print(
    f"{path.stat().st_size:,} bytes; the same to the last bit: {np.array_equal(again.transform(X), model.transform(X))}"
)

# %%
SpectrumDisplay.from_estimator(again)
plt.show()
