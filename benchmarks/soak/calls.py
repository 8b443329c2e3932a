"""Random calls of every public estimator, kernel and solver on data of every kind.

A call ends in finite answers, or in a ValueError or TypeError with a message that the library (or scikit-learn's
validation) raised; numpy's warnings count as errors; and it leaves its arguments as they were.
"""

from __future__ import annotations

import copy
import os
import signal
import traceback
import warnings

import numpy as np
import pandas as pd
from scipy import sparse

import lopsided
from lopsided import (
    AsymmetricLSSVC,
    AsymmetricLSSVR,
    DirectedGraphEmbedding,
    ImageMixtures,
    KernelBiclustering,
    KernelSVD,
    LearnedKernelSVDClassifier,
    LearnedKernelSVDRegressor,
    Nystrom,
    PriorNystroem,
    image_svd,
    kernels as k,
)
from lopsided.exceptions import LopsidedWarning

OURS = (os.path.dirname(lopsided.__file__) + os.sep, f"{os.sep}sklearn{os.sep}")
LONGEST = 10  # seconds for one call
LEARNED = (
    "singular_values_", "left_vectors_", "right_vectors_", "source_embedding_", "target_embedding_", "left_duals_",
    "right_duals_", "C_", "dictionary_", "normalization_", "row_labels_",
)  # fmt: skip


# Data.

SIZES = [1, 2, 3, 5, 8, 13, 21, 34]
LARGE = [320, 350]  # sizes at which the iterative solver is the default
VALUES = {
    "normal": lambda r, n, d: r.standard_normal((n, d)),
    "constant": lambda r, n, d: np.full((n, d), r.choice([1.0, -3.0, 0.1])),
    "zeros": lambda r, n, d: np.zeros((n, d)),
    "duplicates": lambda r, n, d: r.standard_normal((2, d))[r.integers(0, 2, n)],
    "one outlier": lambda r, n, d: np.where(np.arange(n * d).reshape(n, d) == 1, 1e8, r.standard_normal((n, d))),
    "one row of zeros": lambda r, n, d: np.where(np.arange(n)[:, None] == 0, 0.0, r.standard_normal((n, d))),
    "binary": lambda r, n, d: (r.random((n, d)) < 0.2).astype(float),
    "counts": lambda r, n, d: r.poisson(0.7, (n, d)).astype(float),
    "probabilities": lambda r, n, d: r.dirichlet(np.ones(d), n),
    "rank one": lambda r, n, d: np.outer(r.standard_normal(n), r.standard_normal(d)),
    "columns of any size": lambda r, n, d: r.standard_normal((n, d)) * 10.0 ** r.integers(-12, 12, d),
    "nearly constant": lambda r, n, d: 1 + 1e-12 * r.standard_normal((n, d)),
}
SCALES = [1.0] * 12 + [1e-3, 1e3, 1e8, 1e-8, 1e30, 1e-30, 1e150, 1e-150, 1e200, 1e-200, 1e300, 1e-300, 5e-324]
KINDS = {
    "array": lambda A: A,
    "fortran": np.asfortranarray,
    "read only": lambda A: _locked(A.copy()),
    "strided": lambda A: np.repeat(A, 2, axis=0)[::2],
    "list": lambda A: A.tolist(),
    "frame": lambda A: pd.DataFrame(A, columns=[f"c{i}" for i in range(A.shape[1])]),
    "csr": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "unsorted": lambda A: _unsorted(sparse.csr_array(A)),
}
DTYPES = ["float64"] * 5 + ["float32"] * 3 + ["int64", "bool", "float16", "object"]


def _locked(A):
    A.flags.writeable = False
    return A


def _unsorted(S):
    for i in range(S.shape[0]):
        row = slice(S.indptr[i], S.indptr[i + 1])
        S.indices[row], S.data[row] = S.indices[row][::-1].copy(), S.data[row][::-1].copy()
    S.has_sorted_indices = S.has_canonical_format = False
    return S


class Draw:
    """The random choices of one call, remembered so that a failure says what it was about."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.notes = []

    def of(self, options):
        options = list(options)
        return options[self.rng.integers(len(options))]

    def chance(self, p):
        return self.rng.random() < p

    def values(self, n, d):
        name, scale, dtype = self.of(VALUES), self.of(SCALES), self.of(DTYPES)
        A = VALUES[name](self.rng, n, d)
        with np.errstate(all="ignore"):
            if dtype.startswith("float"):
                limits = np.finfo(dtype)
                A = np.clip(A * scale, limits.min / 4, limits.max / 4)
            if dtype == "int64":
                A = np.clip(np.round(A), -1e15, 1e15)
            A = A.astype(dtype)
        self.notes.append(f"{name} {n}x{d} *{scale:g} {dtype}")
        return A

    def points(self, n=None, d=None):
        n = self.of(LARGE if self.chance(0.05) else SIZES) if n is None else n
        d = self.of(SIZES[:6]) if d is None else d
        A, kind = self.values(n, d), self.of(KINDS)
        if A.dtype in (object, np.float16) and kind not in ("array", "fortran", "read only", "strided", "list"):
            A = A.astype(float)
        self.notes.append(kind)
        return KINDS[kind](A)

    def bandwidth(self):
        return self.of([None, None, 1.0, 0.3, 5.0, 1e-8, 1e8, 1e-150, 1e150, 1e-300, 1e300])

    def kernel(self):
        simple = [
            "rbf", "sne", "linear", "polynomial", "laplacian", "student_t", "tl1", "tanh", "exponential",
            "linear_polynomial", "kullback_leibler",
            k.RBF(self.bandwidth()), k.SNE(self.bandwidth()), k.Laplacian(self.bandwidth()),
            k.StudentT(self.bandwidth() or 1.0), k.Polynomial(self.of([1, 2, 3, 7]), self.of([0.0, 1.0, 1e8])),
            k.Exponential(self.of([1.0, -1.0, 1e-3])), k.TL1(self.bandwidth()), k.Tanh(self.of([None, 1.0, 1e-8])),
            k.LinearPolynomial(), _product,
        ]  # fmt: skip
        kernel = self.of(simple)
        if self.chance(0.15):
            kernel = self.of([lambda a: a.T, lambda a: 2 * a, lambda a: a + k.RBF(1.0), lambda a: a * k.SNE(1.0)])(
                k.as_kernel(kernel)
            )
        self.notes.append(str(kernel))
        return kernel

    def settings(self, **options):
        chosen = {name: self.of(values) for name, values in options.items() if self.chance(0.6)}
        self.notes.append(str(chosen))
        return chosen

    def nystrom(self):
        return Nystrom(
            self.of([None, 1, 2, 5, 20]),
            landmarks=self.of(["uniform", "kmeans", "leverage", "pivoted"]),
            extension=self.of(["orthonormal", "plain"]),
            denominators=self.of(["auto", "all", "landmarks"]),
        )


def _product(X, Z):
    X, Z = (A.toarray() if sparse.issparse(A) else np.asarray(A) for A in (X, Z))
    return np.tanh(X[:, :1] / (1 + np.abs(X[:, :1]))) - 2 * np.tanh(Z[:, :1] / (1 + np.abs(Z[:, :1]))).T


# Calls: each draws its arguments and returns (arguments to compare afterwards, what to do with them).


def length(A):
    return A.shape[0] if hasattr(A, "shape") else len(A)


def width(A):
    return A.shape[1] if hasattr(A, "shape") else len(A[0])


def kernel_svd(draw):
    X = draw.points()
    Z = draw.points(d=width(X)) if draw.chance(0.7) else None
    model = KernelSVD(
        draw.of([1, 1, 2, 3, 0.5, 0.99]),
        kernel=draw.of([draw.kernel(), "precomputed", "association"]) if Z is None else draw.kernel(),
        **draw.settings(
            center=[True, False],
            scaling=[0.0, 0.5, 1.0, 2.0, -1.0],
            tol=[0.0, 0.1],
            solver=["auto", "lapack", "krylov", "nystrom", draw.nystrom()],
            memory_budget=[1, 10**4, "1GB"],
            compatibility=["auto", "identity", "pca", "random", "pinv"],
            random_state=[0, 1],
            n_jobs=[1, None],
        ),
    )
    new, other = draw.points(d=width(X)), draw.points(d=width(X) if Z is not None else length(X))

    def work():
        model.fit(X) if Z is None else model.fit(X, Z=Z)
        yield model
        for method, points in ((model.transform, new), (model.transform_right, other)):
            yield from _attempt(method, points)
        yield model.reconstruct()

    return (X, Z, new, other), work


def _attempt(method, *args):
    """A method after a good fit: it may refuse its points, with a message."""
    try:
        yield method(*args)
    except (ValueError, TypeError) as error:
        _check_error(error)


def machine(draw):
    X = draw.points(n=draw.of(SIZES[1:]))
    n = length(X)
    classes = draw.chance(0.5)
    real = [draw.rng.standard_normal(n), np.ones(n), np.zeros(n), np.arange(n) % 3 - 1.0]
    y = draw.rng.integers(0, draw.of([2, 3]), n) if classes else draw.of([*real, 1e200 * real[0]])
    settings = draw.settings(
        C=[1.0, [0.1, 1.0], 1e-8, 1e8, "auto", [1e-30, 1e30]], merge=["mean", "source", "target", "stack"],
        solver=["auto", "dense", "spectral", "symmetric", "minres", "sparse_lu", draw.nystrom()],
        damping=[0.0, 1.0], tol=[0.0, 1e-3], memory_budget=[1, 10**4, "1GB"], cv=[None, 2],
    )  # fmt: skip
    precomputed = n == width(X) and draw.chance(0.5)
    model = (AsymmetricLSSVC if classes else AsymmetricLSSVR)(
        kernel="precomputed" if precomputed else draw.kernel(), **settings
    )
    new = draw.points(d=width(X))

    def work():
        yield model.fit(X, y)
        if not precomputed:
            yield from _attempt(model.predict, new)
            yield from _attempt(model.predict, X)

    return (X, y, new), work


def learned(draw):
    X = draw.points(n=draw.of(SIZES[3:]), d=draw.of([2, 3, 5]))
    n = length(X)
    settings = draw.settings(
        max_iter=[1, 2], optimizer=["auto", "lbfgs", "adam"], batch_size=[2, 32], alpha=[1e-4, 1e8], n_components=[1, 2]
    )
    kernel = draw.of(["rbf", "linear", "polynomial", "exponential", "sne", k.RBF(1.0)])
    classes = draw.chance(0.5)
    y = draw.rng.integers(0, 2, n) if classes else draw.rng.standard_normal(n) * draw.of([1, 0, 1e200])
    model = (LearnedKernelSVDClassifier if classes else LearnedKernelSVDRegressor)(
        kernel=kernel, **{"max_iter": 2} | settings
    )
    draw.notes.append(str(kernel))
    new = draw.points(d=width(X))

    def work():
        yield model.fit(X, y)
        yield from _attempt(model.predict, new)
        yield from _attempt(model.transform, new)

    return (X, y, new), work


def prior(draw):
    X = draw.points(n=draw.of(SIZES[2:]))
    n = length(X)
    two = draw.chance(0.3)
    Z = draw.points(d=width(X)) if two else None
    labels = draw.of([None, draw.rng.integers(-1, 3, n), np.zeros(n, dtype=int), np.full(n, -1)])
    right = draw.rng.integers(-1, 3, length(Z)) if two and labels is not None else None
    model = PriorNystroem(
        draw.of([1, 3, 10]),
        kernel=draw.kernel()
        if two
        else draw.of(["rbf", "laplacian", "linear", k.RBF(draw.bandwidth()), "association"]),
        **draw.settings(
            prior_weight=["auto", "alignment", 1e-4, np.inf],
            smoothness=["auto", 0.0, 1e3, 1e100],
            landmarks=["kmeans", "uniform"],
            solver=["accelerated", "gradient", "closed"],
            class_weight=[None, "balanced"],
            self_training=[True, False],
        ),
    )
    new = draw.points(d=width(X))

    def work():
        yield model.fit(X, labels, Z=Z, y_right=right) if two else model.fit(X, labels)
        yield from _attempt(model.transform, new)

    return (X, Z, labels, new), work


def biclusters(draw):
    X, new = draw.points(n=draw.of(SIZES[1:]), d=draw.of(SIZES[1:])), None
    new = draw.points(d=width(X))
    model = KernelBiclustering(
        draw.of([1, 2, 3, (2, 3), "auto"]),
        n_init=1,
        **draw.settings(
            kernel=["association", "rbf", "linear", "sne"],
            weighting=[None, "tfidf", "length"],
            joint=[True, False],
            spherical=["auto", True, False],
            refine=[True, False],
            n_components=[None, 1, 3],
        ),
    )

    def work():
        yield model.fit(X)
        yield from _attempt(model.predict, new)

    return (X, new), work


def graph(draw):
    n = draw.of(SIZES)
    A = draw.of([lambda: draw.points(n, n), lambda: (draw.rng.random((n, n)) < 0.15).astype(float)])()
    walks = k.Diffusion(
        restart=draw.of([0.05, 0.5, 0.999]),
        direction=draw.of(["both", "last", "undirected"]),
        threshold=draw.of([1e-2, 1e-6]),
        transform=draw.of([None, "log", "root"]),
        memory_budget=draw.of([None, 10**4]),
    )
    of_graphs = [k.Katz(), k.Katz(beta=0.3), k.NodeKernel(normalize="left"), k.Diffusion(), walks]
    kernel = draw.of(["auto", "auto", "sne", "rbf", "linear", *of_graphs])
    draw.notes.append(str(kernel))
    model = DirectedGraphEmbedding(
        draw.of([1, 2, 5]),
        kernel=kernel,
        **draw.settings(
            self_loops=[0.0, 1.0, 1e200],
            normalize=[None, "left", "right", "both"],
            scaling=[0.0, 0.5, 1.0, 2.0],
            decoder=["auto", "factors", "edges"],
            unit_length=[True, False],
            memory_budget=[None, 10**4],
        ),
    )

    def work():
        yield model.fit(A)
        yield from _attempt(lambda: model.transform(A))
        yield from _attempt(lambda: model.score_edges([0, 0], [0, n - 1]))

    return (A,), work


def image(draw):
    X = draw.points(n=draw.of([1, 3, 8]), d=64)
    model = ImageMixtures(draw.of([1, 2]), **draw.settings(patch=[2, 4, 8], step=[1, 4], prior=[1e-8, 8.0, 1e8]))

    def work():
        yield model.fit(X)
        yield from _attempt(model.transform, X)

    return (X,), work


def picture(draw):
    X = draw.values(draw.of(SIZES), draw.of(SIZES))
    kernel = draw.of(["linear", k.LinearPolynomial(0.3, 3), k.Exponential(0.1)])
    draw.notes.append(str(kernel))

    def work():
        found = image_svd(X, kernel)
        yield found.reconstruct()
        yield from _attempt(lambda: found.restore(found.reconstruct()))

    return (X,), work


def kernel_call(draw):
    X = draw.points()
    Z, kernel = draw.points(d=width(X)), k.as_kernel(draw.kernel())

    def work():
        yield kernel(X, Z)

    return (X, Z), work


CALLS = {
    kernel_svd: 5, machine: 4, learned: 1, prior: 2, biclusters: 2, graph: 3, image: 1, picture: 1, kernel_call: 3
}  # fmt: skip


# The judge.


class Fault(Exception):
    """A call that ended badly."""


def _check_error(error):
    frames = traceback.extract_tb(error.__traceback__)
    if not isinstance(error, (ValueError, TypeError)) or isinstance(error, np.linalg.LinAlgError) or not str(error):
        raise Fault(f"{type(error).__name__}: {error}") from error
    if not any(part in frames[-1].filename for part in OURS):
        raise Fault(f"raised outside: {type(error).__name__}: {error}") from error


def _check_answer(answer):
    if hasattr(answer, "get_params"):
        for name in LEARNED:
            value = vars(answer).get(name)
            if value is not None and not np.isfinite(np.asarray(value, dtype=float)).all():
                raise Fault(f"{name} is not finite")
        return
    values = answer.data if sparse.issparse(answer) else np.asarray(answer)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise Fault("the answer is not finite")


def one_call(seed):
    """Make call number ``seed``; return None, or what was wrong with it."""
    draw = Draw(seed)
    make = draw.rng.choice(list(CALLS), p=np.array(list(CALLS.values())) / sum(CALLS.values()))
    arguments, work = make(draw)
    before = copy.deepcopy(arguments)
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(LONGEST)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", LopsidedWarning)
            warnings.filterwarnings("ignore", message="X (has|does not have valid) feature names")  # scikit-learn's
            warnings.filterwarnings("ignore", message="The least populated class in y has")  # of a given cv
            try:
                for answer in work():
                    _check_answer(answer)
            except Fault:
                raise
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:
                _check_error(error)
        if not _same(arguments, before):
            raise Fault("an argument was modified")
    except Fault as fault:
        cause = fault.__cause__ or fault
        frames = traceback.extract_tb(cause.__traceback__) if cause else []
        ours = [frame for frame in frames if OURS[0] in frame.filename]
        where = f"{ours[-1].filename.removeprefix(OURS[0])}:{ours[-1].lineno} {ours[-1].line}" if ours else ""
        return f"{make.__name__}: {fault} @ {where} | seed {seed}: {'; '.join(draw.notes)}"
    finally:
        signal.alarm(0)
    return None


def _too_long(*_):
    raise Fault(f"took more than {LONGEST} s")


def _same(one, other):
    if sparse.issparse(one):
        return type(one) is type(other) and one.shape == other.shape and all(
            np.array_equal(getattr(one, part), getattr(other, part))
            for part in (("data", "indices", "indptr") if hasattr(one, "indptr") else ("data", "row", "col"))
        )  # fmt: skip
    if isinstance(one, tuple):
        return all(map(_same, one, other))
    if isinstance(one, pd.DataFrame):
        return one.equals(other)
    return one is None or (np.array_equal(np.asarray(one), np.asarray(other)) and type(one) is type(other))
