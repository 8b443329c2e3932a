"""Edges: defaults, bounds and budgets of the least-squares machines, and what changes on either side of each."""

import inspect
import re
import warnings

import numpy as np
import pytest
from machine_data import BITS, NEW, REAL, SAFE, THREE, TWO, X, either, targets_of
from scipy import sparse

from cases import PLENTY, bordered, centred, solve_bordered, with_spectrum
from lopsided import AsymmetricLSSVC, AsymmetricLSSVR, Nystrom
from lopsided._core import seed_of
from lopsided.exceptions import LopsidedWarning
from lopsided.kernels import RBF, SNE, Laplacian, Linear
from lopsided.least_squares import build, select_C, select_kernel
from lopsided.least_squares.merging import Merging
from lopsided.least_squares.saddle import Dense, Spectral, check_affordable, choose_saddle, spectral
from lopsided.least_squares.saddle.dense import DIAGONAL_ERROR, ReducedSystem
from lopsided.least_squares.saddle.policy import COPIES, MODERATE_SIZE, ROW_ENTRIES, SMALL_BYTES
from lopsided.least_squares.targets import LARGEST_WEIGHT, SMALLEST_SHARE, Targets, check_weights
from lopsided.operators import Stored
from lopsided.svd import SMALL_SIDE, Choice

K = SNE(1.0)(X, X)
LARGEST = np.linalg.norm(centred(K), 2)


def test_defaults_are_those_of_the_documentation():
    told = dict(re.findall(r"^    (\w+) : .*default=(\S+)$", AsymmetricLSSVC.__doc__, re.MULTILINE))
    signature = inspect.signature(AsymmetricLSSVC).parameters
    assert {name: repr(each.default).replace("'", '"') for name, each in signature.items()} == told
    for name, each in inspect.signature(AsymmetricLSSVR).parameters.items():
        assert each.default == signature[name].default


@either
@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [("tol", [0.0, 0.99], [-0.01, 1.0]), ("damping", [0.0, 1e-9], [-1e-9]), ("C", [1e-2], [0.0, -1.0])],
)
def test_numbers_are_taken_up_to_their_bounds(name, inside, outside, estimator):
    y = targets_of(estimator)
    for value in inside:
        estimator(**{"C": SAFE, "kernel": "sne", name: value}).fit(X, y)
    for value in outside:
        with pytest.raises(ValueError, match=rf"'{name}' parameter of {estimator.__name__}"):
            estimator(**{"C": SAFE, "kernel": "sne", name: value}).fit(X, y)


@either
@pytest.mark.parametrize("n", [1, 2])
def test_two_samples_are_enough(n, estimator):
    model, y = estimator(SAFE, kernel="linear"), np.arange(n)
    if n == 2:
        assert model.fit(X[:2], y).predict(X[:2]).shape == (2,)
    else:
        with pytest.raises(ValueError, match="1 sample.* minimum of 2"):
            model.fit(X[:1], y)


@either
def test_samples_are_copied_unless_they_are_kernel_values_or_on_disk(estimator, tmp_path):
    y, on_disk = targets_of(estimator), np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=X.shape)
    on_disk[:] = X
    assert not np.shares_memory(estimator(SAFE, kernel="sne").fit(X, y).X_fit_, X)
    assert np.shares_memory(estimator(SAFE, kernel="sne").fit(on_disk, y).X_fit_, on_disk)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_a_matrix_is_symmetric_up_to_a_hundred_roundings(unit, dtype):
    for roundings, one_block in ((50, True), (200, False)):
        values = unit * RBF(2.0)(X, X).astype(dtype)
        values[3, 4] += roundings * np.finfo(dtype).eps * np.abs(values).max()
        model = AsymmetricLSSVC(SAFE / unit, kernel="precomputed").fit(values, TWO)
        if one_block:
            np.testing.assert_array_equal(model.predict(values), model.predict(values, Z=values.T))
        else:
            with pytest.raises(ValueError, match=r"needs k\(training, new\) transposed"):
                model.predict(values)


# Which solver.


@pytest.mark.parametrize(
    ("numbers", "name"),
    [
        ({"n": 1000, "entries": ROW_ENTRIES * 1000, "is_sparse": True}, "sparse_lu"),
        ({"n": 1000, "entries": ROW_ENTRIES * 1000 + 1, "is_sparse": True}, "dense"),
        ({"n": SMALL_SIDE, "entries": SMALL_SIDE, "is_sparse": True}, "dense"),
        ({"n": SMALL_SIDE + 1, "entries": SMALL_SIDE, "is_sparse": True}, "sparse_lu"),
        ({"n": MODERATE_SIZE, "entries": 10**6, "is_sparse": True}, "dense"),
        ({"n": MODERATE_SIZE + 1, "entries": 10**6, "is_sparse": True}, "minres"),
        ({"n": MODERATE_SIZE + 1, "entries": 10**6}, "dense"),
    ],
)
def test_the_choice_changes_at_its_bounds(numbers, name):
    assert choose_saddle(**{"budget": 10**10, **numbers}).name == name


@pytest.mark.parametrize("solver", COPIES)
def test_the_budget_that_is_asked_for_is_enough_and_a_byte_less_is_not(solver):
    n, numbers = 2000, {"symmetric": solver == "symmetric", "many": solver == "spectral"}
    with pytest.raises(ValueError, match=r"needs \d+ bytes") as caught:
        check_affordable(Choice(solver, ""), n, SMALL_BYTES)
    needed = int(re.search(r"needs (\d+) bytes", str(caught.value))[1])
    assert needed >= COPIES[solver] * np.empty((0, n)).itemsize * n**2
    check_affordable(Choice(solver, ""), n, needed)
    assert choose_saddle(n, entries=n**2, budget=needed, **numbers).name == solver
    assert choose_saddle(n, entries=n**2, budget=needed - 1, **numbers).name == "minres"
    with pytest.raises(ValueError, match="above the budget"):
        check_affordable(Choice(solver, ""), n, needed - 1)


@pytest.mark.parametrize("C", ["auto", [0.1, 1.0], 1.0], ids=str)
@pytest.mark.parametrize("bound", [len(X) - 1, len(X)])
def test_a_decomposition_serves_several_C_of_any_size_but_candidates_up_to_a_bound(bound, C, monkeypatch):
    monkeypatch.setattr(build, "DECOMPOSED_SIZE", bound)
    found = AsymmetricLSSVC(C, kernel="sne").fit(X, TWO).solver_.name
    assert found == ("spectral" if C != 1.0 and (C != "auto" or bound == len(X)) else "dense")


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_matrix_that_equals_its_transpose_is_solved_as_symmetric(make):
    for changed, name in ((0.0, "symmetric"), (1e-3, "dense")):
        matrix = RBF(2.0)(X, X)
        matrix[3, 4] = matrix[4, 3] + changed
        matrix = (matrix + matrix.T) / 2 if not changed else matrix
        assert AsymmetricLSSVC(SAFE, kernel="precomputed").fit(make(matrix), TWO).solver_.name == name


def test_few_samples_are_evaluated_once_whatever_the_budget():
    calls = []

    def watched(L, R):
        calls.append(len(L))
        return np.exp(-np.square(L[:, None] - R[None] + 0.3).sum(axis=2))

    AsymmetricLSSVC(SAFE, kernel=watched, solver="minres", memory_budget=1).fit(X, TWO)
    assert calls.count(len(X)) == 1


@pytest.mark.parametrize("count", [69, 70, 71])
def test_many_samples_get_landmarks_if_these_are_more_than_the_usual_number(count, monkeypatch):
    for name, value in {"EXACT_SIZE": 200, "MANY_LANDMARKS": count, "N_LANDMARKS": 70}.items():
        monkeypatch.setattr(build, name, value)
    few, many = (np.broadcast_to(0.0, (n, 3)) for n in (200, 201))
    assert build.many_landmarks(RBF(), few, PLENTY) is None
    found = build.many_landmarks(RBF(), many, PLENTY)
    assert found[0].n_landmarks == count if count > 70 else found is None


@pytest.mark.parametrize("kernel", [RBF(), SNE()], ids=repr)
def test_landmarks_are_as_many_as_wanted_and_as_the_budget_has_room_for(kernel, monkeypatch):
    """Factors take half the arrays if the matrix is symmetric."""
    copies = build.FACTOR_COPIES // (2 if kernel.symmetric else 1)
    for n in (50_000, 100_000):
        X, counts = np.broadcast_to(np.float32(0), (n, 3)), []
        for budget in (3 * 10**9, 5 * 10**9, 10**12):
            found, _ = build.many_landmarks(kernel, X, budget)
            counts.append(found.n_landmarks)
            wanted = min(max(build.MANY_LANDMARKS, n // build.SAMPLES_PER_LANDMARK), build.MOST_LANDMARKS)
            room = budget / (copies * n * X.dtype.itemsize)
            assert found.n_landmarks <= min(wanted, room) < found.n_landmarks + 1
        assert counts == sorted(counts)


def test_as_many_components_as_the_side_with_fewer_landmarks():
    model = AsymmetricLSSVR(SAFE, kernel=SNE(2.0), solver=Nystrom((8, 12))).fit(X, REAL)
    assert (len(model.X_fit_), len(model.Z_fit_)) == (8, 12) and np.isfinite(model.predict(NEW)).all()


# Which C, and which samples are held out.


@pytest.mark.parametrize(
    ("sizes", "number"), [((20, 12), 10), ((20, 9), 9), ((20, 2), 2), ((20, 3, 1), 3), ((2, 2), 2), ((25, 1, 1), 10)]
)
@pytest.mark.parametrize("cv", [None, 4])
def test_folds_are_ten_or_as_many_as_the_smallest_class_of_several_samples_has(sizes, number, cv):
    y = np.repeat(np.arange(len(sizes)), sizes)
    family = Spectral.of_matrix(Stored(np.eye(len(y))), 1.0)
    if cv is not None and min(sizes) < cv:
        return
    for how, held_out in (("stack", True), ("mean", cv is not None)):
        folds = select_C._folds(family, Merging(how, True, False), cv, np.zeros((len(y), 1)), y, 0)
        assert len(folds) == (cv or number if held_out else 0)
        for kept, left_out in folds:
            np.testing.assert_array_equal(np.sort(np.concatenate([kept, left_out])), np.arange(len(y)))
            counts = np.bincount(y[left_out], minlength=len(sizes))
            assert min(sizes) == 1 or (np.abs(counts - np.array(sizes) / len(folds)) < 1).all()


@pytest.mark.parametrize(("n", "number"), [(2, 2), (7, 7), (10, 10), (30, 10)])
def test_folds_of_real_targets_are_ten_or_one_a_sample(n, number):
    family = Spectral.of_matrix(Stored(np.eye(n)), 1.0)
    assert (
        len(select_C._folds(family, Merging("stack", False, False), None, np.zeros((n, 1)), np.zeros(n), 0)) == number
    )


SPARSE = sparse.csr_array(np.where(np.quantile(K, 0.9) < K, K, 0))


@pytest.mark.parametrize(
    ("matrix", "parameters", "count"),
    [
        (K, {"solver": "spectral"}, 13),
        (K + K.T, {"solver": "symmetric"}, 13),
        (K, {"solver": "dense"}, 3),
        (K, {"solver": "minres"}, 1),
        (SPARSE, {"solver": "minres"}, 2),
        (SPARSE, {"solver": "sparse_lu"}, 2),
        (SPARSE, {"damping": 1.0}, 2),
        (K, {"damping": 1.0}, 2),
    ],
    ids=str,
)
def test_automatic_candidates_are_as_many_as_the_solver_can_afford(matrix, parameters, count):
    """Two at which systems are definite, if a subset says nothing or each takes a factorisation twice the size."""
    candidates = AsymmetricLSSVR(kernel="precomputed", **parameters).fit(matrix, REAL).path_["C"]
    assert len(candidates) == count
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    if count == 2:
        assert (candidates * np.linalg.norm(centred(dense), 2) < 1).all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("solver", ["dense", "minres"])
def test_a_subset_selects_what_it_would_select_alone(solver, seed, monkeypatch):
    """In units of its own matrix; of factorisations neighbours are compared too, as one may be nearly singular."""
    monkeypatch.setattr(select_C, "SUBSET_SIZE", 30)
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((60, 3))
    y, values = np.sin(2 * points[:, 0]) + 0.3 * rng.standard_normal(60), SNE(1.0)(points, points)
    some = select_C.stratified_subset(y, 30, seed_of(None), of_classes=False)
    part = values[np.ix_(some, some)]
    model = AsymmetricLSSVR(kernel="precomputed", solver=solver).fit(values, y)
    alone = AsymmetricLSSVR(kernel="precomputed", solver="spectral").fit(part, y[some])
    is_quick = (np.arange(len(select_C.WIDE_C)) < len(select_C.MINRES_C)) | (solver != "minres")
    best = alone.path_["C"][np.where(is_quick, alone.path_["error"], np.inf).argmin()]
    ratio = np.linalg.norm(centred(part), 2) / np.linalg.norm(centred(values), 2)
    factors = np.ones(1) if solver == "minres" else select_C.NEIGHBOUR_FACTORS
    np.testing.assert_allclose(model.path_["C"], best * ratio * factors, rtol=1e-6)


@pytest.mark.parametrize("grid", ["auto", [0.3, 40.0, 4e3]], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_kernels_of_a_regression_are_judged_like_each_of_them_alone(grid, seed):
    """By predictions in range if candidates are automatic, and else by predictions as they are."""
    rng = np.random.default_rng(seed)
    points, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    for kernel in (SNE(1.0), Laplacian(1.0)):
        alone = AsymmetricLSSVR(grid, kernel=kernel, solver="spectral").fit(points, y)
        ((_, C, error, score, _),) = AsymmetricLSSVR(grid, kernel=[kernel]).fit(points, y).kernel_path_
        assert (C, error) == (pytest.approx(alone.C_), pytest.approx(alone.path_["error"].min()))
        assert score == pytest.approx(alone.held_out_score_)


def test_a_kernel_is_judged_as_exactly_at_the_largest_C_as_at_the_least():
    """Where rounding of B B' would be all of the small values that count there."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((60, 3))
    y = np.sin(points[:, 0]) + points[:, 1]
    C = 1e8 / np.linalg.norm(centred(SNE(3.0)(points, points)), 2)
    for grid in ([C], [1e-9 * C, C]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LopsidedWarning)
            alone = AsymmetricLSSVR([C], kernel=SNE(3.0), solver="spectral").fit(points, y)
            ((_, chosen, error, *_),) = AsymmetricLSSVR(grid, kernel=[SNE(3.0)]).fit(points, y).kernel_path_
        assert (chosen, error) == (C, pytest.approx(alone.path_["error"][0], rel=0.01))


def test_threads_share_the_budget_for_decompositions(rng):
    points, y = rng.standard_normal((700, 2)), rng.standard_normal(700)
    sizes = []
    for n_jobs in (1, 2):
        model = AsymmetricLSSVR([1.0], kernel=[Linear()], n_jobs=n_jobs, memory_budget=22 * 10**6).fit(points, y)
        sizes.append(model.kernel_path_[0].n_samples)
        needed = n_jobs * 8 * COPIES["spectral"] * sizes[-1] ** 2
        assert needed <= 22 * 10**6
    assert sizes[0] == select_kernel.MOST_SAMPLES > sizes[1] > 1.5 * select_kernel.FIRST_SAMPLES


@pytest.mark.parametrize("fewest", [4, 5])
def test_stacking_is_judged_if_every_fold_can_hold_every_class(fewest, rng):
    """Where the middle of three classes in a row is told by the functions of both others."""
    sizes = (30, fewest, 30)
    y = np.repeat([0, 1, 2], sizes)
    points = y[:, None] + 0.1 * rng.standard_normal((len(y), 1))
    targets = Targets(np.where(y[:, None] == np.arange(3), 1.0, -1.0), y)
    family = Spectral.of_matrix(Stored(points @ points.T), np.inf)
    merging = Merging("mean", True, True)
    _, best, _ = select_C.compare_C(family, np.array([0.1]), targets, merging, clipped=False)
    found = select_C.stack_if_better(family, 0.1, best, targets, merging)
    assert (found is not None and found.error < best.error) if fewest == 5 else found is None


@pytest.mark.parametrize(("size", "told"), [(0.9, "constant"), (1.1, None)])
def test_a_C_is_called_useless_just_beyond_the_bounds_of_use(size, told):
    for bound, words in zip(select_C.USEFUL_C, ("nearly constant", "follow every sample"), strict=True):
        factor = size if bound < 1 else 1 / size
        family = Spectral.of_matrix(Stored(K), np.inf)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            select_C.warn_if_useless(family.at(factor * bound / LARGEST), in_units=False)
        assert [words in str(one.message) for one in caught] == ([True] if told else [])


# Numbers.


@pytest.mark.parametrize("power", [1, 2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("error", [1e-10, 1e-3])
def test_a_decomposition_errs_no_more_than_it_may_and_is_quick_where_it_can_be(error, power, rng):
    matrix, Y = with_spectrum(np.geomspace(1, 1e-9, 25), 25, 25, rng), rng.standard_normal((25, 2))
    size = np.linalg.norm(centred(matrix))
    for C in (10.0**power / size, 3 * 10.0**power / size):
        family = Spectral.of_matrix(Stored(matrix), C, error=error)
        expected_error = np.finfo(float).eps * (C * size) ** 2
        assert family.complete == (expected_error > error)
        for found, expected in zip(family.at(C).solve(Y), solve_bordered(matrix, C, Y), strict=True):
            np.testing.assert_allclose(found, expected, rtol=0, atol=100 * max(error, 1e-8) * np.abs(expected).max())


@pytest.mark.parametrize("solver", ["dense", "spectral", "minres"])
def test_held_out_values_are_nan_if_the_rounding_of_means_hides_the_ridge(solver):
    """Centring removes the means of a matrix and leaves their rounding, however small the rest is."""
    matrix = K + 1e12
    for C, known in ((1e-3, True), (1e6, False)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LopsidedWarning)
            model = AsymmetricLSSVR([1e-6, C], kernel="precomputed", solver=solver).fit(matrix, REAL)
        assert np.isfinite(model.path_["error"]).tolist() == [True, known]


@pytest.mark.parametrize("condition", [1e1, 1e4, 1e6, 1e9, 1e12])
def test_refinement_ends_as_soon_as_it_helps_no_more(condition, rng, monkeypatch):
    """One step shows that a solution is accurate, and a few that it cannot be mended."""
    steps, rough = [], ReducedSystem._rough_inverse
    monkeypatch.setattr(ReducedSystem, "_rough_inverse", lambda *given: steps.append(1) or rough(*given))
    matrix, Y = with_spectrum(np.geomspace(1, 1 / condition, 24), 24, 24, rng), rng.standard_normal((24, 2))
    Dense(Stored(matrix)).at(3 * condition).solve(Y)
    assert len(steps) <= (2 if condition <= 1e4 else 4)


@pytest.mark.parametrize("power", range(0, 9))
def test_diagonals_of_the_inverse_come_from_the_smaller_system_where_it_is_accurate(power, rng):
    matrix, C = with_spectrum(np.geomspace(1, 1e-6, 25), 25, 25, rng), 0.7 * 10.0**power
    system = Dense(Stored(matrix)).at(C)
    inverse = np.linalg.inv(bordered(matrix, C))[2:, 2:]
    expected = inverse[:25, :25].diagonal(), inverse[25:, 25:].diagonal(), inverse[:25, 25:].diagonal()
    error = np.finfo(float).eps * (C * np.linalg.norm(centred(matrix))) ** 2
    for found, wanted in zip(system.inverse_diagonals(), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e3 * DIAGONAL_ERROR * np.abs(wanted).max())
    assert ("_whole" in vars(system)) == (error > DIAGONAL_ERROR)


@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_held_out_values_are_judged_and_factors_squared_as_many_at_once_as_may_be_held(at_once, monkeypatch):
    expected = AsymmetricLSSVC(kernel="sne").fit(X, THREE)
    judged, squared, held_out, cut = [], [], Merging.held_out, spectral.slices_of
    monkeypatch.setattr(
        Merging, "held_out", lambda *given, **how: judged.append(len(given[1])) or held_out(*given, **how)
    )
    monkeypatch.setattr(spectral, "slices_of", lambda n, length: squared.append((n, length)) or cut(n, length))
    monkeypatch.setattr(select_C, "JUDGED_ENTRIES", at_once * 3 * len(X))
    monkeypatch.setattr(spectral, "SQUARED_ENTRIES", at_once * len(X))
    found = AsymmetricLSSVC(kernel="sne").fit(X, THREE)
    np.testing.assert_allclose(found.path_["error"], expected.path_["error"], rtol=1e-9)
    assert max(judged) == at_once and sum(judged) == 13
    assert {length for n, length in squared if n == len(X)} == {at_once}


@pytest.mark.parametrize("side", [1, -1])
def test_a_C_is_taken_if_its_square_is_a_number(side):
    bound = select_C.EXTREME_C**side
    grid = select_C.C_grid([1.0, bound / 1.01**side], in_units=False)
    assert grid.values.tolist() == [1.0, bound / 1.01**side] and not grid.in_units
    for C in ([1.0, bound * 1.01**side], bound * 1.01**side):
        with pytest.raises(ValueError, match="must lie between 1e-150 and 1e\\+150"):
            select_C.C_grid(C, in_units=True)


HALVES = np.arange(15), np.arange(15, 30)


@pytest.mark.parametrize(
    "cv",
    [
        [HALVES],
        [HALVES, HALVES],
        [(HALVES[0][1:], HALVES[1]), HALVES[::-1]],
        [(np.arange(30), HALVES[1]), HALVES[::-1]],
    ],
    ids=["a half", "a half twice", "one sample is in neither", "samples are in both"],
)
def test_every_fold_leaves_out_what_it_does_not_train_on(cv):
    with pytest.raises(ValueError, match="must leave every sample out once and train on all the others"):
        AsymmetricLSSVC([1.0], kernel="sne", cv=cv).fit(X, TWO)
    assert AsymmetricLSSVC([1.0], kernel="sne", cv=[HALVES, HALVES[::-1]]).fit(X, TWO).C_ == 1


def test_of_equal_errors_the_first_C_is_taken():
    """Predictions that do not depend on C, as of a kernel that centring removes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LopsidedWarning)
        model = AsymmetricLSSVR([0.3, 0.1, 0.2], kernel="precomputed").fit(np.ones((30, 30)), REAL)
    assert (np.ptp(model.path_["error"]) < 1e-12) and model.path_["C"][model.path_["error"].argmin()] == model.C_


def test_weights_are_taken_up_to_their_bounds():
    for largest, least in ((0.9 * LARGEST_WEIGHT, 1e90), (1.1 / LARGEST_WEIGHT, 1.1 / LARGEST_WEIGHT)):
        check_weights(np.array([largest, least, 0.0]), np.zeros((3, 1)))
    for largest in (1.1 * LARGEST_WEIGHT, 0.9 / LARGEST_WEIGHT):
        with pytest.raises(ValueError, match="the largest of 3 sample weights"):
            check_weights(np.full(3, largest), np.zeros((3, 1)))
    check_weights(np.array([1.0, 1.1 * SMALLEST_SHARE]), np.zeros((2, 1)))
    with pytest.raises(ValueError, match="a factor above"):
        check_weights(np.array([1.0, 0.9 * SMALLEST_SHARE]), np.zeros((2, 1)))


@either
def test_a_choice_on_all_samples_says_nothing_of_a_subset(estimator):
    model = estimator([SAFE], kernel=["linear", "rbf"]).fit(X, targets_of(estimator))
    assert model.kernel_path_[0].n_samples == len(X) and "chosen on" not in model.solver_.reason


def test_tags_tell_what_is_taken():
    tags = AsymmetricLSSVR().__sklearn_tags__()
    assert tags.input_tags.sparse and tags.target_tags.multi_output and not tags.input_tags.pairwise
    assert not AsymmetricLSSVC().__sklearn_tags__().target_tags.multi_output
    for make in (np.asarray, sparse.csr_array):
        assert AsymmetricLSSVC(SAFE, kernel="linear").fit(make(X), BITS).predict(make(NEW)).shape == (len(NEW),)
    assert len(THREE) == len(X)
