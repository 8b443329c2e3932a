"""Recommendation of items to users: lastfm (listeners x artists) and citeulike (readers x papers), with peers.

Every method is fitted on the part `train`, its settings are chosen by NDCG@20 on `valid` (the grids are below), and it
is then fitted once more on both and judged on `test`: recall@20, NDCG@20 and coverage of 20 items per user that are
not among those the user has. KernelRecommender and KernelSVD run at one default for both sets; its 128 components were
chosen on `valid` of both, and the rest is chosen by hidden interactions within the table. Seconds are those of the last
fit, and those of the 20 items of all users.

item-kNN is the cosine of items with a shrinkage; GF-CF (Shen et al., 2021) and EASE (Steck, 2019) are written from
their papers, EASE in its dual form, which inverts users x users; ALS and BPR are those of the package implicit.

ablation: KernelRecommender on `valid`, one number changed at a time.
shapes: the same comparison on generated interactions of other shapes, a Poisson factor model of tastes; of numbers of
plays, whose tail is heavy, peers are given ones, as is usual.
large: generated interactions, in a process of its own.
nearest: ``nearest_right`` for 10,000 users and 200,000 items.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD

from common import DATA, changed, in_child, main, print_table
from lopsided import KernelRecommender, KernelSVD
from lopsided.kernels import Association
from lopsided.recommendation import ranking_scores

SETS = ("lastfm", "citeulike")
TOP = 20
LARGE_COMPONENTS = 16  # of the part "large"
BLOCK = 1000  # users whose scores are held at once
Scores = Callable[[np.ndarray], np.ndarray]  # scores of all items for some users of the fitted table
Table = sparse.csr_array

ABLATION: dict[str, dict[str, Any]] = {
    "defaults": {},
    "32 components": {"n_components": 32},
    "64 components": {"n_components": 64},
    "256 components": {"n_components": 256},
    "tol 0.01": {"tol": 0.01},
    "tol 0.5": {"tol": 0.5},
    "popularity 0": {"popularity": 0.0},
    "popularity 0.25": {"popularity": 0.25},
    "popularity 0.5": {"popularity": 0.5},
    "regularization 0.3": {"kernel": Association(regularization=0.3)},
    "regularization 3": {"kernel": Association(regularization=3.0)},
    "column exponent 0.25": {"kernel": Association(column_exponent=0.25)},
    "column exponent 0.375": {"kernel": Association(column_exponent=0.375)},
}
TRIALS: dict[str, dict[str, Any]] = {  # constants of the room
    "no trials": {"trials.FEWEST_USERS": 1 << 60},
    "a tenth hidden": {"trials.HIDDEN_SHARE": 0.1},
    "half hidden": {"trials.HIDDEN_SHARE": 0.5},
    "100 trial users": {"trials.TRIAL_USERS": (100, 100)},
    "500 trial users": {"trials.TRIAL_USERS": (500, 500)},
    "margin of 1 standard error": {"trials.MARGIN": 1.0},
    "margin of 2 standard errors": {"trials.MARGIN": 2.0},
    "128 trial components": {"estimator.TRIAL_COMPONENTS": 128},
}


class Shape(NamedTuple):
    """A generated table: sizes, share of entries, number of tastes and how fast popularity falls with its rank.

    Values are ones, ratings from 1 to 5, or numbers of plays, whose tail is heavy.
    """

    users: int
    items: int
    density: float
    tastes: int
    tail: float
    values: str = "ones"


SHAPES = {
    "dense": Shape(1000, 500, 0.2, 8, 0.5),
    "ratings": Shape(1500, 400, 0.15, 8, 0.5, values="ratings"),
    "long tail": Shape(3000, 6000, 0.004, 20, 1.0),
    "few items": Shape(4000, 100, 0.1, 5, 0.7),
    "few users": Shape(150, 2000, 0.05, 5, 0.8),
    "even": Shape(1500, 2000, 0.02, 20, 0.0),
    "plays": Shape(1500, 800, 0.03, 12, 0.7, values="plays"),
}


def load(name: str) -> dict[str, Table]:
    """The parts train, valid and test of a stored set, as tables of ones."""
    with np.load(DATA / "interactions" / f"{name}.npz") as file:
        shape = int(file["n_users"]), int(file["n_items"])
        return {part: _table(file[part], shape) for part in ("train", "valid", "test")}


def generated(users: int, items: int, per_user: int, seed: int = 0) -> Table:
    """Interactions of users with items of heavy-tailed popularity, half of them within one of 50 groups."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(users, dtype=np.int32), per_user)
    columns = (items * rng.random(len(rows)) ** 2.5).astype(np.int32)
    inside = rng.random(len(rows)) < 0.5
    columns[inside] = np.minimum(columns[inside] // 50 * 50 + rows[inside] % 50, items - 1)
    return _table(np.column_stack([rows, columns]), (users, items))


def poisson_factors(shape: Shape, seed: int = 0) -> Table:
    """Interactions of Poisson rates theta_u . beta_i, times activity and popularity; values follow the affinity."""
    rng = np.random.default_rng(seed)
    affinity = rng.gamma(0.3, size=(shape.users, shape.tastes)) @ rng.gamma(0.3, size=(shape.tastes, shape.items))
    popular = rng.permutation(np.arange(1.0, shape.items + 1) ** -shape.tail)
    rates = affinity * popular * rng.lognormal(size=(shape.users, 1))
    chosen = rng.poisson(rates * (shape.density * rates.size / rates.sum())) > 0
    if shape.values == "ones":
        return sparse.csr_array(chosen.astype(np.float32))
    if shape.values == "plays":
        plays = np.ceil(affinity / np.median(affinity) * rng.lognormal(1.0, 1.5, rates.shape))
        return sparse.csr_array((plays * chosen).astype(np.float32))
    liking = np.log1p(affinity)
    noisy = 3.5 + (liking - liking.mean()) / liking.std() + 0.7 * rng.standard_normal(rates.shape)
    return sparse.csr_array((np.clip(np.rint(noisy), 1, 5) * chosen).astype(np.float32))


def split(A: Table, seed: int = 0) -> dict[str, Table]:
    """Seven tenths of the entries as train, one as valid and two as test."""
    part = np.random.default_rng(seed).choice(["train", "valid", "test"], size=A.nnz, p=[0.7, 0.1, 0.2])
    parts = {}
    for name in ("train", "valid", "test"):
        parts[name] = sparse.csr_array((A.data * (part == name), A.indices, A.indptr), shape=A.shape, copy=True)
        parts[name].eliminate_zeros()
    return parts


def _table(pairs: np.ndarray, shape: tuple[int, int]) -> Table:
    table = sparse.csr_array((np.ones(len(pairs), dtype=np.float32), pairs.T), shape=shape)
    table.sum_duplicates()
    table.data[:] = 1
    return table


def popularity(A: Table) -> Scores:
    """The same items for everyone."""
    counts = A.sum(axis=0)
    return lambda users: np.tile(counts, (len(users), 1))


def item_knn(A: Table, neighbours: int, shrinkage: float) -> Scores:
    """Sums of the cosines with the items of a user, of the nearest items only (Sarwar et al., 2001)."""
    lengths = np.sqrt(A.sum(axis=0))
    C = sparse.coo_array(A.T @ A)
    values = C.data / (lengths[C.row] * lengths[C.col] + shrinkage)
    values[C.row == C.col] = 0
    C = sparse.csr_array((values, (C.row, C.col)), shape=C.shape)
    order = np.lexsort((-C.data, np.repeat(np.arange(C.shape[0]), np.diff(C.indptr))))
    rank = np.arange(C.nnz) - np.repeat(C.indptr[:-1], np.diff(C.indptr))
    C.data[order[rank >= neighbours]] = 0
    nearest = sparse.csr_array(C.T)
    nearest.eliminate_zeros()
    return lambda users: (A[users] @ nearest).toarray()


def truncated_svd(A: Table, k: int) -> Scores:
    """Scores U s V' of the table itself."""
    model = TruncatedSVD(k, random_state=0)
    left = model.fit_transform(A)
    return lambda users: left[users] @ model.components_


def gf_cf(A: Table, k: int, weight: float) -> Scores:
    """GF-CF: a linear filter plus an ideal low-pass filter of the normalised item graph."""
    users, items = (np.maximum(np.asarray(A.sum(axis=axis)), 1) for axis in (1, 0))
    R = sparse.csr_array(sparse.diags_array(users**-0.5) @ A @ sparse.diags_array(items**-0.5))
    V = TruncatedSVD(k, random_state=0).fit(R).components_.T
    into, back = items**-0.5, items**0.5

    def scores(asked: np.ndarray) -> np.ndarray:
        x = A[asked]
        linear = (x @ R.T @ R).toarray()
        return linear + weight * (((x @ sparse.diags_array(into)) @ V) @ V.T) * back

    return scores


def ease(A: Table, penalty: float) -> Scores:
    """EASE: ridge regression of each item on the others, B = I - P / diag P with P = (A'A + penalty I)^-1.

    With H = (A A' + penalty I)^-1 the scores are A - H A / diag P, diag P = (1 - diag A' H A) / penalty.
    """
    G = (A @ A.T).toarray().astype(float)
    G[np.diag_indices_from(G)] += penalty
    H = np.linalg.inv(G).astype(np.float32)
    HA = np.asarray((A.T @ H).T)
    diagonal = (1 - np.asarray(A.multiply(HA).sum(axis=0)).ravel()) / penalty
    return lambda users: A[users].toarray() - HA[users] / diagonal


def als(A: Table, factors: int, regularization: float, alpha: float) -> Scores:
    """Implicit's alternating least squares (Hu, Koren, Volinsky, 2008)."""
    from implicit.als import AlternatingLeastSquares

    return _factors(AlternatingLeastSquares(factors, regularization, alpha, random_state=0), A)


def bpr(A: Table, factors: int, learning_rate: float) -> Scores:
    """Implicit's Bayesian personalised ranking (Rendle et al., 2009)."""
    from implicit.bpr import BayesianPersonalizedRanking

    return _factors(BayesianPersonalizedRanking(factors, learning_rate, random_state=0), A)


def _factors(model: Any, A: Table) -> Scores:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(sparse.csr_matrix(A), show_progress=False)
    return lambda users: model.user_factors[users] @ model.item_factors.T


PEERS: dict[str, tuple[Callable[..., Scores], list[tuple[Any, ...]]]] = {
    "popularity": (popularity, [()]),
    "item-kNN": (item_knn, [(50, 0.0), (200, 0.0), (50, 10.0), (200, 10.0)]),
    "TruncatedSVD": (truncated_svd, [(32,), (64,), (128,), (256,)]),
    "GF-CF": (gf_cf, [(64, 0.1), (256, 0.1), (256, 0.3), (256, 0.01)]),
    "EASE": (ease, [(10.0,), (30.0,), (100.0,), (300.0,)]),
    "implicit ALS": (als, [(64, 10.0, 10.0), (128, 10.0, 10.0), (128, 0.1, 40.0), (256, 0.1, 40.0)]),
    "implicit BPR": (bpr, [(64, 0.01), (64, 0.05), (128, 0.05)]),
}


def ranked(scores: Scores, A: Table) -> np.ndarray:
    """The 20 best items of every user that are not among those the user has."""
    found = []
    for start in range(0, A.shape[0], BLOCK):
        users = np.arange(start, min(start + BLOCK, A.shape[0]))
        block = scores(users).astype(np.float32)
        block[A[users].nonzero()] = -np.inf
        best = np.argpartition(-block, TOP, axis=1)[:, :TOP]
        order = np.argsort(-np.take_along_axis(block, best, axis=1), axis=1)
        found.append(np.take_along_axis(best, order, axis=1))
    return np.concatenate(found)


def recommender(A: Table, **parameters: Any) -> Callable[[], np.ndarray]:
    """KernelRecommender at its defaults, unless told otherwise."""
    model = KernelRecommender(**parameters).fit(A)
    return lambda: model.recommend(A, TOP)


def low_rank(A: Table) -> Callable[[], np.ndarray]:
    """KernelSVD alone: the leading 128 components of the association."""
    model = KernelSVD(min(128, min(A.shape) // 4), kernel="association", tol=1e-3).fit(A)
    return lambda: model.nearest_right(np.arange(A.shape[0]), TOP, exclude=A)


OURS = {"KernelSVD, association": low_rank, "KernelRecommender": recommender}


def table(name: str, smoke: bool) -> dict[str, Any]:
    """All methods on one set."""
    parts = _tiny() if smoke else load(name)
    record = compared(parts, smoke)
    names = ["recall", "ndcg", "coverage", "fit_seconds", "fit_cpu_seconds", "rank_seconds"]
    rows = [[method, *(one[key] for key in names), one.get("settings", "default")] for method, one in record.items()]
    shape = f"{parts['train'].shape[0]} x {parts['train'].shape[1]}"
    print_table(
        f"{name}: {shape}",
        ["method", "recall@20", "NDCG@20", "coverage", "fit s", "fit CPU s", "rank s", "settings"],
        rows,
    )
    return record


def compared(parts: dict[str, Table], smoke: bool, *, ones: bool = False) -> dict[str, Any]:
    """Scores and seconds of every method; peers may be given ones in place of values."""
    given, both = parts, _known(parts)
    if ones:
        parts = {name: sparse.csr_array(A.sign()) for name, A in given.items()}
    seen = _known(parts)
    record: dict[str, Any] = {}
    for method, (fit, grid) in PEERS.items():
        grid = [settings for settings in grid if not settings or settings[0] < min(seen.shape) or fit is ease]
        try:
            chosen = _choose(fit, grid[:1] if smoke else grid, parts)
            record[method] = _judged(
                lambda A, fit=fit, chosen=chosen: _ranking(fit(A, *chosen), A), seen, parts["test"]
            )
            record[method]["settings"] = chosen
        except ImportError as error:
            print(f"{method} is left out: {error}")
    for method, fit in OURS.items():
        record[method] = _judged(fit, both, given["test"])
    with changed({f"recommendation.{name}": value for name, value in TRIALS["no trials"].items()}):
        record["KernelRecommender, no trials"] = _judged(recommender, both, given["test"])
    return record


def shapes(smoke: bool) -> dict[str, Any]:
    """All methods on generated tables of other shapes."""
    tables = {"tiny": Shape(200, 150, 0.1, 3, 0.5, values="ratings")} if smoke else SHAPES
    result = {
        name: compared(split(poisson_factors(shape)), smoke, ones=shape.values == "plays")
        for name, shape in tables.items()
    }
    methods = next(iter(result.values()))
    rows = [[method, *(found[method]["ndcg"] for found in result.values())] for method in methods]
    print_table("NDCG@20 on generated tables", ["method", *result], rows)
    return result


def _known(parts: dict[str, Table]) -> Table:
    """What is known when the test is made."""
    return sparse.csr_array(parts["train"] + parts["valid"])


def _choose(fit: Callable[..., Scores], grid: list[tuple[Any, ...]], parts: dict[str, Table]) -> tuple[Any, ...]:
    """Settings of the largest NDCG on `valid`."""
    if len(grid) == 1:
        return grid[0]
    A = parts["train"]
    judged = [ranking_scores(ranked(fit(A, *settings), A), parts["valid"])["ndcg"] for settings in grid]
    return grid[int(np.argmax(judged))]


def _ranking(scores: Scores, A: Table) -> Callable[[], np.ndarray]:
    return lambda: ranked(scores, A)


def _judged(fit: Callable[[Table], Callable[[], np.ndarray]], A: Table, held_out: Table) -> dict[str, Any]:
    start, cpu = time.perf_counter(), time.process_time()
    rank = fit(A)
    middle, cpu = time.perf_counter(), time.process_time() - cpu
    best = rank()
    end = time.perf_counter()
    seconds = {"fit_seconds": middle - start, "fit_cpu_seconds": cpu, "rank_seconds": end - middle}
    return {**ranking_scores(best, held_out), **seconds}


def ablation(smoke: bool) -> dict[str, Any]:
    """KernelRecommender on `valid`, one number changed at a time."""
    result: dict[str, Any] = {change: {} for change in (*ABLATION, *TRIALS)}
    for name in SETS[:1] if smoke else SETS:
        parts = _tiny() if smoke else load(name)
        for change, parameters in ABLATION.items():
            settings = {
                key: min(value, 16) if smoke and key == "n_components" else value for key, value in parameters.items()
            }
            result[change][name] = _judged(partial(recommender, **settings), parts["train"], parts["valid"])
        for change, constants in TRIALS.items():
            with changed({f"recommendation.{key}": value for key, value in constants.items()}):
                result[change][name] = _judged(recommender, parts["train"], parts["valid"])
    rows = [
        [change, *(one[key] for one in found.values() for key in ("recall", "ndcg"))]
        for change, found in result.items()
    ]
    headings = [f"{name} {key}" for name in result["defaults"] for key in ("recall@20", "NDCG@20")]
    print_table("KernelRecommender on valid, one number changed at a time", ["changed", *headings], rows)
    return result


def large(smoke: bool) -> dict[str, Any]:
    """Generated interactions in a process of its own."""
    found = in_child(__file__, "big", *((2000, 500, 5, 100) if smoke else (1_000_000, 200_000, 20, 10_000)))
    print_table("generated interactions", list(found), [list(found.values())])
    return found


def big(users: str, items: str, per_user: str, asked: str) -> dict[str, Any]:
    """Seconds of a fit, and of 20 items for some users by KernelSVD and by KernelRecommender."""
    A = generated(int(users), int(items), int(per_user))
    few = A[: int(asked)]
    start = time.perf_counter()
    model = KernelRecommender(LARGE_COMPONENTS).fit(A)
    fitted = time.perf_counter()
    model.svd_.nearest_right(np.arange(few.shape[0]), TOP, exclude=few)
    nearest = time.perf_counter()
    model.recommend(few[: A.shape[0] // 1000], TOP)
    return {
        "shape": A.shape,
        "entries": A.nnz,
        "components": LARGE_COMPONENTS,
        "asked": few.shape[0],
        "fit_seconds": fitted - start,
        "nearest_right_seconds": nearest - fitted,
        "recommend_users": A.shape[0] // 1000,
        "recommend_seconds": time.perf_counter() - nearest,
    }


def nearest(smoke: bool) -> dict[str, Any]:
    """Seconds of 20 items for each of 10,000 users among 200,000 items, by KernelSVD."""
    A = generated(100, 500, 5) if smoke else generated(10_000, 200_000, 20)
    model = KernelSVD(LARGE_COMPONENTS, kernel="association", tol=0.2).fit(A)
    start, cpu = time.perf_counter(), time.process_time()
    model.nearest_right(np.arange(A.shape[0]), TOP, exclude=A)
    seconds = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
    found = {"shape": A.shape, "components": LARGE_COMPONENTS, **seconds}
    print_table("nearest_right", list(found), [list(found.values())])
    return found


def _tiny() -> dict[str, Table]:
    A = generated(300, 200, 12)
    part = np.random.default_rng(0).integers(3, size=A.nnz)
    rows, columns = A.nonzero()
    pairs = np.column_stack([rows, columns])
    return {name: _table(pairs[part == i], A.shape) for i, name in enumerate(("train", "valid", "test"))}


if __name__ == "__main__":
    found = {name: partial(table, name) for name in SETS} | {
        "ablation": ablation,
        "shapes": shapes,
        "large": large,
        "nearest": nearest,
    }
    main(__file__, __doc__, found, {"big": big})
