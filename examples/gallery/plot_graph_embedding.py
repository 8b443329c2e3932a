"""A directed graph, embedded twice
================================

Every node gets a source vector, by what it links to, and a target vector, by what links to it. For a picture one kernel
of proximity is best: the default embedding holds links and degrees too, which serve predictions and cover the fields.
"""

# %%
import matplotlib.pyplot as plt

from lopsided import DirectedGraphEmbedding
from lopsided.datasets import make_citation_graph
from lopsided.plotting import EmbeddingDisplay, SpectrumDisplay

A, fields = make_citation_graph(1000, random_state=0)
model = DirectedGraphEmbedding(n_components=16, kernel="diffusion").fit(A)
EmbeddingDisplay.from_estimator(model, fields, components=(1, 2))
plt.show()

# %%
# The spectrum tells how many components carry structure.
SpectrumDisplay.from_estimator(model)
plt.show()
