"""Laws of KernelSVD: one decomposition, seen from both sides, whatever the kernel, the data and the solver."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.preprocessing import PolynomialFeatures

from cases import KERNELS, assert_close, centred, reference, sparse_pair
from lopsided import KernelSVD, Nystrom, select_solver
from lopsided.kernels import RBF, SNE, Function, Polynomial, as_kernel
from lopsided.nystrom.landmarks import STRATEGIES
from lopsided.operators import Stored
from lopsided.svd import SOLVERS, factorise

every_kernel = pytest.mark.parametrize("name", KERNELS)
KINDS = pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
CENTER = pytest.mark.parametrize("center", [False, True])
K_OF_RANK = 3


def two_sets(rng, n=16, m=13, width=5):
    return rng.standard_normal((n, width)), rng.standard_normal((m, width))


def new_points(name, rng):
    """Training points, new points, the matrix of the first, and the values of the new rows and columns."""
    X, Z = two_sets(rng)
    new_X, new_Z = two_sets(rng, n=4, m=6)
    values = reference(name, X, Z), reference(name, new_X, Z, X, Z), reference(name, X, new_Z, X, Z).T
    return (X, Z), (new_X, new_Z), values


def model_of(name, k=K_OF_RANK, **parameters):
    return KernelSVD(k, kernel=clone(KERNELS[name][0]), **parameters)


def assert_decomposes(model, K, ulps=1e5):
    """The model's factors are the leading triplets of a dense matrix."""
    k = model.n_components_
    U, s, V = model.left_vectors_, model.singular_values_, model.right_vectors_
    assert (U.shape, V.shape) == ((K.shape[0], k), (K.shape[1], k))
    assert_close(s, np.linalg.svd(K, compute_uv=False)[:k], ulps)
    size = np.eye(k) * s[0]
    assert_close(K @ V / s[0], U * s / s[0], ulps)
    assert_close(K.T @ U / s[0], V * s / s[0], ulps)
    assert_close(s[0] * U.T @ U, size, ulps)
    assert_close(s[0] * V.T @ V, size, ulps)


@KINDS
@CENTER
@every_kernel
def test_factors_are_those_of_the_kernel_matrix(name, center, kind, rng):
    X, Z = two_sets(rng)
    K = reference(name, X, Z)
    model = model_of(name, center=center).fit(kind(X), Z=kind(Z))
    assert_decomposes(model, centred(K) if center else K)


@KINDS
@pytest.mark.parametrize("scaling", [0.0, 0.5, 1.0])
@CENTER
@every_kernel
def test_transforming_the_training_points_gives_their_embedding(name, center, scaling, kind, rng):
    X, Z = (kind(side) for side in two_sets(rng))
    model = model_of(name, center=center, scaling=scaling)
    left = model.fit_transform(X, Z=Z)
    lost = 1e3 * model.singular_values_[0] / model.singular_values_[-1]
    assert_close(model.transform(X), left, ulps=lost)
    powers = model.singular_values_**scaling
    assert_close(left, model.left_vectors_ * powers)
    assert_close(model.transform_right(Z), model.right_vectors_ * powers, ulps=lost)


@KINDS
@CENTER
@every_kernel
def test_new_points_follow_the_formula_of_both_sides(name, center, kind, rng):
    (X, Z), (new_X, new_Z), (K, left, right) = new_points(name, rng)
    model = model_of(name, center=center, scaling=0.5).fit(kind(X), Z=kind(Z))
    if center:  # the means are those of the training points; the new point's own mean leaves no trace
        left = left - K.mean(axis=0) - (left - K.mean(axis=0)).mean(axis=1, keepdims=True)
        right = right - K.mean(axis=1) - (right - K.mean(axis=1)).mean(axis=1, keepdims=True)
    roots = np.sqrt(model.singular_values_)
    assert_close(model.transform(kind(new_X)), left @ model.right_vectors_ / roots, ulps=1e5)
    assert_close(model.transform_right(kind(new_Z)), right @ model.left_vectors_ / roots, ulps=1e5)


@KINDS
@pytest.mark.parametrize("name", [name for name in KERNELS if name != "function"])
@pytest.mark.parametrize("shape", [(18, 12), (12, 18), (14, 14)])
def test_matrix_mode_is_two_set_mode_on_rows_and_columns(name, shape, kind, rng):
    A = 0.2 * rng.standard_normal(shape)
    model = model_of(name).fit(kind(A))
    maps = model.compatibility_
    assert maps.name == ("identity" if shape[0] == shape[1] else "pca")
    X, Z = (np.asarray(side) for side in (maps.left(A), maps.right(A.T)))
    assert_decomposes(model, reference(name, X, Z))
    other = model_of(name).fit(X, Z=Z)
    assert_close(model.singular_values_, other.singular_values_, ulps=1e4)
    assert_close(model.transform(kind(A)), model.left_vectors_ * model.singular_values_, ulps=1e5)
    assert_close(model.transform_right(kind(A.T)), model.right_vectors_ * model.singular_values_, ulps=1e5)


@KINDS
@CENTER
@every_kernel
def test_precomputed_values_give_the_same_answer(name, center, kind, rng):
    (X, Z), (new_X, new_Z), tables = new_points(name, rng)
    K, left, right = (kind(table) for table in tables)
    points = model_of(name, center=center).fit(X, Z=Z)
    values = KernelSVD(K_OF_RANK, kernel="precomputed", center=center).fit(K)
    assert_close(values.singular_values_, points.singular_values_)
    assert_close(values.left_vectors_, points.left_vectors_, ulps=1e5)
    assert_close(values.transform(left), points.transform(new_X), ulps=1e5)
    assert_close(values.transform_right(right), points.transform_right(new_Z), ulps=1e5)


@CENTER
@every_kernel
def test_exchanging_data_and_kernel_exchanges_the_factors(name, center, rng):
    X, Z = two_sets(rng)
    one = model_of(name, center=center).fit(X, Z=Z)
    other = KernelSVD(K_OF_RANK, kernel=KERNELS[name][0].T, center=center).fit(Z, Z=X)
    signs = np.sign(np.einsum("ij,ij->j", one.left_vectors_, other.right_vectors_))
    assert_close(other.singular_values_, one.singular_values_)
    assert_close(other.right_vectors_ * signs, one.left_vectors_, ulps=1e5)
    assert_close(other.left_vectors_ * signs, one.right_vectors_, ulps=1e5)


@pytest.mark.parametrize("kernel", [("rbf", {"gamma": 0.25}, RBF(2.0)), ("linear", {}, "linear")], ids=str)
def test_one_symmetric_set_is_kernel_pca(kernel, rng):
    name, parameters, ours = kernel
    X, new = two_sets(rng)
    model = KernelSVD(3, kernel=ours, center=True).fit(X, Z=X)
    peer = KernelPCA(3, kernel=name, eigen_solver="dense", **parameters).fit(X)
    assert_close(model.singular_values_, peer.eigenvalues_)
    # KernelPCA scores are u sqrt(eigenvalue): scaling one half
    model.set_params(scaling=0.5)
    for points in (X, new):
        assert_close(np.abs(model.transform(points)), np.abs(peer.transform(points)), ulps=1e5)
        assert_close(np.abs(model.transform_right(points)), np.abs(peer.transform(points)), ulps=1e5)


@CENTER
@pytest.mark.parametrize("name", ["linear", "polynomial"])
def test_coupled_covariance_equations_hold_for_explicit_maps(name, center, rng):
    """Sigma_phi W_psi = W_phi Lambda and Sigma_psi W_phi = W_psi Lambda (the 2024 paper, definition 2.1)."""
    X, Z = two_sets(rng, width=3)
    phi, psi, kernel = X, Z, "linear"
    if name == "polynomial":
        features = PolynomialFeatures(2).fit(X)
        weights = np.where(features.powers_.max(axis=1) == 2, 1.0, np.sqrt(2.0))
        weights[0] = 1.0
        phi, psi, kernel = features.transform(X) * weights, features.transform(Z) * weights, Polynomial(2, 1.0)
    if center:
        phi, psi = phi - phi.mean(axis=0), psi - psi.mean(axis=0)
    model = KernelSVD(3, kernel=kernel, center=center).fit(X, Z=Z)
    n, m = len(X), len(Z)
    W_phi, W_psi = phi.T @ model.left_vectors_ / np.sqrt(n), psi.T @ model.right_vectors_ / np.sqrt(m)
    Lambda = model.singular_values_ / np.sqrt(n * m)
    assert_close(phi.T @ phi / n @ W_psi, W_phi * Lambda, ulps=1e4)
    assert_close(psi.T @ psi / m @ W_phi, W_psi * Lambda, ulps=1e4)
    assert_close(model.transform(X) / np.sqrt(m), phi @ W_psi, ulps=1e4)  # the paper's projected scores


@CENTER
@pytest.mark.parametrize("data", ["weighted", "binary", "hubs"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_gives_the_same_answer(solver, data, center):
    S, _ = sparse_pair(data, n=90, width=90)
    expected = centred(reference("sne", S, S.T)) if center else reference("sne", S, S.T)
    model = KernelSVD(2, kernel=SNE(1.3), solver=solver, center=center).fit(S)
    assert model.solver_.name == solver and model.solver_.reason == "asked for"
    assert_close(model.singular_values_, np.linalg.svd(expected, compute_uv=False)[:2], ulps=1e4)
    assert_close(expected @ model.right_vectors_, model.left_vectors_ * model.singular_values_, ulps=1e5)


@pytest.mark.parametrize("budget", [None, "1GB", 1000, "1kB"])
@KINDS
def test_the_memory_budget_changes_the_way_and_not_the_answer(budget, kind, rng):
    A = kind(sparse_pair("binary", n=400, width=400)[0].toarray())
    model = KernelSVD(3, kernel=SNE(1.3), memory_budget=budget).fit(A)
    expected = np.linalg.svd(reference("sne", A, A.T), compute_uv=False)[:3]
    assert_close(model.singular_values_, expected, ulps=1e4)
    assert model.solver_.name in SOLVERS and model.solver_.reason


@KINDS
@CENTER
@every_kernel
def test_single_precision_stays_single(name, center, kind, rng):
    X, Z = (kind(side.astype(np.float32)) for side in two_sets(rng))
    model = model_of(name, center=center).fit(X, Z=Z)
    outputs = [model.left_vectors_, model.singular_values_, model.right_vectors_, model.reconstruct()]
    outputs += [model.transform(X), model.transform_right(Z), model.fit_transform(X, Z=Z)]
    assert {part.dtype for part in outputs} == {np.dtype(np.float32)}
    K = reference(name, X, Z)
    expected = np.linalg.svd(centred(K) if center else K, compute_uv=False)[:K_OF_RANK]
    assert_close(model.singular_values_, expected, ulps=1e4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_same_seed_gives_the_same_bits(solver, rng):
    A = rng.standard_normal((60, 40))

    def fitted():
        return KernelSVD(3, compatibility="random", solver=solver, random_state=5).fit(A).left_vectors_

    assert np.array_equal(fitted(), fitted())


WAYS = {
    **dict.fromkeys(SOLVERS),
    **{f"nystrom_{name}": Nystrom(12, landmarks=name) for name in STRATEGIES},
    "nystrom_given": Nystrom(landmarks=(np.arange(12), np.arange(12))),
    "nystrom_plain": Nystrom(12, extension="plain", denominators="landmarks"),
}
CONTAINERS = {
    "dense": np.copy,
    "fortran": lambda X: np.asfortranarray(X.copy()),
    "single": lambda X: X.astype(np.float32),
    "lists": lambda X: X.tolist(),
    "frame": pd.DataFrame,
    "polars": lambda X: pl.DataFrame({f"c{i}": column for i, column in enumerate(X.T)}),
    "sparse": lambda X: sparse.csr_array(X * (np.abs(X) > 0.5)),
    "blocks": lambda X: iter(np.split(X, 4)),
}


def assert_same_bits(one, other):
    for attribute in ("left_vectors_", "singular_values_", "right_vectors_"):
        assert np.array_equal(getattr(one, attribute), getattr(other, attribute)), attribute


@pytest.mark.parametrize(("way", "solver"), [(way, solver or way) for way, solver in WAYS.items()])
@every_kernel
@pytest.mark.filterwarnings("ignore::lopsided.exceptions.AccuracyWarning")
def test_a_copy_of_the_points_gives_the_same_bits_for_every_kernel_and_solver(name, way, solver, rng):
    X, _ = two_sets(rng, n=40)
    model = model_of(name, solver=solver, random_state=0)
    assert_same_bits(clone(model).fit(X, Z=X), clone(model).fit(X, Z=X.copy()))


@pytest.mark.parametrize("solver", ["lapack", Nystrom(12)], ids=repr)
@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_a_copy_of_the_points_gives_the_same_bits_in_every_container(container, solver, rng):
    X, _ = two_sets(rng, n=40)
    model, one = KernelSVD(3, kernel="rbf", solver=solver), container(X)
    assert_same_bits(clone(model).fit(one, Z=one), clone(model).fit(container(X), Z=container(X)))


def test_a_memory_map_and_its_copy_are_compared_in_slabs(tmp_path, monkeypatch, rng):
    monkeypatch.setattr("lopsided._core.arrays.SLAB_ENTRIES", 13)
    X, model = rng.standard_normal((40, 5)), KernelSVD(2, solver=Nystrom(10))
    mapped = np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=X.shape)
    mapped[:] = X
    assert_same_bits(clone(model).fit(mapped, Z=mapped), clone(model).fit(mapped, Z=X))
    other = X.copy()
    other[-1, -1] += 1  # in the last slab
    assert not np.array_equal(*(side.indices for side in clone(model).fit(mapped, Z=other).landmarks_))


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("solver", ["lapack", Nystrom(9)], ids=repr)
def test_set_output_frames_both_sides(solver, library, rng):
    X, Z = two_sets(rng)
    frames = [pd.DataFrame(side, index=[f"{name}{i}" for i in range(len(side))]) for side, name in ((X, "x"), (Z, "z"))]
    frames = [side.rename(columns=str) for side in frames]
    model = KernelSVD(2, solver=solver).fit(frames[0], Z=frames[1])
    plain = model.transform(frames[0]), model.transform_right(frames[1])
    assert all(type(side) is np.ndarray for side in plain)
    model.set_output(transform=library)
    given = frames if library == "pandas" else [pl.from_pandas(side) for side in frames]
    framed = model.transform(given[0]), model.transform_right(given[1])
    for side, expected, frame in zip(framed, plain, frames, strict=True):
        assert list(side.columns) == list(model.get_feature_names_out())
        assert np.array_equal(side.to_numpy(), expected)
        assert library == "polars" or list(side.index) == list(frame.index)


SELECTED = {
    "small": {},
    "stored": {"n": 500, "m": 400},
    "many_components": {"n": 500, "m": 400, "k": 90},
    "blocks": {"n": 500, "m": 400, "budget": 100_000},
    "landmarks": {"n": 5000, "m": 4000, "budget": "60MB"},
    "sparse": {"n": 500, "m": 400, "kind": sparse.csr_array},
    "sparse_crowded": {"n": 500, "m": 400, "kind": sparse.csr_array, "kernel": "laplacian"},
    "one_matrix": {"n": 400, "m": None, "width": 400},
    "precomputed": {"n": 400, "m": None, "width": 380, "kernel": "precomputed"},
    "empty_rows": {"n": 900, "m": None, "width": 900, "kind": lambda X: sparse.csr_array(X * (X > 4)), "kernel": "sne"},
}


@pytest.mark.parametrize("case", SELECTED)
def test_select_solver_tells_what_fit_does_and_why(case, monkeypatch, rng):
    monkeypatch.setattr("lopsided.svd.policy.LARGE_MATRIX", 1 << 23)
    given = {"n": 40, "m": 30, "width": 5, "k": 2, "budget": None, "kind": np.asarray, "kernel": "rbf"} | SELECTED[case]
    X = given["kind"](rng.standard_normal((given["n"], given["width"])))
    Z = None if given["m"] is None else given["kind"](rng.standard_normal((given["m"], given["width"])))
    budget = given["budget"]
    choice = select_solver(given["kernel"], X, Z, n_components=given["k"], memory_budget=budget)
    model = KernelSVD(given["k"], kernel=given["kernel"], memory_budget=budget).fit(X, Z=Z)
    assert choice == model.solver_, case


def test_select_solver_refuses_what_has_no_answer():
    with pytest.raises(ValueError, match="needs the left points X"):
        select_solver("rbf")
    with pytest.raises(ValueError, match=r"n_components=0.9 must be an integer from 1; a share"):
        select_solver("rbf", np.ones((3, 2)), np.ones((3, 2)), n_components=0.9)


def test_select_solver_takes_operators_too(rng):
    A = Stored(rng.standard_normal((40, 30)))
    assert select_solver(A, n_components=3) == factorise(A, 3, budget=10**9, rng=rng)[1]


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
@KINDS
def test_threads_change_nothing_beyond_rounding(n_jobs, kind):
    A = kind(sparse_pair("weighted", n=300, width=300)[0].toarray())
    one, many = (KernelSVD(2, kernel=SNE(1.3), n_jobs=n, memory_budget=1000).fit(A) for n in (1, n_jobs))
    assert_close(many.singular_values_, one.singular_values_)
    assert_close(many.transform(A), one.transform(A), ulps=1e4)


@pytest.mark.parametrize("share", [0.3, 0.8, 0.99])
@CENTER
def test_a_fraction_keeps_the_fewest_components_that_hold_the_energy(share, center, rng):
    X, Z = two_sets(rng, n=40, m=30)
    K = reference("rbf", X, Z)
    squares = np.linalg.svd(centred(K) if center else K, compute_uv=False) ** 2
    model = model_of("rbf", k=share, center=center).fit(X, Z=Z)
    fewest = int(np.argmax(np.cumsum(squares) >= share * squares.sum())) + 1
    assert model.n_components_ == fewest == model.transform(X).shape[1]


@CENTER
@every_kernel
def test_reconstruction_is_the_best_of_its_rank_and_exact_at_full_rank(name, center, rng):
    X, Z = two_sets(rng)
    K = reference(name, X, Z)
    assert_close(model_of(name, k=13, center=center).fit(X, Z=Z).reconstruct(), K, ulps=1e4)
    error = np.linalg.norm(model_of(name, center=center).fit(X, Z=Z).reconstruct() - K)
    left_out = np.linalg.svd(centred(K) if center else K, compute_uv=False)[K_OF_RANK:]
    np.testing.assert_allclose(error, np.linalg.norm(left_out), rtol=1e-8, atol=1e-10 * np.linalg.norm(K))


@pytest.mark.parametrize(
    "wrap", [lambda f: f, Function, lambda f: 2 * Function(f), lambda f: Function(f) + Function(f)]
)
@pytest.mark.parametrize("exchanged", [False, True])
def test_a_function_compares_vectors_of_two_widths(wrap, exchanged, rng):
    X, Z, weights = rng.standard_normal((9, 4)), rng.standard_normal((8, 3)), rng.standard_normal((4, 3))
    kernel = wrap(lambda X, Z: np.tanh(X @ weights @ Z.T))
    K = as_kernel(kernel)(X, Z)
    assert np.allclose(K / np.tanh(X @ weights @ Z.T), K[0, 0] / np.tanh(X[0] @ weights @ Z[0]))
    if exchanged:
        X, Z, K, kernel = Z, X, K.T, as_kernel(kernel).T
    assert_decomposes(KernelSVD(2, kernel=kernel).fit(X, Z=Z), K)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("m", [20, 25, 30])
def test_krylov_spaces_as_large_as_the_matrix_stay_orthonormal(m, k):
    rng = np.random.default_rng(1)
    X, Z = rng.standard_normal((300, 3)), rng.standard_normal((m, 3))
    model = KernelSVD(k, kernel="linear", memory_budget=20_000).fit(X, Z=Z)
    assert model.solver_.name == "krylov"
    assert_close(model.singular_values_, np.linalg.svd(X @ Z.T, compute_uv=False)[:k])
    np.testing.assert_allclose(model.right_vectors_.T @ model.right_vectors_, np.eye(k), atol=1e-13)


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-4])
@pytest.mark.parametrize("bandwidth", [1.5, 3.0, 6.0])
def test_a_tolerance_bounds_the_error_of_the_vectors(bandwidth, tol, rng):
    """Eta of the 2024 paper, with weights s / s_1, against the vectors of a full decomposition."""
    X, Z = two_sets(rng, n=700, m=600, width=6)
    U, s, Vt = np.linalg.svd(reference("rbf", X, Z, bandwidth=bandwidth), full_matrices=False)
    model = KernelSVD(20, kernel=RBF(bandwidth), solver="krylov", tol=tol).fit(X, Z=Z)
    assert eta(model, U, s, Vt.T) <= tol


SPECTRA = {
    "cluster": np.concatenate([[1, 0.9, 0.4, 0.3], 0.2 - 1e-3 * np.arange(30), 0.1 * 0.99 ** np.arange(366)]),
    "dense cluster": np.concatenate([[1, 0.9, 0.4, 0.3], 0.2 - 1e-5 * np.arange(30), 0.1 * 0.99 ** np.arange(366)]),
    "pair": np.concatenate([[1, 0.999], 0.5 * 0.98 ** np.arange(398)]),
    "steps": 1 - 1e-3 * np.arange(400),
    "bulk": np.concatenate([[10, 5], 1 - 1e-4 * np.arange(398)]),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("tol", [1e-2, 1e-3])
@pytest.mark.parametrize("k", [1, 2, 20])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_a_tolerance_tells_near_singular_values_apart(spectrum, k, tol, dtype):
    s = SPECTRA[spectrum]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        U, V = (np.linalg.qr(rng.standard_normal((n, 400)))[0] for n in (700, 450))
        model = KernelSVD(k, kernel="precomputed", solver="krylov", tol=tol, random_state=seed)
        assert eta(model.fit((U * s @ V.T).astype(dtype)), U, s, V) <= tol


def eta(model, U, s, V):
    """Weighted error of the vectors of a model, both sides added."""
    k = len(model.singular_values_)
    pairs = ((U[:, :k], model.left_vectors_), (V[:, :k], model.right_vectors_))
    cosines = [np.abs(np.einsum("ij,ij->j", exact, found)) for exact, found in pairs]
    return sum(np.mean(s[:k] / s[0] * (1 - cosine)) for cosine in cosines)


def test_explicit_features_are_decomposed_in_primal_form(rng):
    """The matrix of kernel values would take 2.4 GB; its factors, 8 MB."""
    Phi, Psi = (rng.standard_normal((n, 30)) * 0.8 ** np.arange(30) for n in (20_000, 15_000))
    tracemalloc.start()
    try:
        model = KernelSVD(5, kernel="linear").fit(Phi, Z=Psi)
        new = model.transform(Phi[:7])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50e6
    (P, R), (Q, T) = np.linalg.qr(Phi), np.linalg.qr(Psi)
    U, s, Vt = np.linalg.svd(R @ T.T)
    np.testing.assert_allclose(model.singular_values_, s[:5], rtol=1e-10)
    np.testing.assert_allclose(np.abs(model.left_vectors_.T @ P @ U[:, :5]), np.eye(5), atol=1e-8)
    np.testing.assert_allclose(np.abs(model.right_vectors_.T @ Q @ Vt[:5].T), np.eye(5), atol=1e-8)
    np.testing.assert_allclose(new, Phi[:7] @ (Psi.T @ model.right_vectors_), rtol=1e-8)
    assert select_solver("linear", Phi, Psi, n_components=5) == model.solver_
