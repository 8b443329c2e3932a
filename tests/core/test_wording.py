"""Numbers of things in messages."""

from lopsided._core import count_of


def test_one_is_singular_and_all_else_plural():
    assert [count_of(number, "edge") for number in (0, 1, 2, 6000)] == ["0 edges", "1 edge", "2 edges", "6,000 edges"]
    assert count_of(1, "class", "classes") == "1 class" and count_of(3, "class", "classes") == "3 classes"
