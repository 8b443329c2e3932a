"""Every method that ranks has a length of its own where nobody asks for one, and says which lengths there are."""

import numpy as np
import pytest

from lopsided import DirectedGraphEmbedding, KernelBiclustering, KernelRecommender, KernelSVD

SMALL, LARGE = 6, 30  # fewer and more things than a ranking holds by default


def table(n):
    """Ones on and below the diagonal: row i holds i + 1 of n things."""
    return np.tril(np.ones((n, n)))


def edges(n):
    """A cycle, in which every node has an edge to another, and node 0 to two."""
    return [(i, (i + 1) % n) for i in range(n)] + [(0, 2)]


GRAPH = {n: DirectedGraphEmbedding(2, kernel="node_kernel").fit(edges(n)) for n in (SMALL, LARGE)}
SVD = {n: KernelSVD(2, kernel="association").fit(table(n)) for n in (SMALL, LARGE)}
RANKINGS = {  # rankings of a set of n things, and how many fewer than n every row leaves
    "nearest_targets": (lambda n, k: GRAPH[n].nearest_targets([0, 1], k), 1),
    "nearest_targets, new": (lambda n, k: GRAPH[n].nearest_targets([0, 1], k, new_only=True), 3),
    "nearest_targets of new nodes": (lambda n, k: GRAPH[n].nearest_targets(out_edges=np.eye(n)[:1], k=k), 1),
    "most_similar": (lambda n, k: GRAPH[n].most_similar([0, 1], k), 1),
    "nearest_right": (lambda n, k: SVD[n].nearest_right([0, 1], k), 0),
    "nearest_right, excluded": (lambda n, k: SVD[n].nearest_right([0, 1], k, exclude=table(n)[:2]), 2),
    "nearest_left": (lambda n, k: SVD[n].nearest_left([0], k), 0),
    "recommend": (lambda n, k: KernelRecommender(2).fit(table(n)).recommend(table(n)[:2], k), 2),
    "top_columns": (lambda n, k: np.array(KernelBiclustering(2).fit(table(n)).top_columns(k)), 0),
}


@pytest.mark.parametrize("name", RANKINGS)
def test_rankings_are_as_long_as_all_rows_allow_and_no_longer_than_usual(name):
    ranked, fewer = RANKINGS[name]
    assert ranked(LARGE, None).shape[1] == 10
    assert ranked(SMALL, None).shape[1] == SMALL - fewer


@pytest.mark.parametrize("name", RANKINGS)
def test_longer_rankings_than_there_are_things_are_refused(name):
    ranked, fewer = RANKINGS[name]
    assert ranked(SMALL, SMALL - fewer).shape[1] == SMALL - fewer
    with pytest.raises(ValueError, match=f"k={SMALL - fewer + 1} "):
        ranked(SMALL, SMALL - fewer + 1)


@pytest.mark.parametrize("name", RANKINGS)
def test_usual_rankings_are_the_beginning_of_longer_ones(name):
    ranked, _ = RANKINGS[name]
    np.testing.assert_array_equal(ranked(LARGE, None), ranked(LARGE, 12)[:, :10])
