"""Laws of the generated graphs."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse

from lopsided.datasets import make_citation_graph

MANY = 50_000
UNEVEN = [[1, 3, 0], [0, 1, 1], [8, 0, 2]]


@settings(max_examples=60, deadline=None)
@given(
    n_nodes=st.integers(1, 80),
    n_classes=st.integers(1, 9),
    mean_references=st.floats(0, 20),
    homophily=st.floats(0, 1),
    flow=st.floats(0, 1),
    exponent=st.floats(1.1, 6),
    random_state=st.integers(0, 2**31),
)
def test_nodes_cite_earlier_ones_once_whatever_the_parameters(n_nodes, n_classes, **others):
    A, labels = make_citation_graph(n_nodes, n_classes=n_classes, **others)
    source, target = A.nonzero()
    assert isinstance(A, sparse.csr_array) and A.shape == (n_nodes, n_nodes)
    assert A.dtype == np.float64 and A.indices.dtype == A.indptr.dtype == np.int32
    assert (source > target).all()
    assert (A.data == 1).all() and len(set(zip(source, target, strict=True))) == A.nnz
    assert A.has_canonical_format
    assert labels.shape == (n_nodes,) and ((labels >= 0) & (labels < n_classes)).all()


@pytest.mark.parametrize("exponent", [2.2, 2.5, 3.0])
def test_in_degrees_have_the_tail_that_was_asked_for(exponent):
    A, _ = make_citation_graph(MANY, exponent=exponent, random_state=0)
    degrees = np.sort(np.bincount(A.indices, minlength=MANY))[::-1]
    tail = degrees[:1000] / degrees[1000]
    hill = 1 + 1 / np.log(tail).mean()
    assert hill == pytest.approx(exponent, abs=0.15)


def test_out_degrees_are_poisson_and_so_have_no_tail():
    A, _ = make_citation_graph(MANY, mean_references=5.0, exponent=3.0, random_state=1)
    degrees = np.diff(A.indptr)
    assert degrees.mean() == pytest.approx(5.0, rel=0.02)
    assert degrees.var() == pytest.approx(5.0, rel=0.1)


@pytest.mark.parametrize("homophily", [0.0, 0.3, 0.8, 1.0])
def test_citations_stay_in_their_class_as_often_as_asked(homophily):
    A, labels = make_citation_graph(MANY, homophily=homophily, exponent=3.0, random_state=2)
    assert np.trace(cited_shares(A, labels)) / 6 == pytest.approx(homophily, abs=0.01)


def test_flow_goes_to_the_next_class_and_not_back():
    A, labels = make_citation_graph(MANY, n_classes=5, homophily=0.4, flow=0.9, exponent=3.0, random_state=3)
    shares = cited_shares(A, labels)
    own = np.arange(5)
    np.testing.assert_allclose(shares[own, (own + 1) % 5], 0.6 * (0.9 + 0.1 / 4), atol=0.02)
    np.testing.assert_allclose(shares[own, own - 1], 0.6 * 0.1 / 4, atol=0.01)


def test_mixing_is_followed_and_its_zeros_are_never_cited():
    A, labels = make_citation_graph(MANY, n_classes=3, mixing=UNEVEN, exponent=3.0, random_state=4)
    shares, asked = cited_shares(A, labels), np.array(UNEVEN) / np.sum(UNEVEN, axis=1, keepdims=True)
    np.testing.assert_allclose(shares, asked, atol=0.02)
    assert (shares[asked == 0] == 0).all()


def test_mixing_is_left_as_it_was():
    mixing = np.array(UNEVEN, dtype=float)
    make_citation_graph(50, n_classes=3, mixing=mixing, random_state=0)
    np.testing.assert_array_equal(mixing, UNEVEN)


def test_the_same_seed_gives_the_same_bits_and_another_seed_another_graph():
    (A, a), (B, b), (C, c) = (make_citation_graph(3000, random_state=seed) for seed in (7, 7, 8))
    np.testing.assert_array_equal(A.indptr, B.indptr)
    np.testing.assert_array_equal(A.indices, B.indices)
    np.testing.assert_array_equal(a, b)
    assert (A != C).nnz > 0 and (a != c).any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_nodes": 0}, r"'n_nodes'.*Got 0"),
        ({"exponent": 1.0}, r"'exponent'.*Got 1.0"),
        ({"mixing": np.eye(3)}, r"shape \(3, 3\), but n_classes=6"),
        ({"mixing": -np.eye(6)}, r"from -1.0 to .*not negative"),
        ({"mixing": np.full((6, 6), np.nan)}, "finite"),
        ({"mixing": np.zeros((6, 6))}, "row 0 of mixing sums to 0"),
    ],
)
def test_errors_give_the_value_and_the_bound(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_citation_graph(**parameters)


def cited_shares(A, labels):
    """Share of the citations of the row's class that go to the column's class."""
    source, target = A.nonzero()
    counts = np.zeros((labels.max() + 1,) * 2)
    np.add.at(counts, (labels[source], labels[target]), 1)
    return counts / counts.sum(axis=1, keepdims=True)
