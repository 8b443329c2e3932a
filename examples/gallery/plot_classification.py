"""Least-squares classification
============================

An asymmetric least-squares support vector machine learns two functions at once, one that reads a sample as a source and
one that reads it as a target. You need not choose C: one factorisation gives exact leave-one-out predictions for every
C, and the best is kept.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from lopsided import AsymmetricLSSVC
from lopsided.plotting import LeaveOneOutDisplay

X, y = make_moons(200, noise=0.25, random_state=0)
model = AsymmetricLSSVC(kernel="sne").fit(X, y)
figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
DecisionBoundaryDisplay.from_estimator(
    model, X, response_method="decision_function", ax=axes[0], cmap="PuOr", alpha=0.8
)
axes[0].scatter(*X.T, c=np.array(["#e66101", "#5e3c99"])[y], s=16, edgecolor="white", linewidth=0.5)
axes[0].set_title(f"held-out accuracy {model.held_out_score_:.2f}")
LeaveOneOutDisplay.from_estimator(model, ax=axes[1])
plt.show()
