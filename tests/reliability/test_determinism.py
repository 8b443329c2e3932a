"""The same seed gives the same bits; threads, budgets and the form of the data change rounding alone."""

import pytest

from soak.determinism import FORMATS, RESOURCES, compared, repeated
from soak.models import estimators


@pytest.mark.parametrize("name", estimators(quick=True))
def test_a_fit_gives_the_same_bits_again(name):
    assert repeated([name], (60,))[2] == []


@pytest.mark.parametrize("name", estimators(quick=True))
def test_threads_blocks_budgets_and_formats_change_rounding_alone(name):
    assert compared([name], (60,), RESOURCES | FORMATS)[2] == []
