"""Random calls of every estimator and kernel on data of every kind: (arguments to compare afterwards, the work).

A call ends in finite answers, or in a ValueError or TypeError with a message that the library (or scikit-learn's
validation) raised; numpy's warnings count as errors; and it leaves its arguments as they were.
"""

from __future__ import annotations

import numpy as np

from lopsided import (
    AsymmetricLSSVC,
    AsymmetricLSSVR,
    DirectedGraphEmbedding,
    ImageMixtures,
    KernelBiclustering,
    KernelRecommender,
    KernelSVD,
    LearnedKernelSVDClassifier,
    LearnedKernelSVDRegressor,
    PriorNystroem,
    image_svd,
    kernels as k,
)

from .drawn import SIZES, Draw, length, width
from .judge import Work, attempt

Call = tuple[tuple, Work]


def kernel_svd(draw: Draw) -> Call:
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
            yield from attempt(method, points)
        yield model.reconstruct()
        yield from attempt(model.score_pairs, new, other)
        yield from attempt(model.nearest_right, new, 1)
        yield from attempt(model.diagnostics)

    return (X, Z, new, other), work


def machine(draw: Draw) -> Call:
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
            yield from attempt(model.predict, new)
            yield from attempt(model.predict, X)

    return (X, y, new), work


def learned(draw: Draw) -> Call:
    X = draw.points(n=draw.of(SIZES[3:]), d=draw.of([2, 3, 5]))
    n = length(X)
    settings = draw.settings(
        max_iter=[1, 2], optimizer=["auto", "lbfgs", "adam"], batch_size=[2, 32], alpha=[1e-4, 1e8],
        n_components=[1, 2], memory_budget=[1, 10**4, "1GB"], n_jobs=[1, 2],
    )  # fmt: skip
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
        yield from attempt(model.predict, new)
        yield from attempt(model.transform, new)

    return (X, y, new), work


def prior(draw: Draw) -> Call:
    X = draw.points(n=draw.of(SIZES[2:]))
    n = length(X)
    two = draw.chance(0.3)
    Z = draw.points(d=width(X)) if two else None
    labels = draw.of([None, draw.rng.integers(-1, 3, n), np.zeros(n, dtype=int), np.full(n, -1)])
    right = draw.rng.integers(-1, 3, length(Z)) if two and labels is not None else None
    model = PriorNystroem(
        draw.of([1, 3, 10]),
        kernel=draw.of([draw.kernel(), draw.kernel(), "association", "precomputed"])
        if two
        else draw.of(["rbf", "laplacian", "linear", k.RBF(draw.bandwidth()), "association"]),
        **draw.settings(
            prior_weight=["auto", "alignment", 1e-4, np.inf],
            smoothness=["auto", 0.0, 1e3, 1e100],
            landmarks=["kmeans", "uniform"],
            solver=["accelerated", "gradient", "closed"],
            class_weight=[None, "balanced"],
            memory_budget=[None, 1e5],
        ),
    )
    new = draw.points(d=width(X))

    def work():
        yield model.fit(X, labels, Z=Z, y_right=right) if two else model.fit(X, labels)
        yield from attempt(model.transform, new)

    return (X, Z, labels, new), work


def biclusters(draw: Draw) -> Call:
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
        yield from attempt(model.predict, new)

    return (X, new), work


def graph(draw: Draw) -> Call:
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
        yield from attempt(lambda: model.transform(A))
        yield from attempt(lambda: model.score_edges([0, 0], [0, n - 1]))
        yield from attempt(lambda: model.nearest_targets(k=1))
        yield from attempt(lambda: model.most_similar(model.nodes_[0], 1))

    return (A,), work


def image(draw: Draw) -> Call:
    X = draw.points(n=draw.of([1, 3, 8]), d=64)
    model = ImageMixtures(draw.of([1, 2]), **draw.settings(patch=[2, 4, 8], step=[1, 4], prior=[1e-8, 8.0, 1e8]))

    def work():
        yield model.fit(X)
        yield from attempt(model.transform, X)

    return (X,), work


def picture(draw: Draw) -> Call:
    X = draw.values(draw.of(SIZES), draw.of(SIZES))
    kernel = draw.of(["linear", k.LinearPolynomial(0.3, 3), k.Exponential(0.1)])
    draw.notes.append(str(kernel))

    def work():
        found = image_svd(X, kernel)
        yield found.reconstruct()
        yield from attempt(lambda: found.restore(found.reconstruct()))

    return (X,), work


def kernel_call(draw: Draw) -> Call:
    X = draw.points()
    Z, kernel = draw.points(d=width(X)), k.as_kernel(draw.kernel())

    def work():
        yield kernel(X, Z)

    return (X, Z), work


def recommender(draw: Draw) -> Call:
    X = draw.points(n=draw.of(SIZES[1:]), d=draw.of(SIZES[1:]))
    model = KernelRecommender(
        draw.of([None, 1, 3]),
        **draw.settings(
            kernel=["association", "linear", "rbf"],
            popularity=[0.0, 0.25, 1.0],
            tol=[0.0, 0.05],
            memory_budget=[1, "1GB"],
        ),
    )
    new = draw.points(d=width(X))

    def work():
        yield model.fit(X)
        for users in (X, new):
            yield from attempt(model.recommend, users, k=1)

    return (X, new), work


CALLS = {
    kernel_svd: 5, machine: 4, learned: 1, prior: 2, biclusters: 2, graph: 3, recommender: 1, image: 1, picture: 1,
    kernel_call: 3,
}  # fmt: skip
