"""The oldest versions under test are those that the package needs, and a setting of newer ones changes nothing."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file

from cases import ESTIMATORS, data_for
from lopsided.io import read_matrix

ROOT = Path(__file__).parents[2]
WANTED = re.compile(r"([\w-]+)(?:\[[\w,]+\])?(?:>=|==)([\d.]+)")


def padded(version):
    return tuple(map(int, version.split("."))) + (0,) * (3 - len(version.split(".")))


def test_the_oldest_versions_under_test_are_the_bounds_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    bounds = dict(map(lambda each: WANTED.match(each).groups(), (*project["dependencies"], *extras["test"])))
    lines = (ROOT / "tests" / "oldest.txt").read_text().splitlines()
    tested = dict(found.groups() for line in lines if (found := WANTED.match(line)))
    assert {name: padded(version) for name, version in bounds.items()} == {
        name: padded(version) for name, version in tested.items()
    }


def learned(model):
    """Every array that a fit has left behind, by name; those of sparse matrices too."""
    found = {name: value.toarray() if sparse.issparse(value) else value for name, value in vars(model).items()}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


@pytest.mark.skipif("sparse_interface" not in get_config(), reason="a setting of scikit-learn 1.9")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("of", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_the_sparse_interface_of_scikit_learn_changes_nothing(estimator, of):
    X, y = data_for(estimator)
    if of is not np.asarray and not estimator.__sklearn_tags__().input_tags.sparse:
        pytest.skip("takes dense data alone")
    answers = []
    for interface in ("spmatrix", "sparray"):
        with config_context(sparse_interface=interface):
            answers.append(learned(clone(estimator).fit(of(X), y)))
    assert answers[0].keys() == answers[1].keys() and answers[0]
    for name, value in answers[0].items():
        np.testing.assert_array_equal(value, answers[1][name], err_msg=name)


@pytest.mark.skipif("sparse_interface" not in get_config(), reason="a setting of scikit-learn 1.9")
def test_files_that_scikit_learn_reads_are_arrays_in_either_interface(tmp_path):
    dump_svmlight_file(np.eye(4), np.arange(4), str(tmp_path / "table.svmlight"))
    for interface in ("spmatrix", "sparray"):
        with config_context(sparse_interface=interface):
            matrix = read_matrix(tmp_path / "table.svmlight")[0]
        assert isinstance(matrix, sparse.sparray)
        np.testing.assert_array_equal(matrix.toarray(), np.eye(4))
