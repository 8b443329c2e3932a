"""Memory budgets: what they say, and what is free."""

import pytest

from lopsided._core import budget_bytes


@pytest.mark.parametrize(
    ("text", "number"),
    [("1.5GB", 1.5e9), ("500 mb", 5e8), ("12kB", 12e3), ("7", 7), (" 2TB ", 2e12), (1024, 1024), (3.7, 3), ("64B", 64)],
)
def test_budgets_are_read(text, number):
    assert budget_bytes(text) == number


def test_no_budget_is_a_share_of_what_is_free():
    assert 0 < budget_bytes(None) < 1e15


def test_the_limit_of_a_container_bounds_the_budget(tmp_path, monkeypatch):
    for name, said in (("max", "4000"), ("current", "3000"), ("stat", "anon 2000\ninactive_file 600")):
        (tmp_path / name).write_text(said)
    files = (str(tmp_path / "max"), str(tmp_path / "current"), str(tmp_path / "stat"), "inactive_file")
    monkeypatch.setattr("lopsided._core.memory.GROUPS", (files,))
    assert budget_bytes(None) == 400
    (tmp_path / "max").write_text("max")
    assert budget_bytes(None) > 1e6


@pytest.mark.parametrize("text", ["lots", "5XB", "", "-3GB", "1e9GB", 0, -5, float("nan"), "1.2.3GB"])
def test_budgets_that_are_not_sizes_are_refused(text):
    with pytest.raises(ValueError, match="memory_budget"):
        budget_bytes(text)
