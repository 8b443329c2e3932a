"""Predicting links, and their direction
=====================================

We hide a tenth of the edges and ask two embeddings to tell them from other pairs of nodes. Half of these pairs are the
same edges reversed. Only a method that knows the direction can tell those apart.
"""

# %%
import matplotlib.pyplot as plt

from lopsided import DirectedGraphEmbedding
from lopsided.datasets import make_citation_graph
from lopsided.graphs import hide_edges
from lopsided.kernels import NodeKernel
from lopsided.plotting import EdgeScoresDisplay

A, _ = make_citation_graph(1000, random_state=0)
hidden = hide_edges(A, share=0.1)
ax = plt.subplots(figsize=(4.8, 4.6))[1]
EdgeScoresDisplay.from_estimator(DirectedGraphEmbedding(32).fit(hidden.adjacency), hidden, name="directed", ax=ax)
both_ways = hidden.adjacency.maximum(hidden.adjacency.T)
plain = DirectedGraphEmbedding(32, kernel=NodeKernel()).fit(both_ways)
EdgeScoresDisplay.from_estimator(plain, hidden, name="symmetrised, linear", ax=ax)
ax.get_lines()[2].set_color("#d55e00")
ax.legend(loc="lower right", frameon=False)
plt.show()

# %%
# These are the three nodes to which node 900 might link next:
model = DirectedGraphEmbedding(32).fit(A)
print(model.nearest_targets(900, k=3, new_only=True))
