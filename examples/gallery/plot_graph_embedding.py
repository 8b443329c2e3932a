"""A directed graph, embedded twice
================================

Every node gets a source vector from its outgoing edges and a target vector from its incoming ones. For a picture, a
single proximity kernel is best. The default embedding also encodes links and degrees, which help predictions but hide
the fields.
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
# The spectrum shows how many components carry structure. There are six fields, and values level off after the sixth.
SpectrumDisplay.from_estimator(model)
plt.show()
