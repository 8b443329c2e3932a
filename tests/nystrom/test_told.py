"""What is said of an approximation: the work before it begins, and the size of what it leaves."""

import re

import numpy as np
import pytest
from landmark_cases import CENTER, two_sets

from cases import assert_close, centred
from lopsided._core.progress import listening
from lopsided.exceptions import AccuracyWarning
from lopsided.kernels import RBF, Linear, Tanh
from lopsided.kernels.names import as_kernel
from lopsided.nystrom import Nystrom, nystrom
from lopsided.nystrom.error import _norm_beyond, warn_if_left_over
from lopsided.nystrom.landmarks import rows_as_landmarks
from lopsided.nystrom.solver import approximate
from lopsided.operators import as_operator


class Heard:
    """A listener that keeps announcements."""

    def __init__(self):
        self.words = []

    def announce(self, words):
        self.words.append(words)

    def begin(self, name, total): ...

    def advance(self, done): ...

    def end(self): ...


@pytest.mark.parametrize(("n", "m", "p", "q"), [(900, 60, 5, 30), (60, 900, 30, 5), (400, 400, 20, 19)])
def test_the_work_that_is_announced_is_the_work_that_is_done(n, m, p, q):
    evaluated = []

    def watched(X, Z):
        evaluated.append(len(X) * len(Z))
        return np.exp(-np.square(X[:, None] - Z).sum(axis=2))

    X, Z = two_sets(n, m)
    kernel, heard, method = as_kernel(watched).fit(X, Z), Heard(), Nystrom((p, q), extension="plain")
    evaluated.clear()
    with listening(heard):
        approximate(kernel, X, Z, 2, method=method, budget=1 << 30, seed=0, quiet=True)
    (announced,) = (float(found[1]) for words in heard.words if (found := re.search(r"(\S+) kernel values", words)))
    done = sum(evaluated) - p * q  # those between landmarks are not told
    assert abs(announced - done) <= 0.5 * 10 ** int(np.log10(done))  # to one digit


@CENTER
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("few", [1, 7, 60])
def test_the_norm_of_a_remainder_is_that_of_the_dense_matrix(few, dtype, center, rng, monkeypatch):
    X, Z = rng.standard_normal((5_000, 2)).astype(dtype), rng.standard_normal((few, 2)).astype(dtype)
    left, right = rng.standard_normal((len(X), 2)), rng.standard_normal((few, 2))
    rows, columns = (rng.standard_normal(size) * center for size in (len(X), few))
    A = as_operator(Linear().fit(X, Z), X, Z, budget=0)
    E = X.astype(float) @ Z.T - left @ right.T - rows[:, None] - columns
    blocks, take = [], A.take
    monkeypatch.setattr(A, "take", lambda rows: blocks.append(block := take(rows)) or block)
    monkeypatch.setattr("lopsided.nystrom.error.TILE_BYTES", most := 1 << 15)
    found = np.array(_norm_beyond(A, left, right, rows, columns))
    assert_close(found, np.linalg.norm(E, 2), dtype=dtype)
    assert most / 2 < max(block.nbytes for block in blocks) <= most


@CENTER
@pytest.mark.parametrize("exchanged", [False, True], ids=["a row", "a column"])
@pytest.mark.parametrize("seed", range(4))
def test_what_landmarks_miss_on_one_row_or_column_is_told_at_about_its_size(seed, exchanged, center):
    rng = np.random.default_rng(seed)
    X, Z = 3 * rng.standard_normal((700, 3)), rng.standard_normal((500, 3))
    X[:, 2], X[5, 2] = 0, 400
    sides = (Z, X) if exchanged else (X, Z)
    landmarks = tuple(rows_as_landmarks(side, np.arange(20, 60)) for side in sides)
    found = nystrom(Linear().fit(*sides), *sides, landmarks, 2, center=center, rng=rng)
    K = sides[0] @ sides[1].T
    remainder = (centred(K) if center else K) - found.factors.U * found.factors.s @ found.factors.V.T
    with pytest.warns(AccuracyWarning) as caught:
        warn_if_left_over(found, *sides, 0.1, rng)
    told = float(re.search(r"of size (\S+),", str(caught[0].message))[1])
    assert 0.7 < told / np.linalg.norm(remainder, 2) < 3  # among the rows held out, one counts for several


@pytest.mark.parametrize("seed", range(4))
def test_means_are_those_of_all_points_wherever_landmarks_lie_if_the_factors_are_exact(seed):
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_normal((50, 3)) + 2, rng.standard_normal((40, 3)) - 1
    landmarks = rows_as_landmarks(X, np.argsort(X[:, 0])[:9]), rows_as_landmarks(Z, np.argsort(Z[:, 1])[:7])
    found, K = nystrom(Linear().fit(X, Z), X, Z, landmarks, 3, center=True, rng=rng), X @ Z.T
    for mean, axis in zip(found.means, (1, 0), strict=True):
        assert_close(mean, K.mean(axis=axis), ulps=1e5)


@pytest.mark.parametrize(("kernel", "definite"), [(RBF(1.0), True), (Tanh(1.0, -1.0), False)], ids=["definite", "not"])
def test_sides_of_a_symmetric_matrix_share_memory_unless_signs_tell_them_apart(kernel, definite):
    X, _ = two_sets()
    some = rows_as_landmarks(X, np.arange(20))
    found = nystrom(kernel.fit(X, X), X, X, (some, some), 6, rng=np.random.default_rng(0)).factors
    assert np.shares_memory(found.U, found.V) == np.array_equal(found.U, found.V) == definite
