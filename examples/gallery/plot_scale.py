"""Many points: landmarks until it is good enough
==============================================

Landmarks are a few points that stand for all. With ``tol`` their number is doubled until the estimated error of the
singular vectors is small enough. A hundred thousand points take seconds, and the kernel matrix of 10^10 entries is
never formed.
"""

# %%
import time

import matplotlib.pyplot as plt
import numpy as np

from lopsided import KernelSVD, Nystrom
from lopsided.plotting import NystromErrorDisplay

X = np.random.default_rng(0).standard_normal((100_000, 4)).astype(np.float32)
start = time.perf_counter()
model = KernelSVD(5, kernel="rbf", solver=Nystrom(), tol=0.02).fit(X, Z=X)
print(f"{time.perf_counter() - start:.1f} s; {model.solver_}")
NystromErrorDisplay.from_estimator(model)
plt.show()
