"""Two thousand random calls: finite answers or an error of ours, no warning of numpy, no argument modified."""

import pytest

from soak.calls import one_call

CHUNKS, EACH = 10, 200


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_calls_end_in_finite_answers_or_a_message(chunk):
    found = [fault for number in range(EACH) if (fault := one_call((0, chunk * EACH + number)))]
    assert not found, "\n".join(found)
