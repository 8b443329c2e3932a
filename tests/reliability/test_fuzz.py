"""A few hundred random calls of every kind: finite answers or an error of ours, no argument modified, no hang."""

import pytest

from soak.bad_input import KINDS, example, explore
from soak.functions import GOOD, LEFT_OUT, public_functions

EXAMPLES = {"estimators": 500, "settings and methods": 400, "functions": 300, "commands": 60}
CHUNKS = 4


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("kind", KINDS)
def test_random_calls_end_in_finite_answers_or_a_message(kind, chunk):
    def check(data):
        fault = example(kind, data)
        assert not fault, fault

    explore(check, EXAMPLES[kind] // CHUNKS, 1000 + chunk)


def test_every_public_function_is_called():
    assert {each.__name__ for each in GOOD} | set(LEFT_OUT) == set(public_functions())
