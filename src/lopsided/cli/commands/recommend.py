"""``lopsided recommend``: new items for every user, from who took what."""

import argparse
import re
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from scipy import sparse

from ..._core import count_of
from ...io import factorized, is_time, read_columns
from ...recommendation import KernelRecommender
from ..inputs import as_file, is_empty, known_ids, settings_of, shown_columns
from ..report import PIPE, Report, checked_output

USUAL_NAMES = {
    "user": ("user", "customer", "reader", "source"),
    "item": ("item", "product", "movie", "film", "title", "artist", "track", "song", "book", "isbn", "asin", "target"),
    "weight": ("weight", "rating", "count", "score", "plays", "quantity", "value"),
}
ID = re.compile(r"[ _-]?(id|no|number|name)$")  # at the end of a name, which says no more of its role


def run(options: argparse.Namespace) -> None:
    """Write a table user, item, rank."""
    output = checked_output(options.output or PIPE, options.force)
    report = Report(options)
    with as_file(options.interactions) as path:
        columns = read_columns(path, lambda names: _ids(names, options))
    X, users, items = _interactions(columns, options, report)
    wanted = known_ids(options.of, users) if options.of else users.tolist()
    number = {user: i for i, user in enumerate(users.tolist())}
    rows = np.array([number[user] for user in wanted])
    model = KernelRecommender(options.components, **settings_of(options)).fit(X)
    found = len(model.svd_.singular_values_)
    report.say(f"decomposed into {count_of(found, 'component')} by {model.svd_.solver_.name}", components=found)
    report.write_table(_ranked(model, X, rows, users, items, options), output)
    report.finish()


def _ranked(
    model: KernelRecommender,
    X: sparse.csr_array,
    rows: np.ndarray,
    users: np.ndarray,
    items: np.ndarray,
    options: argparse.Namespace,
) -> dict[str, np.ndarray]:
    """Users, items and ranks; users who have nearly all items get those that are left."""
    left = np.full(len(rows), len(items)) if options.known else len(items) - np.diff(X.indptr)[rows]
    counts = np.minimum(left, options.k)
    who, what, rank = [], [], []
    for k in np.unique(counts[counts > 0]):
        some = rows[counts == k]
        who.append(np.repeat(some, k))
        what.append(model.recommend(X[some], int(k), new_only=not options.known).ravel())
        rank.append(np.tile(np.arange(1, k + 1), len(some)))
    if not who:
        raise ValueError(
            "every user has every item, so there is nothing new to recommend; --known also ranks items that they have"
        )
    number, item, place = (np.concatenate(parts) for parts in (who, what, rank))
    order = np.lexsort((place, number))
    return {"user": users[number[order]], "item": items[item[order]], "rank": place[order]}


def _interactions(
    columns: dict[str, np.ndarray], options: argparse.Namespace, report: Report
) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    names = list(columns)
    roles = {role: _column(names, role, getattr(options, role), place) for place, role in enumerate(USUAL_NAMES)}
    rest = [name for name in names if name not in roles.values()]
    if roles["weight"] is None and len(rest) == 1 and not any(map(_is_usual, names)):
        roles["weight"] = rest[0] if _may_be_weight(rest[0], columns[rest[0]]) else None
    if roles["user"] == roles["item"]:
        raise ValueError(f"users and items are the same column, {roles['user']!r}; name two with --user and --item")
    ends = [columns[str(roles[role])] for role in ("user", "item")]
    (users, u), (items, v) = map(_numbered, ends)
    weights = np.ones(len(u)) if roles["weight"] is None else columns[roles["weight"]]
    if weights.dtype.kind not in "biuf" or not np.isfinite(weights).all():
        raise ValueError(f"weights in {roles['weight']!r} must be finite numbers; --weight names another column")
    report.say(
        f"read {count_of(len(u), 'interaction')} of {count_of(len(users), 'user')} ({roles['user']!r}) and "
        f"{count_of(len(items), 'item')} ({roles['item']!r}), "
        + ("all of weight 1" if roles["weight"] is None else f"weighted by {roles['weight']!r}"),
        interactions=len(u),
        users=len(users),
        items=len(items),
    )
    return sparse.csr_array((weights.astype(float), (u, v)), shape=(len(users), len(items))), users, items


def _ids(names: list[str], options: argparse.Namespace) -> Sequence[str]:
    """The names of the columns of users and items, as far as they are clear."""
    found: list[str | None] = []
    with suppress(ValueError):
        found += [_column(names, role, getattr(options, role), place) for place, role in enumerate(("user", "item"))]
    return [name for name in found if name is not None]


def _column(names: list[str], role: str, given: str | None, place: int) -> str | None:
    """The name of the column of a role: given, usual, or the first and the second."""
    if given is not None:
        if given not in names:
            raise ValueError(f"--{role} {given} is not among the {shown_columns(names)}")
        return given
    plain = [ID.sub("", name.lower()) for name in names]
    usual = next((name for name, word in zip(names, plain, strict=True) if word in USUAL_NAMES[role]), None)
    if usual is not None or role == "weight":
        return usual
    if place >= len(names) or len(names) > 3:
        raise ValueError(f"it is unclear which of the {shown_columns(names)} is the {role}; name it with --{role}")
    return names[place]


def _is_usual(name: str) -> bool:
    return any(ID.sub("", name.lower()) in usual for usual in USUAL_NAMES.values())


def _may_be_weight(name: str, column: np.ndarray) -> bool:
    """Whether the column beside users and items, none of them with a usual name, holds weights: no ids or times."""
    return column.dtype.kind in "iuf" and not ID.search(name.lower()) and not is_time(name, column)


def _numbered(side: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ids of one side, sorted, and the number of each."""
    if is_empty(side).any():
        raise ValueError("some interactions have no user or no item; drop them")
    codes, ids = factorized(np.fromiter(map(str, side), object, len(side)) if side.dtype == object else side)
    order = np.argsort(ids)
    return ids[order], np.argsort(order)[codes]
