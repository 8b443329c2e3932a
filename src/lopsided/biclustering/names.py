"""Biclusters by the names of their rows and columns."""

from numbers import Integral
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_into_dataframe
from sklearn.base import BiclusterMixin
from sklearn.utils.validation import check_is_fitted

from .._core import usual_length
from ..kernel_svd import KernelSVD
from .discriminant import class_means


class NamesBiclusters(BiclusterMixin):
    """Mixin that gives the labels, rows and columns of biclusters the names of a dataframe."""

    row_labels_: np.ndarray
    column_labels_: np.ndarray
    n_clusters_: tuple[int, int]
    svd_: KernelSVD

    def get_submatrix(self, i: int, data: Any) -> Any:
        """Rows and columns of ``data`` in bicluster i; a dataframe keeps its index and column names."""
        if is_into_dataframe(data):
            return nw.from_native(data, eager_only=True)[self.get_indices(i)].to_native()
        return super().get_submatrix(i, data)

    def get_labels(self, data: Any) -> tuple[Any, Any]:
        """Row and column labels as series, whose index is that of a pandas dataframe, and its columns.

        Other libraries that narwhals supports have no index: row labels are in the order of the rows, and column labels
        are a dataframe with the columns "column" and "cluster".

        Examples
        --------
        >>> import pandas as pd
        >>> from lopsided import KernelBiclustering
        >>> table = pd.DataFrame({"red": [9, 8, 0], "blue": [0, 1, 7]}, index=["rose", "tulip", "violet"])
        >>> rows, columns = KernelBiclustering(2).fit(table).get_labels(table)
        >>> rows.index.tolist(), bool(rows["violet"] == columns["blue"])
        (['rose', 'tulip', 'violet'], True)
        """
        check_is_fitted(self)
        if not is_into_dataframe(data):
            kind = type(data).__name__
            raise TypeError(
                f"data must be a dataframe, not {kind}; row_labels_ and column_labels_ hold labels without names"
            )
        expected = len(self.row_labels_), len(self.column_labels_)
        if data.shape != expected:
            raise ValueError(f"data has shape {data.shape}, but the model was fitted to a table of shape {expected}")
        frame = nw.from_native(data, eager_only=True)
        library = nw.get_native_namespace(frame)
        both = (self.row_labels_, self.column_labels_)
        rows, columns = (nw.new_series("cluster", labels, backend=library) for labels in both)
        if hasattr(data, "index"):
            rows, columns = nw.maybe_set_index(rows, index=data.index), nw.maybe_set_index(columns, index=data.columns)
            return rows.to_native(), columns.to_native()
        named = nw.from_dict({"column": frame.columns, "cluster": self.column_labels_.tolist()}, backend=library)
        return rows.to_native(), named.to_native()

    def top_columns(self, k: int | None = None) -> list[np.ndarray]:
        """The k columns most characteristic of each row cluster, best first: the words of a cluster of documents.

        They are those whose approximated kernel values, averaged over the rows of the cluster, exceed the average over
        all rows by most.

        Parameters
        ----------
        k : int, default=None
            Number of columns per cluster; None means 10, or all if they are fewer.

        Returns
        -------
        list of arrays of shape (k,)
            For each row cluster, names of columns if ``fit`` had a dataframe with names, and numbers otherwise.

        Examples
        --------
        >>> import pandas as pd
        >>> from lopsided import KernelBiclustering
        >>> table = pd.DataFrame({"red": [9, 8, 0], "blue": [0, 1, 7]}, index=["rose", "tulip", "violet"])
        >>> model = KernelBiclustering(2).fit(table)
        >>> [str(words[0]) for words in model.top_columns(1)][model.row_labels_[2]]
        'blue'
        """
        check_is_fitted(self)
        m = len(self.column_labels_)
        k = usual_length(m) if k is None else k
        if not (isinstance(k, Integral) and 1 <= k <= m):
            raise ValueError(f"k={k!r} must be a whole number from 1 to the number of columns, {m}")
        U, s, V = self.svd_.left_vectors_, self.svd_.singular_values_, self.svd_.right_vectors_
        excess = ((class_means(U, self.row_labels_, self.n_clusters_[0]) - U.mean(axis=0)) * s) @ V.T
        best = np.argsort(-excess, axis=1, kind="stable")[:, :k]
        names = getattr(self, "feature_names_in_", np.arange(m))
        return list(names[best])
