"""Biclusters are found in a sample of rows, and all rows in dask are assigned to them."""

import dask
import dask.array as da
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_biclusters
from sklearn.metrics import adjusted_rand_score

from lopsided import ImageMixtures, KernelBiclustering, KernelRecommender

X, ROWS, _ = make_biclusters((600, 40), 3, noise=1, minval=10, shuffle=False, random_state=0)
ORDER = np.random.default_rng(0).permutation(len(X))
X, TRUTH = X[ORDER], ROWS.argmax(axis=0)[ORDER]


def in_dask(table, height=150):
    if not sparse.issparse(table):
        return da.from_array(table, chunks=(height, table.shape[1]))
    parts = [dask.delayed(table[i : i + height]) for i in range(0, table.shape[0], height)]
    return da.concatenate([da.from_delayed(part, (height, table.shape[1]), meta=table[:0]) for part in parts])


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("reading", ["auto", "counts"])
def test_rows_in_dask_are_assigned_as_in_memory(is_sparse, reading, scheduler):
    table = sparse.csr_array(np.where(X > 5, X, 0)) if is_sparse else X - X.min()
    model = KernelBiclustering(3, reading=reading, random_state=0).fit(table[:200])
    found = model.predict(in_dask(table))
    assert isinstance(found, da.Array) and found.shape == (600,)
    assert np.array_equal(found.compute(), model.predict(table))
    assert adjusted_rand_score(TRUTH, found.compute()) > 0.95
    with pytest.raises(ValueError, match="X has 39 features, but the model was fitted on 40"):
        model.predict(in_dask(table)[:, :39])


@pytest.mark.parametrize("model", [KernelBiclustering(3), KernelRecommender(), ImageMixtures()], ids=repr)
def test_what_needs_the_whole_table_does_not_read_it_silently(model):
    with pytest.raises(TypeError, match=r"X is a dask collection .* pass X.compute\(\) if it fits, or a sample"):
        model.fit(in_dask(X))
