"""The page of statements lists every numbered statement of the papers, each with a test that exists."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "statements.md").read_text()
KINDS = "Theorem|Proposition|Corollary|Remark|Definition|Algorithm|Equation|Table|Figure"
ROMAN = {"I": 1, "II": 2, "III": 3, "IV": 4}


def upto(count):
    return {str(number) for number in range(1, count + 1)}


NUMBERED = {  # what the documents number, by the headings of the page
    "Suykens": {
        "Equation": upto(22),
        "Theorem": upto(2),
        "Corollary": upto(5),
        "Remark": upto(4),
        "Figure": upto(2),
    },
    "Tao": {
        "Definition": {"2.1"},
        "Proposition": {"2.2", "2.4", "2.5"},
        "Remark": {"2.3"},
        "Algorithm": upto(1),
        "Equation": upto(18),
        "Table": upto(9),
        "Figure": upto(6),
    },
    "The poster": {
        "Definition": {"1", "3"},
        "Theorem": {"2"},
        "Proposition": {"4"},
        "Equation": upto(8),
    },
    "He et al.": {
        "Definition": upto(1),
        "Proposition": upto(2),
        "Algorithm": upto(1),
        "Equation": upto(14),
        "Table": upto(4),
        "Figure": upto(1),
    },
    "Zhang": {
        "Proposition": upto(1),
        "Equation": upto(12),
        "Table": upto(1),
        "Figure": upto(1),
    },
}


def rows_of(document):
    """The cells of every row in the section of a document."""
    (section,) = (part for part in re.split(r"^##+ ", PAGE, flags=re.MULTILINE) if part.startswith(document))
    lines = [line for line in section.splitlines() if line.startswith("| ") and not line.startswith("| statement")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def named_in(statement):
    """Kinds and numbers that a first cell such as "Equations 6 to 8, Theorem 2" names."""
    for kind, numbers in re.findall(rf"({KINDS})s? ((?:[\dIV.]+(?:, | and | to )?)+)", statement, flags=re.IGNORECASE):
        for first, last in re.findall(r"([\dIV.]+)(?: to ([\dIV.]+))?", numbers):
            first = str(ROMAN.get(first, first))
            for number in range(int(first), int(last) + 1) if last else (first,):
                yield kind.capitalize(), str(number)


@pytest.mark.parametrize("document", NUMBERED)
def test_every_numbered_statement_has_a_row_and_no_other_is_named(document):
    named = {pair for row in rows_of(document) for pair in named_in(row[0])}
    assert named == {(kind, number) for kind, numbers in NUMBERED[document].items() for number in numbers}


@pytest.mark.parametrize("document", NUMBERED)
def test_every_row_names_what_implements_it_and_a_test(document):
    for row in rows_of(document):
        assert len(row) == 4, row
        assert re.search(r"`(lopsided\.|python benchmarks/)", row[2]), row
        assert re.search(r"`test_\w+`", row[3]), row
