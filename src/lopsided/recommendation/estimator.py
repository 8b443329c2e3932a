"""Recommendation from the kernel SVD of a table of users and items."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._core import (
    FLOATS,
    Array,
    ArrayLike,
    Estimator,
    atomic_fit,
    best_columns,
    canonical,
    checked,
    count_of,
    gate,
    jobs,
    reject_masked,
    seed_of,
    whole,
)
from ..exceptions import LopsidedWarning, RankWarning, warn
from ..kernel_svd import KernelSVD, pairs_left_out
from ..kernels import Association
from .smoothing import Smoother, popularity_weights
from .trials import POWERS, Grid, Trials, best_kernel, best_setting, hide

# Chosen on the part `valid` of lastfm and citeulike; `python benchmarks/recommend.py ablation` changes both
MAX_COMPONENTS = 128
TRIAL_COMPONENTS = 32  # without what is hidden: settings rank alike with more, which would cost as much as the fit
MANY_IDS = 20  # different numbers in each of two columns, beyond which they look like those of users and items
COMPONENTS_SHARE = 4  # of min(n_users, n_items) in small tables, where more would reproduce the table itself
OF_KERNEL_SVD = ("tol", "random_state", "n_jobs", "memory_budget")  # parameters of the decomposition


class KernelRecommender(Estimator):
    """Recommendation of items to users, from the kernel SVD of a table of interactions.

    The association K = U diag(s) V^T of users and items is smoothed: a user with the row k of K scores the items

        k (K^T K + t I)^-1 K^T K diag(c)^p,

    where c_j is the popularity of item j, the sum of its column as the kernel has it, plus the mean popularity. This is
    ridge regression of every item on all items: directions of the table well above sqrt(t) are kept, weaker ones damped
    in proportion to s^2. The q leading components are treated exactly, and s^2 / (s^2 + t) of the others is replaced by
    its chord s^2 / (s_q^2 + t), which needs only sparse products. A score depends on the user's row alone, so new users
    need no refitting.

    How much to damp, and how much popularity and large values should count, depend on the table: they are chosen by
    hiding a fifth of the interactions of some users, fitting the others, and ranking the hidden ones.

    Parameters
    ----------
    n_components : int or None, default=None
        q. None means 128, or a quarter of the smaller side of the table if that is less.
    kernel : "auto", "association" or Association, default="auto"
        Normalisation of the table by the sums of its rows and columns. "auto" is "association" for tables of ones; for
        others it takes a power of 0.25, for values with a heavy tail, instead of 0.75 if hidden interactions rank
        better by 1.5 standard errors.
    popularity : float or "auto", default="auto"
        p. 0 ranks items by association, which favours rare ones; 0.5 undoes the kernel's normalisation by popularity.
        "auto" chooses it by hidden interactions, and takes 0.25 if no other is better by 1.5 standard errors.
    threshold : float or "auto", default="auto"
        t, in units of the largest squared singular value. "auto" chooses it with the popularity, and takes s_q^2 if
        nothing is better by 1.5 standard errors. A table with fewer than ten users of several interactions gets
        these defaults.
    tol, random_state, n_jobs, memory_budget, verbose : default=0.2, None, None, None, 0
        As in ``KernelSVD``; rankings change little below 0.2.

    Attributes
    ----------
    svd_ : KernelSVD
        The decomposition, with embeddings of users and of items, ``nearest_left`` and ``transform_right``.
    popularity_, threshold_ : float
        p and t, given or chosen; t in the units of the squared singular values.
    path_ : tuple of Trial
        What was compared: a setting, (threshold, popularity) in the units of the parameters, the mean NDCG@20 of the
        hidden interactions, and the kernel. Empty if all were given, or users were too few.
    item_weights_ : array of shape (n_items,)
        c^p.
    n_features_in_, feature_names_in_ : int and array
        Number of items, and their names, if X has any.

    See Also
    --------
    KernelSVD.nearest_right : Ranking by the leading components alone, faster on large tables.

    Notes
    -----
    Cost of ``fit``: O(nnz q) per product, and if anything is chosen a second decomposition with at most 32 components
    and some twenty rankings of at most 2 million scores, or those of 100 users; both twice if powers are compared.
    Cost of ``recommend`` for b users: O(b m q), and the sparse product of their rows with K^T K. Nothing of the size
    of the table, or of items x items, is stored.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import KernelRecommender
    >>> A = np.array([[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 1, 1], [0, 0, 1, 1, 1]])  # users x items
    >>> model = KernelRecommender(2).fit(A)
    >>> model.recommend(A[[1]], 1)  # user 1 has items 0 and 1
    array([[2]])
    """

    _parameter_constraints: dict[str, Any] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "kernel": [StrOptions({"auto", "association"}), Association],
        "popularity": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "threshold": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        **{name: KernelSVD._parameter_constraints[name] for name in (*OF_KERNEL_SVD, "verbose")},
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "auto",
        popularity: float | str = "auto",
        threshold: float | str = "auto",
        tol: float = 0.2,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_budget: float | str | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components, self.kernel = n_components, kernel
        self.popularity, self.threshold = popularity, threshold
        self.tol, self.random_state, self.n_jobs = tol, random_state, n_jobs
        self.memory_budget, self.verbose = memory_budget, verbose

    @atomic_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Decompose a table X of shape (n_users, n_items): counts, ratings, or ones where a user chose an item."""
        self._validate_params()
        table = self._validated(X, reset=True)
        _warn_if_log(table)
        seed = seed_of(self.random_state)
        rank = self._rank(table.shape)
        threshold = None if isinstance(self.threshold, str) else float(self.threshold)
        popularity = None if isinstance(self.popularity, str) else float(self.popularity)
        with jobs(self.n_jobs, self.memory_budget):
            tried = self._tried(table, min(rank, TRIAL_COMPONENTS), seed)
            best = best_kernel(tried, threshold, popularity)
            kernel = best.kernel if best else self._kernels(table)[0]
            self.svd_, self._smoother = self._decomposed(table, kernel, rank, seed)
            grid = Grid.of(self._smoother.squares, threshold, popularity)
            setting = best_setting(best, grid) if best else grid.default
        self.path_ = tuple(trial for one in tried for trial in one.compared)
        self.popularity_ = setting.popularity
        self.threshold_ = setting.threshold * (float(self._smoother.squares[0]) or 1.0)
        self.item_weights_ = popularity_weights(self.svd_.kernel_.column_sums, setting.popularity)
        return self

    @checked(new_only=["boolean"])
    @gate
    def recommend(self, X: ArrayLike, k: int | None = None, *, new_only: bool = True) -> np.ndarray:
        """Recommend k items to each user, best first.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, n_items)
            Rows of users, of the table of ``fit`` or new.
        k : int, default=None
            Number of items per user; None means 10, or all that every user leaves if they are fewer.
        new_only : bool, default=True
            Whether to leave out items that the user has already, where X is not zero.

        Returns
        -------
        array of shape (n, k)
            Item numbers. Users without any entry get the most popular items, with a warning.
        """
        check_is_fitted(self)
        X = self._validated(X)
        left_out, k = pairs_left_out(X if new_only else None, X.shape, k)
        rows = self.svd_.kernel_.left(X)
        silent = ~np.asarray(abs(X).sum(axis=1) > 0).ravel()
        if silent.any():
            warn(
                f"{count_of(np.count_nonzero(silent), 'user has', 'users have')} no interactions, so the most "
                "popular items are returned; leave such users out",
                LopsidedWarning,
            )

        def score(users: slice) -> np.ndarray:
            scores = self._scores(rows[users])
            scores[silent[users]] = self.svd_.kernel_.column_sums
            return scores

        with jobs(self.n_jobs, self.memory_budget):
            return best_columns(score, left_out, k)[0]

    def _scores(self, rows: Array) -> np.ndarray:
        """Smoothed scores of users with the given rows of K, for all items."""
        found = self._smoother.scores(self._smoother.project(rows), self.threshold_)
        return found * self.item_weights_

    def _kernels(self, table: Array) -> list[Association]:
        """The kernel that is given, or those that are compared: powers have no effect if all entries are the same."""
        if isinstance(self.kernel, Association):
            return [self.kernel]
        values = table.data if sparse.issparse(table) else table[table != 0]
        alike = self.kernel == "association" or not values.size or values.min() == values.max()
        return [Association(power) for power in POWERS[: 1 if alike else None]]

    def _tried(self, table: Array, rank: int, seed: int) -> list[Trials]:
        """Models of the table without some interactions, one for each kernel; none if there is nothing to choose."""
        kernels = self._kernels(table)
        chooses = len(kernels) > 1 or isinstance(self.threshold, str) or isinstance(self.popularity, str)
        hidden = hide(table, np.random.default_rng(seed)) if chooses else None
        if hidden is None:
            return []
        fitted = (self._decomposed(hidden.table, kernel, rank, seed) for kernel in kernels)
        return [Trials(svd.kernel_, smoother, hidden) for svd, smoother in fitted]

    def _decomposed(self, table: Array, kernel: Association, rank: int, seed: int) -> tuple[KernelSVD, Smoother]:
        settings = {name: getattr(self, name) for name in OF_KERNEL_SVD} | {"random_state": seed}
        svd = KernelSVD(rank, kernel=kernel, **settings).set_output(transform="default")
        svd.fit(table)
        return svd, Smoother.of(svd.kernel_.left(table), svd.right_vectors_, svd.singular_values_)

    def _rank(self, shape: tuple[int, int]) -> int:
        most = min(shape)
        if self.n_components is None:
            return min(MAX_COMPONENTS, -(-most // COMPONENTS_SHARE))
        if self.n_components > most:
            warn(f"n_components={self.n_components} exceeds min(n_users, n_items)={most}; keeping {most}", RankWarning)
        return min(self.n_components, most)

    def _validated(self, X: ArrayLike, *, reset: bool = False) -> Array:
        form: dict[str, Any] = {"accept_sparse": "csr", "dtype": FLOATS, "ensure_all_finite": "allow-nan"}
        X = validate_data(self, reject_masked(X, "X"), reset=reset, **form)
        if missing := np.count_nonzero(np.isnan(X.data if sparse.issparse(X) else X)):
            raise ValueError(
                f"X has {missing:,} NaN; what a user did not choose is zero: pass X.fillna(0) or numpy.nan_to_num(X)"
            )
        return canonical(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _warn_if_log(table: Array) -> None:
    """Warn if two or three columns begin with two of many whole numbers, as those of users and items are."""
    if sparse.issparse(table) or table.shape[1] not in (2, 3) or not whole(table[:, :2]):
        return
    if min(len(np.unique(column)) for column in table[:, :2].T) > MANY_IDS:
        warn(
            f"X has {table.shape[1]} items, with whole numbers as a list of interactions has them; if its columns are "
            "user, item and value, make a table of it: scipy.sparse.csr_array((values, (users, items)))",
            LopsidedWarning,
        )
