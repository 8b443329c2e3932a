"""Inner decompositions by LAPACK: spectra on which divide and conquer fails, and its failure simulated everywhere."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from scipy import sparse

import lopsided
from cases import with_spectrum
from lopsided import (
    AsymmetricLSSVC,
    AsymmetricLSSVR,
    DirectedGraphEmbedding,
    KernelBiclustering,
    KernelSVD,
    LearnedKernelSVDRegressor,
    Nystrom,
    PriorNystroem,
    image_svd,
)
from lopsided.exceptions import LopsidedWarning
from lopsided.kernels import RBF, SNE, Linear

EPS = np.finfo(float).eps
STEP = np.concatenate([np.ones(20), np.full(380, 8e-9)])


@pytest.mark.parametrize("seed", range(50))
def test_vectors_of_a_step_spectrum_are_orthonormal(seed):
    K = with_spectrum(STEP, 400, 400, np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LopsidedWarning)
        model = KernelSVD(55, kernel="precomputed").fit(K)
    for vectors in (model.left_vectors_, model.right_vectors_):
        assert np.abs(vectors.T @ vectors - np.eye(55)).max() <= 100 * EPS
    np.testing.assert_allclose(model.singular_values_, STEP[:55], atol=1e-13)


OURS = str(Path(lopsided.__file__).parent)
REAL = {
    (module, name): getattr(module, name)
    for module, names in (
        (np.linalg, ("svd", "eigh", "eigvalsh", "svdvals")),
        (scipy.linalg, ("svd", "eigh", "svdvals", "eigvalsh")),
    )
    for name in names
    if hasattr(module, name)  # numpy has svdvals since 2.0
}


def is_default_driver(name, keywords):
    return keywords.get("lapack_driver", "gesdd") == "gesdd" and keywords.get("driver") in (None, "evd", "evr")


def simulate(monkeypatch, spoil):
    """Let every call by the library of LAPACK's default drivers end in ``spoil``."""
    hits = []

    def replaced(module, name):
        real = REAL[module, name]

        def call(*args, **keywords):
            if not sys._getframe(1).f_code.co_filename.startswith(OURS) or not is_default_driver(name, keywords):
                return real(*args, **keywords)
            hits.append(name)
            return spoil(real(*args, **keywords))

        return call

    for module, name in REAL:
        monkeypatch.setattr(module, name, replaced(module, name))
    return hits


def not_converged(found):
    raise np.linalg.LinAlgError("SVD did not converge")


def not_orthonormal(found):
    """Vectors that are orthonormal only to 1e-8, as those of a step spectrum; singular values alone stay right."""
    if not isinstance(found, tuple):
        return found
    noise = np.random.default_rng(0)
    return tuple(part + 1e-8 * noise.standard_normal(part.shape) if part.ndim == 2 else part for part in found)


RNG = np.random.default_rng(0)
X, Z = RNG.standard_normal((80, 4)), RNG.standard_normal((70, 4))
LARGE = with_spectrum(0.9 ** np.arange(320), 330, 320, RNG)
WIDE, LABELS = RNG.random((60, 16)), (np.arange(60) % 2)
GRAPH = (RNG.random((60, 60)) < 0.1).astype(float)
TABLE = np.kron(np.eye(3), np.ones((10, 8))) + 0.1 * RNG.random((30, 24))
SYMMETRIC = np.exp(-np.square(X[:, :1] - X[:, 0]))


def of(model, *names):
    return [getattr(model, name) for name in names]


def machine(**parameters):
    return of(AsymmetricLSSVR(**parameters).fit(X, np.sin(X[:, 0])), "left_duals_", "right_duals_")


ANSWERS = {
    "lapack": lambda: of(KernelSVD(3, kernel=SNE(1.0)).fit(X, Z=Z), "singular_values_", "left_vectors_"),
    "lapack, values": lambda: of(KernelSVD(0.9, kernel=SNE(1.0)).fit(X, Z=Z), "singular_values_"),
    "krylov": lambda: of(KernelSVD(5, kernel="precomputed").fit(LARGE), "singular_values_", "left_vectors_"),
    "nystrom": lambda: of(KernelSVD(3, kernel=SNE(2.0), solver=Nystrom(40)).fit(X, Z=Z), "singular_values_"),
    "nystrom, one set": lambda: of(KernelSVD(3, kernel=RBF(2.0), solver=Nystrom(40)).fit(X, Z=X), "singular_values_"),
    "nystrom, share": lambda: of(KernelSVD(0.8, kernel=SNE(2.0), solver=Nystrom(40)).fit(X, Z=Z), "singular_values_"),
    "nystrom, tol": lambda: of(
        KernelSVD(2, kernel=SNE(2.0), solver=Nystrom(landmarks="leverage"), tol=0.5).fit(X, Z=Z), "singular_values_"
    ),
    "compatibility pca": lambda: of(KernelSVD(2, kernel="rbf", compatibility="pca").fit(WIDE), "singular_values_"),
    "compatibility pinv": lambda: of(KernelSVD(2, kernel="rbf", compatibility="pinv").fit(WIDE), "singular_values_"),
    "compatibility, sparse": lambda: of(
        KernelSVD(2, kernel="rbf", compatibility="pca").fit(sparse.csr_array(WIDE * (WIDE > 0.6))), "singular_values_"
    ),
    "spectral": lambda: machine(C=[0.1, 1.0], kernel=SNE(1.0), solver="spectral"),
    "spectral, large C": lambda: machine(C=[0.1, 1e6], kernel=SNE(1.0), solver="spectral"),
    "symmetric": lambda: machine(C=[0.1, 1.0], kernel=RBF(1.0), solver="symmetric"),
    "woodbury": lambda: machine(C=[0.1, 1.0], kernel=SNE(1.0), solver=Nystrom(30), cv=4),
    "classifier": lambda: [AsymmetricLSSVC().fit(WIDE, LABELS).decision_function(WIDE)],
    "learned": lambda: [LearnedKernelSVDRegressor(max_iter=3).fit(WIDE, WIDE[:, 0]).predict(WIDE)],
    "prior": lambda: [PriorNystroem(20).fit(WIDE, LABELS).dictionary_],
    "prior, alignment": lambda: [PriorNystroem(20, prior_weight="alignment").fit(WIDE, LABELS).dictionary_],
    "prior, two sets": lambda: [
        PriorNystroem(20, kernel=SNE(1.0)).fit(WIDE, LABELS, Z=WIDE[::-1], y_right=LABELS).dictionary_
    ],
    "prior, pairs": lambda: [
        PriorNystroem(20).fit(WIDE, pairs=([(0, 2), (1, 3), (4, 6)], [(0, 1), (2, 3), (4, 5)])).dictionary_
    ],
    "graph": lambda: of(DirectedGraphEmbedding(4, kernel="katz", tol=0.0).fit(GRAPH), "source_embedding_"),
    "graph, single precision": lambda: [
        DirectedGraphEmbedding(4, tol=0.0).fit(GRAPH).source_embedding_.astype(np.float32)
    ],
    "biclusters": lambda: of(KernelBiclustering(3, n_init=1).fit(TABLE), "row_labels_", "column_labels_"),
    "image": lambda: [image_svd(TABLE, Linear()).reconstruct(5)],
}


@pytest.mark.parametrize("spoil", [not_converged, not_orthonormal])
@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.filterwarnings("ignore::lopsided.exceptions.LopsidedWarning")
def test_answers_survive_a_driver_that_fails(name, spoil, monkeypatch):
    expected = ANSWERS[name]()
    hits = simulate(monkeypatch, spoil)
    found = ANSWERS[name]()
    assert hits, "this case takes no decomposition; it tests nothing"
    for one, other in zip(found, expected, strict=True):
        precision = 1e-10 if np.asarray(other).dtype != np.float32 else 1e-4
        np.testing.assert_allclose(one, other, atol=precision * np.abs(other).max(), rtol=10 * precision)


def test_a_matrix_that_no_driver_decomposes_is_an_error_with_its_shape(monkeypatch):
    for module, name in REAL:
        monkeypatch.setattr(module, name, lambda *_, **__: not_converged(None))
    with pytest.raises(np.linalg.LinAlgError, match=r"could not decompose.*\(80, 70\)"):
        KernelSVD(3, kernel=SNE(1.0)).fit(X, Z=Z)


def test_every_decomposition_goes_through_one_door():
    """Beside that door nothing in the library calls LAPACK's SVD and eigh, or their results would go unchecked."""
    callers = [
        path.name
        for path in Path(OURS).rglob("*.py")
        if any(f"linalg.{name}(" in path.read_text() for name in ("svd", "eigh", "eigvalsh", "svdvals"))
    ]
    assert len(callers) <= 1, callers
