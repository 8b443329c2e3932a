"""Two thousand random calls: finite answers or an error of ours, no warning of numpy, no argument modified."""

import pytest
from fuzz import faults

CHUNKS, EACH = 10, 200


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_calls_end_in_finite_answers_or_a_message(chunk):
    found = faults((0, chunk * EACH + number) for number in range(EACH))
    assert not found, "\n".join(found)
