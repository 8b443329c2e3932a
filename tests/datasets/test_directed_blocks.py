"""Laws of directed block models: the undirected graph says nothing of the classes, directions what was asked."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from scipy.stats import chisquare

from lopsided.datasets import make_directed_blocks

MANY = 30_000
CLASSES = {"cyclic": 5, "hierarchical": 3, "core-periphery": 4}
ASKED = [[0.5, 1.0, 0.2], [0.0, 0.5, 0.7], [0.8, 0.3, 0.5]]


@settings(max_examples=60, deadline=None)
@given(
    n_nodes=st.integers(2, 80),
    structure=st.sampled_from(sorted(CLASSES)),
    direction=st.floats(0, 1),
    mean_degree=st.floats(0, 20),
    exponent=st.none() | st.floats(1.1, 6),
    random_state=st.integers(0, 2**31),
)
def test_pairs_have_one_edge_at_most_whatever_the_parameters(n_nodes, structure, **others):
    n_classes = CLASSES[structure]
    A, labels = make_directed_blocks(n_nodes, n_classes=n_classes, structure=structure, **others)
    assert isinstance(A, sparse.csr_array) and A.shape == (n_nodes, n_nodes)
    assert A.dtype == np.float64 and A.indices.dtype == A.indptr.dtype == np.int32
    assert A.has_canonical_format and (A.data == 1).all()
    assert (A + A.T).max() <= 1 and not A.diagonal().any()
    sizes = np.bincount(labels, minlength=n_classes)
    assert labels.shape == (n_nodes,) and len(sizes) == n_classes and np.ptp(sizes) <= 1


@pytest.mark.parametrize("other", [{"structure": "hierarchical"}, {"structure": "core-periphery"}, {"direction": 0.1}])
def test_undirected_graph_and_classes_do_not_depend_on_the_orientation(other):
    A, a = make_directed_blocks(3000, random_state=0)
    B, b = make_directed_blocks(3000, random_state=0, **other)
    assert (A != B).nnz > 0
    assert ((A + A.T) != (B + B.T)).nnz == 0
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("structure", CLASSES)
def test_classes_are_linked_as_often_as_their_sizes_say_if_directions_are_ignored(structure):
    A, labels = make_directed_blocks(
        MANY, n_classes=CLASSES[structure], structure=structure, direction=1.0, exponent=None, random_state=1
    )
    counts = class_counts(A, labels)
    sizes = np.bincount(labels).astype(float)
    within = np.arange(len(sizes))
    expected = np.outer(sizes, sizes)
    expected[within, within] = sizes * (sizes - 1) / 2
    upper = np.triu_indices(len(sizes))
    linked = (counts + counts.T)[upper]
    linked[upper[0] == upper[1]] /= 2
    assert chisquare(linked, expected[upper] / expected[upper].sum() * linked.sum()).pvalue > 0.001


@pytest.mark.parametrize("structure", CLASSES)
@pytest.mark.parametrize("direction", [0.0, 0.7, 1.0])
def test_edges_point_forwards_as_often_as_asked(structure, direction):
    A, labels = make_directed_blocks(
        MANY, n_classes=CLASSES[structure], structure=structure, direction=direction, random_state=2
    )
    F = {
        "cyclic": lambda a, b: {1: direction, 4: 1 - direction}.get((b - a) % 5, 0.5),
        "hierarchical": lambda a, b: direction if a < b else 1 - direction if a > b else 0.5,
        "core-periphery": lambda a, b: {
            **{pair: direction for pair in ((0, 1), (2, 1), (2, 3))},
            **{pair: 1 - direction for pair in ((1, 0), (1, 2), (3, 2))},
        }.get((a, b), 0.5),
    }[structure]
    k = CLASSES[structure]
    assert_oriented(A, labels, np.array([[F(a, b) for b in range(k)] for a in range(k)]))


def test_an_array_of_probabilities_is_followed_and_left_as_it_was():
    structure = np.array(ASKED)
    A, labels = make_directed_blocks(MANY, n_classes=3, structure=structure, random_state=3)
    assert_oriented(A, labels, np.array(ASKED))
    np.testing.assert_array_equal(structure, ASKED)


@pytest.mark.parametrize("exponent", [2.2, 2.5, 3.0])
def test_degrees_have_the_tail_that_was_asked_for(exponent):
    A, _ = make_directed_blocks(100_000, mean_degree=5.0, exponent=exponent, random_state=0)
    degrees = np.sort((A + A.T).sum(axis=0))[::-1]
    tail = degrees[:1000] / degrees[1000]
    assert 1 + 1 / np.log(tail).mean() == pytest.approx(exponent, abs=0.2)


def test_degrees_without_an_exponent_are_poisson():
    A, _ = make_directed_blocks(MANY, mean_degree=5.0, exponent=None, random_state=1)
    degrees = (A + A.T).sum(axis=0)
    assert degrees.mean() == pytest.approx(10.0, rel=0.02)
    assert degrees.var() == pytest.approx(10.0, rel=0.05)


@pytest.mark.parametrize("structure", CLASSES)
def test_neighbours_tell_the_class_of_a_node_only_if_in_and_out_are_told_apart(structure):
    k = CLASSES[structure]
    A, labels = make_directed_blocks(
        4000, n_classes=k, structure=structure, direction=1.0, mean_degree=30.0, random_state=4
    )
    members = np.eye(k)[labels]
    directed = np.hstack([A @ members, A.T @ members])
    undirected = (A + A.T) @ members
    assert nearest_mean_accuracy(directed, labels) > 1.5 / k + 0.1
    assert nearest_mean_accuracy(undirected, labels) < 1 / k + 0.05


@pytest.mark.parametrize(("structure", "told"), [("cyclic", False), ("hierarchical", True)])
def test_degrees_tell_the_class_of_a_node_in_a_hierarchy_and_not_in_a_cycle(structure, told):
    A, labels = make_directed_blocks(6000, n_classes=3, structure=structure, direction=1.0, random_state=5)
    degrees = np.column_stack([A.sum(axis=1), A.sum(axis=0)])
    accuracy = nearest_mean_accuracy(degrees, labels)
    assert accuracy > 0.5 if told else accuracy < 0.4


def test_the_same_seed_gives_the_same_bits_and_another_seed_another_graph():
    (A, a), (B, b), (C, c) = (make_directed_blocks(3000, random_state=seed) for seed in (7, 7, 8))
    np.testing.assert_array_equal(A.indptr, B.indptr)
    np.testing.assert_array_equal(A.indices, B.indices)
    np.testing.assert_array_equal(a, b)
    assert (A != C).nnz > 0 and (a != c).any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_nodes": 1}, r"'n_nodes'.*Got 1"),
        ({"exponent": 1.0}, r"'exponent'.*Got 1.0"),
        ({"structure": "ring"}, r"'structure'.*Got 'ring'"),
        ({"n_classes": 2}, "at least 3 classes, not n_classes=2.*'hierarchical'"),
        ({"structure": "core-periphery", "n_classes": 3}, "has 4 classes.*not n_classes=3"),
        ({"structure": np.eye(3)}, r"shape \(3, 3\), but n_classes=4"),
        ({"structure": np.full((4, 4), 2.0)}, "from 2.0 to 2.0, but probabilities"),
        ({"structure": np.full((4, 4), np.nan)}, "probabilities"),
        ({"structure": np.eye(4)}, r"structure\[0, 0\] \+ structure\[0, 0\] = 2, .* add up to 1"),
    ],
)
def test_errors_give_the_value_and_the_bound(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_directed_blocks(**parameters)


def class_counts(A, labels):
    """Edges from the row's class to the column's class."""
    source, target = A.nonzero()
    counts = np.zeros((labels.max() + 1,) * 2)
    np.add.at(counts, (labels[source], labels[target]), 1)
    return counts


def assert_oriented(A, labels, F):
    """Between classes, the share of edges from the row's to the column's is F, within four deviations."""
    counts = class_counts(A, labels)
    both = counts + counts.T
    between = ~np.eye(len(F), dtype=bool)
    deviation = np.sqrt(F * (1 - F) / both)
    assert (np.abs(counts / both - F) <= 4 * deviation)[between].all()


def nearest_mean_accuracy(X, labels):
    """Accuracy on the second half of the nodes of the nearest class mean of the first, by direction."""
    X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1)
    half = len(X) // 2
    means = np.stack([X[:half][labels[:half] == label].mean(axis=0) for label in range(labels.max() + 1)])
    nearest = ((X[half:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    return np.mean(nearest == labels[half:])
