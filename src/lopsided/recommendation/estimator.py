"""Recommendation from the kernel SVD of a table of users and items."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._core import (
    FLOATS,
    Array,
    ArrayLike,
    Estimator,
    atomic_fit,
    by_rows,
    canonical,
    dense,
    gate,
    jobs,
    reject_masked,
    seed_of,
)
from ..exceptions import LopsidedWarning, RankWarning, warn
from ..kernel_svd import KernelSVD, best_columns, pairs_left_out
from ..kernels import Association

# Both chosen on the part `valid` of lastfm and citeulike; `python benchmarks/recommend.py ablation` changes them.
MAX_COMPONENTS = 128
POPULARITY = 0.25
COMPONENTS_SHARE = 4  # of min(n_users, n_items) in small tables, where more would reproduce the table itself
OF_KERNEL_SVD = ("tol", "random_state", "n_jobs", "memory_budget")  # parameters of the decomposition


class KernelRecommender(Estimator):
    """Recommendation of items to users, from the kernel SVD of a table of interactions.

    The association K = U diag(s) V^T of users and items is smoothed: a user with the row k of K scores the items

        k (K^T K + t I)^-1 K^T K diag(c)^p,  with t = s_q^2,

    where q is the number of components and c_j the popularity of item j plus the mean popularity. This is ridge
    regression of every item on all items: directions of the table well above s_q are kept, weaker ones damped in
    proportion to s^2. The q leading components are treated exactly and the others to first order,
    s^2 / (s^2 + t) ~ s^2 / (2 t), which is continuous at s_q and needs only sparse products. A score depends on the
    user's row alone, so new users need no refitting.

    Parameters
    ----------
    n_components : int or None, default=None
        q. None means 128, or a quarter of the smaller side of the table if that is less.
    kernel : "association" or Association, default="association"
        Normalisation of the table by the sums of its rows and columns.
    popularity : float, default=0.25
        p. 0 ranks items by association, which favours rare ones; 0.5 undoes the kernel's normalisation by popularity.
    tol, random_state, n_jobs, memory_budget : default=0.05, None, None, None
        As in ``KernelSVD``; rankings change little below 0.05.

    Attributes
    ----------
    svd_ : KernelSVD
        The decomposition, with embeddings of users and of items, ``nearest_left`` and ``transform_right``.
    threshold_ : float
        t.
    item_weights_ : array of shape (n_items,)
        c^p.
    n_features_in_ : int
        Number of items.

    See Also
    --------
    KernelSVD.nearest_right : Ranking by the leading components alone, faster on large tables.

    Notes
    -----
    Cost of ``fit``: O(nnz q) per product. Cost of ``recommend`` for b users: O(b m q), and the sparse product of their
    rows with K^T K. Nothing of the size of the table, or of items x items, is stored.

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
        "kernel": [StrOptions({"association"}), Association],
        "popularity": [Interval(Real, 0, None, closed="left")],
        **{name: KernelSVD._parameter_constraints[name] for name in OF_KERNEL_SVD},
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "association",
        popularity: float = POPULARITY,
        tol: float = 0.05,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_budget: float | str | None = None,
    ) -> None:
        self.n_components, self.kernel, self.popularity = n_components, kernel, popularity
        self.tol, self.random_state, self.n_jobs, self.memory_budget = tol, random_state, n_jobs, memory_budget

    @atomic_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Decompose a table X of shape (n_users, n_items): counts, ratings, or ones where a user chose an item."""
        self._validate_params()
        table = self._validated(X, reset=True)
        settings = {name: getattr(self, name) for name in OF_KERNEL_SVD} | {"random_state": seed_of(self.random_state)}
        svd = KernelSVD(self._rank(table.shape), kernel=self.kernel, **settings).set_output(transform="default")
        self.svd_ = svd.fit(table)
        s = self.svd_.singular_values_
        self.threshold_ = float(np.square(s[s > 0][-1])) if (s > 0).any() else 1.0
        counts = np.asarray(abs(table).sum(axis=0)).ravel().astype(table.dtype)
        self._popularity = counts
        self.item_weights_ = (counts + counts.mean()) ** table.dtype.type(self.popularity)
        self._associations = self.svd_.kernel_.left(table)
        return self

    @gate
    def recommend(self, X: ArrayLike, k: int = 10, *, new_only: bool = True) -> np.ndarray:
        """Recommend k items to each user, best first.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, n_items)
            Rows of users, of the table of ``fit`` or new.
        k : int, default=10
            Number of items per user.
        new_only : bool, default=True
            Whether to leave out items that the user has already, where X is not zero.

        Returns
        -------
        array of shape (n, k)
            Item numbers. Users without any entry get the most popular items, with a warning.
        """
        check_is_fitted(self)
        X = self._validated(X)
        left_out = pairs_left_out(X if new_only else None, X.shape, k)
        rows = self.svd_.kernel_.left(X)
        silent = ~np.asarray(abs(X).sum(axis=1) > 0).ravel()
        if silent.any():
            warn(
                f"{np.count_nonzero(silent)} of {len(silent)} users have no interactions and get the most popular "
                "items; leave them out for no answer",
                LopsidedWarning,
            )

        turned = by_rows(self._associations.T)  # once: scipy would convert it for every block

        def score(users: slice) -> np.ndarray:
            scores = self._scores(rows[users], turned)
            scores[silent[users]] = self._popularity
            return scores

        with jobs(self.n_jobs, self.memory_budget):
            return best_columns(score, left_out, k)

    def _scores(self, rows: Array, turned: Array) -> np.ndarray:
        """Smoothed scores of users with the given rows of K, for all items; ``turned`` is K^T."""
        K, V, t = self._associations, self.svd_.right_vectors_, self.threshold_
        squares = np.square(self.svd_.singular_values_)
        beyond_first_order = squares / (squares + t) - squares / (2 * t)
        found = ((rows @ V) * beyond_first_order) @ V.T
        found += dense((rows @ turned) @ K) / found.dtype.type(2 * t)
        return found * self.item_weights_

    def _rank(self, shape: tuple[int, int]) -> int:
        most = min(shape)
        if self.n_components is None:
            return min(MAX_COMPONENTS, -(-most // COMPONENTS_SHARE))
        if self.n_components > most:
            warn(f"n_components={self.n_components} exceeds min(n_users, n_items)={most}; {most} are kept", RankWarning)
        return min(self.n_components, most)

    def _validated(self, X: ArrayLike, *, reset: bool = False) -> Array:
        X = validate_data(self, reject_masked(X, "X"), accept_sparse="csr", dtype=FLOATS, reset=reset)
        return canonical(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
