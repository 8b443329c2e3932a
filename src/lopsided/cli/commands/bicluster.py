"""``lopsided bicluster``: clusters of the rows and of the columns of a table."""

import argparse

import numpy as np

from ..._core import count_of
from ...biclustering import KernelBiclustering
from ..inputs import numeric_table, settings_of
from ..report import PIPE, Report, checked_output


def run(options: argparse.Namespace) -> None:
    """Write a table side, name, cluster."""
    output = checked_output(options.output or PIPE, options.force)
    report = Report(options)
    X, rows, columns, _ = numeric_table(options.table, options.drop, may_miss=True)
    report.say(
        f"read {count_of(X.shape[0], 'row')} and {count_of(X.shape[1], 'column')}", rows=X.shape[0], columns=X.shape[1]
    )
    model = KernelBiclustering(options.k, **settings_of(options)).fit(X)
    found = len(np.unique(model.row_labels_))
    report.say(f"found {count_of(found, 'cluster')}; columns have the number of the rows they go with", clusters=found)
    names = [str(name) for side in (rows, columns) for name in side.tolist()]
    sides = ["row"] * len(rows) + ["column"] * len(columns)
    labels = np.concatenate([model.row_labels_, model.column_labels_])
    report.write_table({"side": sides, "name": names, "cluster": labels}, output)
    report.finish()
