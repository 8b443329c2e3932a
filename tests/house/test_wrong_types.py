"""Arguments of the wrong type: functions name the argument, what it may be and what it is."""

import matplotlib
import numpy as np
import polars as pl
import pytest
from scipy import sparse

from lopsided import (
    AsymmetricLSSVR,
    DirectedGraphEmbedding,
    ImageMixtures,
    KernelBiclustering,
    KernelRecommender,
    KernelSVD,
    PriorNystroem,
    image_svd,
    select_solver,
)
from lopsided.biclustering import partition_scores
from lopsided.datasets import make_citation_graph, make_click_log, make_directed_blocks
from lopsided.explore import write_page
from lopsided.graphs import classify_nodes, evaluate_links, hide_edges, reconstruct_graph
from lopsided.images import psnr
from lopsided.io import write_vectors
from lopsided.kernel_svd import fit_robust, make_compatible, split_condition
from lopsided.kernels import RBF, NodeKernel, Sum, Swapped
from lopsided.operators import as_operator
from lopsided.plotting import plot_diagnostics, plot_embeddings
from lopsided.recommendation import coverage
from lopsided.svd import Factors, diagnose, eta, factorise, relative_eta

matplotlib.use("Agg")
X = np.random.default_rng(3).random((9, 4))
OPERATOR = as_operator(RBF(1.0).fit(X, X), X, X, budget=10**9)
GRAPH = DirectedGraphEmbedding(1, kernel="linear").fit(np.eye(4)[[1, 2, 3, 0]])
FACTORS = Factors(np.eye(9, 2), np.array([2.0, 1.0]), np.eye(4, 2))


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: as_operator("rbf", X, X, budget=10**9), "'kernel' parameter of as_operator must be an instance"),
        (lambda: as_operator(RBF(1.0), X, X, budget=10**9), r"RBF\(bandwidth=1.0\) is not fitted; pass kernel.fit"),
        (lambda: as_operator(RBF(1.0).fit(X, X), X.tolist(), X, budget=1), "two dimensions, not list"),
        (lambda: factorise(X, 2, budget=1, rng=np.random.default_rng(0)), "'A' parameter of factorise"),
        (lambda: diagnose(X, FACTORS), "'A' parameter of diagnose"),
        (lambda: eta(FACTORS, X), "'found' parameter of eta must be an instance of 'lopsided.svd.factors.Factors'"),
        (lambda: relative_eta(None, FACTORS), "'exact' parameter of relative_eta"),
        (lambda: make_compatible("pca", X[:0], X, np.random.default_rng(0)), "0 sample"),
        (lambda: make_compatible("pca", None, X, np.random.default_rng(0)), "Expected 2D array"),
        (lambda: split_condition(X, width="x"), "'width' parameter of split_condition"),
        (lambda: evaluate_links(np.add, "hidden"), "'hidden' parameter of evaluate_links"),
        (lambda: hide_edges(np.eye(3), reversed_share=sparse.eye_array(3)), "'reversed_share' parameter of hide_edges"),
        (lambda: write_vectors([1, 2], "vectors.csv"), "a list has no node vectors; pass a fitted Directed"),
        (lambda: write_vectors(DirectedGraphEmbedding(), "vectors.csv"), "not fitted yet"),
        (lambda: write_page(np.eye(2), "page.html"), "a ndarray has no node vectors"),
        (lambda: write_page(GRAPH, "p.html", title=3), "'title' parameter of write_page"),
        (lambda: write_page(GRAPH, "p.html", layout=pl.DataFrame(X)), "'layout' parameter of write_page"),
        (lambda: make_compatible(pl.DataFrame(X), X, X, np.random.default_rng(0)), "'name' parameter of make_compat"),
        (lambda: split_condition(X, width=10**9), "width=1000000000 must lie between max.*=9 and n . m=13"),
        (lambda: ImageMixtures(10**30).fit(X), r"'n_components' parameter of ImageMixtures .* range \[1, 1024\]"),
        (lambda: PriorNystroem(2, landmarks=X[:, :2]).fit(X), "the landmarks have 2 columns, and the points 4"),
        (lambda: KernelRecommender(1).fit(X).recommend(X, new_only=X), "'new_only' parameter of recommend"),
        (lambda: select_solver("rbf", X, X, memory_budget=X), "memory_budget must be a number of bytes or a string"),
        (lambda: Sum([], RBF(1.0))(X, X), "first of Sum must be a Kernel, not a list; as_kernel makes one"),
        (lambda: Swapped("rbf")(X, X), "kernel of Swapped must be a Kernel, not a str"),
        (lambda: partition_scores(1e300 * np.eye(3), [0, 1, 1]), "1d array"),
        (lambda: reconstruct_graph(X, X, np.eye(9), decoder=pl.DataFrame(X)), "decoder="),
        (lambda: classify_nodes(X, np.arange(9) % 2, multilabel=pl.DataFrame(X)), "multilabel="),
        (lambda: make_click_log(n_columns=sparse.eye_array(2)), "'n_columns' parameter of make_click_log"),
        (lambda: KernelSVD(1, verbose=pl.Series([1, 2])).fit(X), "'verbose' parameter of KernelSVD"),
        (lambda: factorise(OPERATOR, 1, solver="x", budget=1, rng=np.random.default_rng(0)), "not one of 'auto', 'lap"),
        (lambda: coverage([[0, 1]], sparse.eye_array(2)), "'n_items' parameter of coverage"),
        (lambda: psnr(X, X, peak=sparse.eye_array(2)), "(?s)peak=.* must be positive and finite"),
        (lambda: image_svd(X, n_components=sparse.eye_array(1)), "'n_components' parameter of image_svd"),
        (lambda: GRAPH.most_similar(0, 1, return_scores=X), "'return_scores' parameter of most_similar"),
        (lambda: GRAPH.most_similar(0, 1, as_=X), "'as_' parameter of most_similar"),
        (lambda: make_directed_blocks(30, n_classes=10**9), "'n_classes' parameter of make_.* 4096"),
        (lambda: make_citation_graph(30, n_classes=10**9), "'n_classes' parameter of make_.* 4096"),
        (lambda: make_directed_blocks(9, n_classes=2, structure=1j * np.eye(2)), "structure holds complex numbers"),
        (lambda: make_citation_graph(9, n_classes=2, mixing=1j * np.eye(2)), "mixing holds complex numbers"),
        (lambda: make_click_log(10**30, block_rows=20), "makes more than 1,000,000 blocks of 20 rows"),
        (lambda: GRAPH.nearest_targets(0, 1, new_only=X), "'new_only' parameter of nearest_targets"),
        (lambda: KernelBiclustering(2).fit(X).top_columns(X), "(?s)k=.* must be a whole number from 1 to the number"),
        (lambda: AsymmetricLSSVR().fit(X, X[:, 0]).predict_interval(X, coverage=X), "(?s)coverage=.* must lie between"),
        (lambda: AsymmetricLSSVR({1.0}).fit(X, X[:, 0]), "C={1.0} must be 'auto', a number, or a list of numbers"),
        (lambda: AsymmetricLSSVR(cv=[[1.0, 2.0]]).fit(X, X[:, 0]), "must leave every sample out once"),
        (lambda: AsymmetricLSSVR(cv=b"x").fit(X, X[:, 0]), "must be a number of folds, a splitter such as KFold"),
        (lambda: fit_robust([], X), "'model' parameter of fit_robust"),
        (lambda: plot_embeddings((X, X), axes=[1.0, 2.0]), "two are needed"),
        (lambda: plot_diagnostics(KernelSVD(1).fit(X).diagnostics(), ax={}), "ax must be matplotlib axes or None"),
    ],
)  # fmt: skip
def test_functions_name_the_argument_that_is_wrong(call, says):
    with pytest.raises((ValueError, TypeError), match=says):
        call()


def test_weights_of_self_loops_may_be_any_whole_number():
    A = np.eye(4)[[1, 2, 3, 0]]
    wide, real = (DirectedGraphEmbedding(1, kernel=NodeKernel(self_loops=loops)).fit(A) for loops in (10**30, 1e30))
    np.testing.assert_array_equal(wide.source_embedding_, real.source_embedding_)
