"""From a table to the features of its rows: the reading, the preparation and the kernel SVD, whole or by halves."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._core import Array, in_unit, safe_unit
from ..exceptions import RankWarning, warn
from ..kernel_svd import KernelSVD
from ..kernels import Function, as_kernel
from .clustering import MAX_FEATURES, Clustering, Pair, default_width
from .readings import READINGS, Attributes, Profiles, Reading, plain_reading
from .stability import Stability, most_stable_count, random_halves, sampled_rows, stability_of
from .weighting import Weighting

LEAST_SIDE = 4  # rows and columns of a table whose halves can be compared
Counts = tuple[int, int] | None  # of row and column clusters; None if they are to be found


class Decomposition(NamedTuple):
    """How a table is decomposed; see ``KernelBiclustering`` for the settings."""

    kernel: Any
    weighting: str | None
    n_components: int | None
    of_svd: dict[str, Any]  # further parameters of KernelSVD

    def prepare(self, X: Array, reading: str) -> Weighting | Attributes | Profiles:
        """What brings rows and columns of the table to one scale."""
        if reading == "counts" or not isinstance(X, np.ndarray):
            return Weighting.of_table(self.weighting, X)
        return (Attributes if reading == "attributes" else Profiles).of_table(X)

    def svd(self, table: Array, counts: Counts, reading: str) -> KernelSVD:
        """Fitted kernel SVD of a prepared table."""
        kernel, settings = self.kernel, dict(self.of_svd)
        if isinstance(kernel, str) and kernel == "auto":
            kernel = "association" if reading == "counts" else "precomputed"
        of_vectors = isinstance(as_kernel(kernel), Function) and table.shape[0] != table.shape[1]
        if of_vectors and isinstance(settings["compatibility"], str) and settings["compatibility"] == "auto":
            settings["compatibility"] = "pca"
        model = KernelSVD(self.width(counts, table.shape), kernel=kernel, **settings)
        return model.set_output(transform="default").fit(table)

    def width(self, counts: Counts, shape: tuple[int, int]) -> int:
        """Number of singular triplets."""
        wanted = self.n_components or (MAX_FEATURES if counts is None else max(map(default_width, counts)))
        return min(wanted, *shape)

    def check_width(self, shape: tuple[int, int]) -> None:
        """Warn if there are fewer triplets than requested."""
        wanted, most = self.n_components, min(shape)
        if wanted and wanted > most:
            warn(f"n_components={wanted} exceeds min(n_samples, n_features)={most}; keeping {most}", RankWarning)

    def half_features(self, X: Array, reading: str, counts: Counts, seed: int) -> list[Pair]:
        """Row features from random halves of the columns, for at most a thousand rows."""
        X = X[sampled_rows(X.shape[0], seed)]

        def features(columns: np.ndarray) -> np.ndarray:
            part = X[:, columns]
            table: Any = self.prepare(part, reading).rows(part)
            found = self.svd(table, counts, reading).transform(table)
            return in_unit(found, safe_unit(found))

        return [(features(one), features(other)) for one, other in random_halves(X.shape[1], seed)]

    def most_clusters(self, halves: list[Pair]) -> int:
        """Largest number of clusters that is tried: two features for each."""
        return min(half.shape[1] // 2 for pair in halves for half in pair)

    def choose_reading(
        self, asked: str, X: Array, counts: Counts, clustering: Clustering, *, checkerboard: bool
    ) -> tuple[Reading, list[Pair]]:
        """The reading, and the row features of halves of the columns if these were compared.

        It is "attributes" unless "profiles" is more stable by more than both standard errors.
        """
        if asked != "auto":
            if asked != "counts" and sparse.issparse(X):
                raise ValueError(f"reading={asked!r} centres columns, which needs a dense table; pass X.toarray()")
            return Reading(asked, "it was asked for"), []
        if not (isinstance(self.kernel, str) and self.kernel == "auto") or self.weighting is not None:
            return Reading("counts", "a kernel or weighting was given"), []
        if checkerboard:  # centring would remove what tells its columns apart
            return Reading("counts", "the levels of entries make a checkerboard"), []
        plain = plain_reading(X)
        if plain is not None:
            return plain, []
        if min(X.shape) < LEAST_SIDE:
            return Reading("attributes", "the table is too small to compare halves of it"), []
        attributes, profiles = (self._stable_halves(X, name, counts, clustering) for name in READINGS[1:])
        (one, _), (other, _) = attributes, profiles
        agreements = f"{one.agreement:.2f} as attributes and {other.agreement:.2f} as profiles"
        reason = f"row clusters from halves of the columns agree to {agreements}"
        if other.agreement - other.error > one.agreement + one.error:
            return Reading("profiles", reason), profiles[1]
        return Reading("attributes", reason), attributes[1]

    def _stable_halves(
        self, X: Array, reading: str, counts: Counts, clustering: Clustering
    ) -> tuple[Stability, list[Pair]]:
        """Stability of the row clusters in one reading, and the row features that it was found from."""
        halves, clustering = self.half_features(X, reading, counts, clustering.seed), clustering.of_reading(reading)
        if counts is None:
            return most_stable_count(halves, self.most_clusters(halves), clustering)[-1], halves
        return stability_of(halves, counts[0], clustering), halves
