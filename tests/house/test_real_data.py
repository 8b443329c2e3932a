"""Laws on public graphs, looked for in $LOPSIDED_DATA; skipped where they are not."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import svds

from lopsided import KernelSVD
from lopsided.kernels import RBF, SNE

DATA = Path(os.environ.get("LOPSIDED_DATA", Path(__file__).parents[3] / "shared" / "data"))


def adjacency(name):
    path = DATA / "graphs" / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"{path.name} is not in $LOPSIDED_DATA")
    with np.load(path) as file:
        row, col, n = file["row"], file["col"], int(file["n_nodes"])
    return sparse.csr_array((np.ones(len(row)), (row, col)), shape=(n, n))


@pytest.mark.parametrize(("name", "kernel"), [("cora", SNE()), ("citeseer", RBF(1.0))], ids=repr)
def test_the_structured_answer_is_that_of_the_dense_matrix(name, kernel):
    A = adjacency(name)
    model = KernelSVD(10, kernel=kernel).fit(A)
    K = kernel(A.toarray(), A.T.toarray())
    s = svds(K, 10, return_singular_vectors=False, rng=0)
    np.testing.assert_allclose(model.singular_values_, np.sort(s)[::-1], rtol=1e-9)
    np.testing.assert_allclose(K @ model.right_vectors_, model.left_vectors_ * model.singular_values_, atol=1e-9 * s[0])


def test_a_matrix_on_which_divide_and_conquer_may_fail_is_decomposed():
    """scipy's gesdd has been seen to give up on this matrix."""
    A = adjacency("citeseer")
    A = (A + sparse.eye_array(A.shape[0])).tocsr()[:, :1200]
    model = KernelSVD(5, kernel=RBF(np.sqrt(10)), solver="lapack", compatibility="random", random_state=0).fit(A)
    krylov = KernelSVD(5, kernel=RBF(np.sqrt(10)), solver="krylov", compatibility="random", random_state=0).fit(A)
    np.testing.assert_allclose(model.singular_values_, krylov.singular_values_, rtol=1e-9)
