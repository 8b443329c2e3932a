"""Graphs from matrices, networkx, tables and files, and what cannot be read."""

import gzip
import sys
from csv import QUOTE_ALL, reader
from datetime import date

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from lopsided import DirectedGraphEmbedding
from lopsided.exceptions import LopsidedWarning
from lopsided.graphs import hide_edges, reconstruct_graph
from lopsided.io import Graph, read_graph

# b -> a, a -> b twice (2 + 3), c -> a, b -> c, c -> c
EDGES = pd.DataFrame({"source": list("baacbc"), "target": list("abbacc"), "weight": [1.0, 2.0, 3.0, 1.0, 0.5, 4.0]})
NO_DATE = pd.to_datetime(["2020-01-01", None])
ADJACENCY = [[0, 1, 0.5], [5, 0, 0], [0, 1, 4]]


RENAMED = EDGES.set_axis(["Src", "DST", "Value"], axis=1)
DIGRAPH = nx.from_pandas_edgelist(EDGES, edge_attr="weight", create_using=nx.MultiDiGraph)


def lines(separator, header=None):
    """The text of the edge list."""
    rows = EDGES.to_csv(index=False, header=False, sep=separator)
    return rows if header is None else separator.join(header) + "\n" + rows


FILES = {
    "csv": ("g.csv", lambda path: EDGES.to_csv(path, index=False)),
    "csv, other names": ("g.csv", lambda path: RENAMED.to_csv(path, index=False)),
    "csv, no header": ("g.csv", lambda path: path.write_text(lines(","))),
    "csv, odd header": ("g.csv", lambda path: path.write_text(lines(",", ("citing", "cited", "times")))),
    "csv, quoted": ("g.csv", lambda path: EDGES.to_csv(path, index=False, quoting=QUOTE_ALL)),
    "csv, carriage returns": ("g.csv", lambda path: path.write_text(lines(","), newline="\r\n")),
    "csv, no newline at the end": ("g.csv", lambda path: path.write_text(lines(",").rstrip())),
    "spreadsheet": ("G.CSV", lambda path: path.write_text(lines(",", EDGES.columns), "utf-8-sig")),
    "spreadsheet, no header": ("g.csv", lambda path: path.write_text(lines(","), "utf-8-sig")),
    "tsv, compressed": ("g.tsv.gz", lambda path: path.write_bytes(gzip.compress(lines("\t", EDGES.columns).encode()))),
    "edgelist": ("g.edgelist", lambda path: path.write_text("# by hand\n" + lines(" ") + "\n# the end")),
    "edgelist of networkx": ("g.edgelist", lambda path: nx.write_edgelist(DIGRAPH, path)),
    "weighted edgelist": ("g.txt", lambda path: nx.write_weighted_edgelist(DIGRAPH, path)),
    "parquet": ("g.parquet", lambda path: pq.write_table(pa.Table.from_pandas(EDGES), path)),
}
TABLES = {
    "pandas": EDGES,
    "pandas, columns shuffled": EDGES[["weight", "target", "source"]],
    "pandas, other names": RENAMED,
    "pandas, unnamed": EDGES.set_axis(range(3), axis=1),
    "pandas, more columns": EDGES.assign(kind="cites", year=2020),
    "pandas, weight first": EDGES.set_axis(["a", "b", "weight"], axis=1)[["weight", "a", "b"]],
    "pandas, nullable": EDGES.astype({"source": "string", "target": "category", "weight": "Float64"}),
    "polars": pl.from_pandas(EDGES),
    "pyarrow": pa.Table.from_pandas(EDGES),
    "networkx": DIGRAPH,
    "tuples": list(EDGES.itertuples(index=False, name=None)),
    "adjacency": pd.DataFrame(ADJACENCY, index=list("bac"), columns=list("bac")),
}


def assert_is_the_graph(graph):
    A, nodes = graph
    assert isinstance(A, sparse.csr_array) and A.has_canonical_format and set(nodes) == set("abc")
    order = [list(nodes).index(node) for node in "bac"]
    np.testing.assert_array_equal(A.toarray()[order][:, order], ADJACENCY)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_every_table_is_the_same_graph(table):
    assert_is_the_graph(read_graph(table))


@pytest.mark.parametrize(("name", "write"), FILES.values(), ids=FILES)
def test_every_file_is_the_same_graph(name, write, tmp_path):
    write(tmp_path / name)
    assert_is_the_graph(read_graph(tmp_path / name))
    assert_is_the_graph(read_graph(str(tmp_path / name)))


def test_nodes_come_in_the_order_in_which_they_appear():
    assert list(read_graph(EDGES).nodes) == ["b", "a", "c"]
    numbers = pd.DataFrame({"u": [30, 10], "v": [20, 30]})
    assert read_graph(numbers).nodes.tolist() == [30, 20, 10]
    graph = nx.DiGraph()
    graph.add_nodes_from("zxy")
    graph.add_edge("x", "y")
    assert list(read_graph(graph).nodes) == ["z", "x", "y"]


def test_a_matrix_is_read_as_it_is_and_not_touched():
    A = sparse.coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    graph = read_graph(A)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 3], [0, 0]])
    assert A.nnz == 3 and graph.nodes.tolist() == [0, 1]
    assert isinstance(graph, Graph)
    assert read_graph(np.eye(2, dtype=np.float32)).adjacency.dtype == np.float32
    assert read_graph([[0, 1], [1, 0]]).adjacency.dtype == np.float64


def test_undirected_edges_count_both_ways():
    graph = nx.Graph([(0, 1), (1, 1)])
    np.testing.assert_array_equal(read_graph(graph).adjacency.toarray(), [[0, 1], [1, 1]])


def test_columns_can_be_named():
    table = EDGES.rename(columns={"source": "citing", "target": "cited", "weight": "times"}).assign(year=2020)
    A, _ = read_graph(table, source="citing", target="cited", weight="times")
    np.testing.assert_array_equal(A.toarray(), ADJACENCY)
    assert read_graph(table, source="citing", target="cited").adjacency.sum() == len(EDGES)
    numbered = table[["year", "cited", "citing"]].set_axis(range(3), axis=1)
    assert read_graph(numbered, source=2, target=1).adjacency.sum() == len(EDGES)
    graph = nx.DiGraph()
    graph.add_edge(0, 1, cost=7.0)
    assert read_graph(graph, weight="cost").adjacency[0, 1] == 7.0


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("1,2\n2,3\n", [1, 2, 3]),
        ("citing,cited\n1,2\n", [1, 2]),
        ("007,8\n8,007\n", ["007", "8"]),
        (f"{'9' * 6000},1\n", ["9" * 6000, "1"]),
        ("1,a\na,1\n", ["1", "a"]),
        ("x,y\nz,x\n", ["x", "y", "z"]),
        ('"a, b",c\n', ["a, b", "c"]),
        ("who,whom,how much\nx,y,2\n", ["x", "y"]),
        ("citing,cited\npaper-1,paper-2\npaper-2,paper-3\n", ["paper-1", "paper-2", "paper-3"]),
        ("1, 2\n\n# no edge\n 2 ,1\n", [1, 2]),
    ],
)
def test_ids_and_headers_of_text_files(text, nodes, tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text(text)
    assert read_graph(path).nodes.tolist() == nodes


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@pytest.mark.parametrize(
    "edge",
    [
        '5" disk,b',
        'a,5"',
        '"a",b"',
        '"a""",b',
        '"a"x",b',
        'a,"b" "c',
    ],
)
def test_a_quote_opens_a_cell_only_where_the_cell_begins(edge, ending, tmp_path):
    """As the csv module has it, which knows neither comments nor blank lines."""
    delimiter = {"csv": ",", "tsv": "\t"}[ending]
    edge = edge.replace(",", delimiter)
    (cells,) = reader(edge.splitlines(keepends=True), delimiter=delimiter)
    path = tmp_path / f"edges.{ending}"
    path.write_text(f"{edge}\n# no{delimiter}edge\n\nu{delimiter}v\n")
    assert read_graph(path, header=False).nodes.tolist() == [*map(str.strip, cells), "u", "v"]


def test_ids_of_tables_are_kept_as_they_are():
    assert read_graph(pd.DataFrame({"source": ["1"], "target": ["2"]})).nodes.tolist() == ["1", "2"]
    mixed = pd.DataFrame({"source": [1, 2], "target": ["x", "y"]})
    assert read_graph(mixed).nodes.tolist() == [1, "x", 2, "y"]


def test_an_index_written_by_pandas_is_not_part_of_an_edge(tmp_path):
    edges = pd.DataFrame({"citing": [7, 8, 6], "cited": [5, 5, 7]}, index=[2, 0, 1])
    expected = read_graph(edges)
    edges.to_parquet(tmp_path / "e.parquet")
    edges.to_csv(tmp_path / "e.csv")
    for form in (tmp_path / "e.parquet", tmp_path / "e.csv", pd.read_csv(tmp_path / "e.csv")):
        A, nodes = read_graph(form)
        assert nodes.tolist() == expected.nodes.tolist() == [7, 5, 8, 6]
        np.testing.assert_array_equal(A.toarray(), expected.adjacency.toarray())


def test_first_lines_are_edges_comments_or_quoted(tmp_path):
    path = tmp_path / "e.edgelist"
    path.write_text("u v\nv w\n")
    assert read_graph(path).nodes.tolist() == ["u", "v", "w"]
    triples = pd.DataFrame({"head": ["a"], "tail": ["b"]})
    assert read_graph(triples).adjacency[0, 1] == 1
    path = tmp_path / "e.csv"
    path.write_text("a,b,\nb,c,2\n")
    with pytest.raises(ValueError, match="edge 0 has the weight nan"):
        read_graph(path)
    path.write_text('# the "first line\nsource,target\n"#py","#np"\n"#np",a\n')
    assert read_graph(path).nodes.tolist() == ["#py", "#np", "a"]
    path.write_text("a,b\na,b\n,\n")
    with pytest.raises(ValueError, match="edge 2 has no source"):
        read_graph(path)


def test_a_first_line_that_may_be_a_header_gives_a_warning(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("author,reader\nann,bob\nbob,eve\n")
    with pytest.warns(LopsidedWarning, match=r"author, reader, is read as an edge, but it may be.*header=True"):
        assert len(read_graph(path).nodes) == 5
    assert read_graph(path, header=True).nodes.tolist() == ["ann", "bob", "eve"]
    assert read_graph(path, source="author", target="reader").nodes.tolist() == ["ann", "bob", "eve"]
    assert len(read_graph(path, header=False).nodes) == 5
    path.write_text("ann,bob\nbob,eve\n")
    assert len(read_graph(path).nodes) == 3
    path.write_text("1,2\n2,3\n")
    assert read_graph(path, header=True).nodes.tolist() == [2, 3]
    for graph in (EDGES, np.eye(2)):
        with pytest.raises(ValueError, match="header=True is for text files"):
            read_graph(graph, header=True)


def test_a_first_line_unlike_all_others_is_a_header(tmp_path):
    path, ring = tmp_path / "e.csv", ["ann", "bob", "cem", "dea", "eve"]
    chords = [f"{u},{v}" for u in ring for v in ring if u != v]
    path.write_text("\n".join(["author,reader", *chords]))
    assert sorted(read_graph(path).nodes) == ring
    pairs = [f"{u}{i},{u}'s friend {i}" for u in ring for i in "abcd"]
    path.write_text("\n".join(["author,reader", *pairs]))
    with pytest.warns(LopsidedWarning, match="it may be a header"):
        assert len(read_graph(path).nodes) == 42


@pytest.mark.parametrize(
    ("names", "third", "weight"),
    [
        (["sender", "receiver", "date"], "2024-05-01", 1),
        (["who", "whom", "timestamp"], "1700000000", 1),
        (["sender", "receiver", "amount"], "3", 3),
        (["from", "to", "Count"], "3", 3),
        (["source", "target", "kind"], "3", 1),
    ],
)
def test_a_third_column_is_a_weight_unless_it_is_a_time(names, third, weight, tmp_path, caplog):
    path = tmp_path / "e.csv"
    path.write_text(f"{','.join(names)}\nann,bob,{third}\nbob,eve,{third}\n")
    with caplog.at_level("INFO", logger="lopsided.io"):
        graph = read_graph(path, header=True)
    assert graph.nodes.tolist() == ["ann", "bob", "eve"] and set(graph.adjacency.data) == {weight}
    use = f"weight '{names[2]}'" if weight > 1 else f"not used: '{names[2]}'"
    assert caplog.messages[0].startswith(f"columns: source '{names[0]}', target '{names[1]}'") and use in caplog.text


@pytest.mark.parametrize(
    ("separator", "cells", "weights"),
    [(";", ["4,45", "-3"], [4.45, -3.0]), ("\t", ["0,5", ",25"], [0.5, 0.25]), (",", ["4.45", "3"], [4.45, 3.0])],
)
def test_weights_may_have_decimal_commas_where_commas_do_not_separate(separator, cells, weights, tmp_path):
    path = tmp_path / "e.csv"
    rows = [["von", "nach", "gewicht"], ["ann", "bob", cells[0]], ["bob", "ann", cells[1]]]
    path.write_text("\n".join(separator.join(row) for row in rows), encoding="utf-8-sig")
    assert read_graph(path).adjacency.data.tolist() == weights


@pytest.mark.parametrize("cells", [("1,234", "5,678"), ("1,5", "2.5")])
def test_commas_that_may_separate_thousands_are_refused(cells, tmp_path):
    path = tmp_path / "e.tsv"
    path.write_text(f"source\ttarget\tweight\nann\tbob\t{cells[0]}\nbob\tann\t{cells[1]}\n")
    with pytest.raises(ValueError, match="'weight' is read as the weights of edges, but holds '1,"):
        read_graph(path)


@pytest.mark.parametrize("unit", [1, 1000])
def test_times_read_as_weights_are_warned_of_unless_the_weights_are_named(unit, tmp_path):
    path = tmp_path / "e.txt"
    path.write_text("".join(f"{u} {v} {(1_700_000_000 + u) * unit}\n" for u, v in [(1, 2), (2, 3), (3, 1)]))
    with pytest.warns(LopsidedWarning, match="look like times.*source='column 1' and target='column 2'"):
        read_graph(path)
    assert set(read_graph(path, source="column 1", target="column 2").adjacency.data) == {1.0}
    read_graph(path, source="column 1", target="column 2", weight="column 3")


def test_a_header_is_seen_above_weights_of_which_some_are_missing(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("s,t,weight\na,b,\nb,c,2\n")
    with pytest.raises(ValueError, match="edge 0 has the weight nan"):
        read_graph(path)


def test_columns_of_a_wide_table_are_known_by_other_names_too(tmp_path):
    table = pd.DataFrame({"when": ["x"], "recipient": ["bob"], "amount": [2.0], "sender": ["ann"]})
    assert read_graph(table).nodes.tolist() == ["ann", "bob"]


@pytest.mark.parametrize(
    "names",
    [
        ("receiver", "sender"),
        ("to_id", "from_id"),
        ("ToNodeId", "FromNodeId"),
        ("target_id", "source_id", "times"),
        ("followed", "follower", "since"),
    ],
)
def test_columns_whose_names_say_a_direction_are_not_read_the_other_way_round(names, tmp_path):
    table = pd.DataFrame([("bob", "ann", 1), ("cem", "ann", 1)]).iloc[:, : len(names)].set_axis(names, axis=1)
    table.to_csv(tmp_path / "e.csv", index=False)
    for given in (table, tmp_path / "e.csv"):
        graph = read_graph(given)
        assert graph.nodes.tolist() == ["ann", "bob", "cem"]
        assert graph.adjacency.toarray().tolist() == [[0, 1, 1], [0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('source,target\n# x\na,"b\nb,c\nc,d\n', 3),
        ('a,b\n"b\n",c\nc,d\n', 2),
        ('a,b,c\nb,c,"1\nc,d,1"\n', 2),
        ('a,"b\n' + "c,d\n" * 50_000, 1),
    ],
    ids=["once", "in_an_id", "in_a_weight", "long"],
)
def test_a_quote_that_its_line_does_not_close_swallows_no_edges(text, line, tmp_path):
    path = tmp_path / "e.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"line {line} opens a quote that it does not close"):
        read_graph(path)


def test_edges_of_networkx_without_a_weight_count_one(tmp_path):
    graph = nx.DiGraph([("a", "b"), ("b", "c")])
    graph.add_edge("c", "a", weight=2.5)
    nx.write_edgelist(graph, tmp_path / "g.edgelist")
    A, nodes = read_graph(tmp_path / "g.edgelist")
    assert nodes.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(A.toarray(), nx.to_numpy_array(graph))


def test_empty_columns_at_the_end_are_ignored(tmp_path):
    path = tmp_path / "e.csv"
    for text in ("source,target,,\na,b,,\nb,a,,\n", "a,b,,\nb,a,,\n", "source,target,,\na,b,x,\nb,a,,y\n"):
        path.write_text(text)
        assert read_graph(path).nodes.tolist() == ["a", "b"]


@pytest.mark.parametrize("form", [sparse.csc_array, sparse.coo_matrix, lambda A: A.toarray(), lambda A: A.astype(bool)])
def test_a_matrix_with_ids_is_read_like_the_matrix(form):
    A = sparse.csr_array(np.array([[0, 1.0, 0], [0, 0, 1], [0, 1, 0]]))
    found, nodes = read_graph(Graph(form(A), ["x", "y", "z"]))
    np.testing.assert_array_equal(found.toarray(), A.toarray())
    assert nodes.tolist() == ["x", "y", "z"] and found.has_canonical_format


def test_an_attribute_that_no_edge_has_is_refused():
    graph = nx.DiGraph()
    graph.add_edge(1, 2, cost=5)
    with pytest.raises(ValueError, match=r"weight='cots'; edges have \['cost'\]"):
        read_graph(graph, weight="cots")
    with pytest.raises(ValueError, match="source='u' names a column of a table, not of DiGraph"):
        read_graph(graph, source="u")
    with pytest.raises(ValueError, match="weight='cost' names a column"):
        read_graph(np.eye(3), weight="cost")


def test_a_lazy_table_must_be_collected():
    with pytest.raises(TypeError, match="collect"):
        read_graph(pl.from_pandas(EDGES).lazy())


def test_ids_that_cannot_be_looked_up_are_refused():
    with pytest.raises(TypeError, match="hashable"):
        read_graph(pd.DataFrame({"source": [[1], [2]], "target": [[2], [1]]}))
    for source in ([{"a": 1}, {"a": 2}], pl.Series([[1, 2], [2, 3]], dtype=pl.Array(pl.Int64, 2))):
        with pytest.raises(TypeError, match="hashable"):
            read_graph(pl.DataFrame({"source": source, "target": ["a", "b"]}))


REFUSED = {
    "few ids": (Graph(np.eye(3), ["a", "b"]), "3 nodes.*got 2 ids"),
    "same ids": (Graph(np.eye(2), ["a", "a"]), "2 nodes.*got 2 ids, 1 of them"),
    "many ids": (Graph(np.eye(3), list("abcc")), "3 nodes.*got 4 ids, 3 of them"),
    "no id": (Graph(np.eye(2), ["a", None]), "None and nan are not ids"),
    "text in a list": ([("a", "b", "much"), ("b", "c")], "real numbers: edge 0 has 'much'"),
    "ambiguous": (pd.DataFrame([[0, 1], [1, 2]]), "may be an adjacency matrix or a list of edges"),
    "dates": (pd.DataFrame({"a": ["x"], "b": ["y"], "t": pd.to_datetime(["2020-01-01"])}), "real numbers.*datetim"),
    "complex": (pd.DataFrame({"a": ["x"], "b": ["y"], "w": [1j]}), "real numbers.*(1j|complex)"),
    "huge": (pd.DataFrame({"a": ["x"], "b": ["y"], "w": pd.Series([10**400], dtype=object)}), "real numbers"),
    "NA": (
        pd.DataFrame({"source": pd.array(["a", None], dtype="string"), "target": ["b", "c"]}),
        "edge 1 has no source",
    ),
    "twice": (
        pd.DataFrame([["a", "b", "c"]], columns=["source", "target", "source"]),
        "several of the columns 'source', 'target', 'source' are called 'source'",
    ),
    "wide": (pd.DataFrame({"a": [1], "b": [1], "c": [1], "d": [1]}), "4 columns.*source=..., target=..."),
    "narrow": (pd.DataFrame({"source": [1]}), "unclear which of the 1 columns"),
    "none": (pd.DataFrame({"source": ["a", None], "target": ["b", "c"]}), "edge 1 has no source"),
    "no time": (pd.DataFrame({"source": NO_DATE, "target": NO_DATE[::-1]}), "edge 0 has no target"),
    "no span": (pd.DataFrame({"source": NO_DATE - NO_DATE[0], "target": ["b", "c"]}), "edge 1 has no source"),
    "no time of pyarrow": (pa.table({"source": NO_DATE, "target": ["b", "c"]}), "edge 1 has no source"),
    "no date of polars": (
        pl.DataFrame({"source": [date(2020, 1, 1), None], "target": ["b", "c"]}),
        "edge 1 has no source",
    ),
    "nan": (pd.DataFrame({"source": ["a"], "target": [float("nan")]}), "edge 0 has no target"),
    "infinite": (pd.DataFrame({"source": [1], "target": [2], "weight": [float("inf")]}), "edge 0 has the weight inf"),
    "text": (
        pd.DataFrame({"source": [1, 2], "target": [2, 3], "weight": ["1", "much"]}),
        "real numbers: edge 1 has 'much'",
    ),
    "lists": (
        pd.DataFrame({"source": [1], "target": [2], "weight": [[1.0, 2.0]]}),
        r"real numbers: edge 0 has \[1.0, 2.0\]",
    ),
    "structs": (pl.DataFrame({"source": [1], "target": [2], "weight": [{"a": 1, "b": 2}]}), "real numbers: edge 0 has"),
    "lists of networkx": (
        nx.DiGraph([(0, 1, {"weight": [1, 2]}), (1, 0, {"weight": [1]})]),
        r"real numbers: edge 0 has \[1, 2\]",
    ),
    "underscores": ([("a", "b", "1_000")], "real numbers: edge 0 has '1_000'"),
    "overflowing sum": (2 * [("a", "b", 1.5e308)], "repeated edge overflow when they are added"),
    "empty": (EDGES.iloc[:0], "no edges"),
    "no nodes": (nx.DiGraph(), "no nodes"),
    "nan of networkx": (
        nx.DiGraph([("a", np.nan), ("b", np.nan)]),
        r"a node id is missing \(nan\), so its 2 edges may belong to different nodes",
    ),
    "square": (np.ones((2, 3)), r"shape \(2, 3\).*KernelSVD"),
    "array of pairs": (
        np.array([[0, 1], [1, 2], [2, 0]]),
        r"shape \(3, 2\).*edges to read_graph as a table, pandas.DataFrame\(edges",
    ),
    "NaN": (np.array([[0.0, np.nan], [0.0, 0.0]]), "adjacency contains NaN"),
    "ending": ("graph.xlsx", "ends with '.xlsx', not with one of .csv"),
}


@pytest.mark.parametrize(("graph", "message"), REFUSED.values(), ids=REFUSED)
def test_values_that_cannot_be_a_graph_are_refused(graph, message):
    with pytest.raises(ValueError, match=message):
        read_graph(graph)


@pytest.mark.parametrize(
    "thing",
    [
        None,
        {0: [1]},
        3,
        {(0, 1), (1, 0)},
        hide_edges(np.eye(9, k=1), share=0.2),
        (sparse.eye_array(2), ["a", "b"]),
    ],
    ids=["None", "dict", "number", "set", "hidden", "pair"],
)
def test_an_object_that_is_not_a_graph_is_refused_by_its_type(thing):
    for read in (read_graph, DirectedGraphEmbedding(2).fit):
        with pytest.raises(
            TypeError, match=rf"a {type(thing).__name__} is not a graph; pass .*Graph\(adj.*hide_edges, its .adj"
        ):
            read(thing)


def test_an_error_lists_a_few_columns_of_many():
    with pytest.raises(ValueError, match=r"'0', '1', .*'5', \.\.\., '494', .*'499' ") as error:
        read_graph(pd.DataFrame(np.eye(500), index=range(500, 1000)))
    assert len(str(error.value)) < 400


def test_a_first_line_without_the_names_that_are_given_is_shown(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("X,Y\na,b\n")
    with pytest.raises(ValueError, match=r"e.csv': the first line, 'X', 'Y', has none of the columns 'x', 'y'"):
        read_graph(path, source="x", target="y")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("e.csv", b"# a\n\na,b\nc\n", "line 4 has 1 cell, .*should be 2"),
        ("e.csv", b"a\n", "line 1 has 1 cell, .*should be 2"),
        ("e.csv", b"a,b\n\xff,c\n", "line 2 is not UTF-8 text, at the byte 0xff"),
        ("e.csv", b"\xff\xfe\x00", "cannot read"),
        ("e.csv", b"", "no edges"),
        ("e.csv.gz", b"not gzip", "cannot read"),
        ("e.csv.gz", gzip.compress(b"a,b\n" * 99)[:-9], "cannot read"),
        ("e.edgelist", b"a b {'weight': }\n", "but holds 'None', which is not a number"),
        ("e.parquet", b"PAR1", "cannot read"),
    ],
    ids=["ragged", "single", "latin", "bytes", "empty", "not_gzip", "cut_off", "attributes", "parquet"],
)
def test_unreadable_files_say_so(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_graph(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("e.txt", "1, 2, 4\n2, 3, 5\n"),
        ("e.edges", "source, target, weight\n1, 2, 4\n2, 3, 5\n"),
        ("e.txt", "1,2,4\n2,3,5\n"),
        ("e.txt", "# from to\n1\t2\t4\n2\t3\t5\n"),
        ("e.txt", " 1   2 4 \n\n2\t 3  5\r\n"),
        ("e.csv", "source;target;weight\n1;2;4\n2;3;5\n"),
        ("e.csv", "1\t2\t4\n2\t3\t5\n"),
        ("e.tsv", "1|2|4\n   \n2|3|5\n"),
    ],
)
def test_separators_are_guessed_where_the_file_extension_promises_another(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    A, nodes = read_graph(tmp_path / name)
    assert nodes.tolist() == [1, 2, 3]
    np.testing.assert_array_equal(A.toarray(), [[0, 4, 0], [0, 0, 5], [0, 0, 0]])


@pytest.mark.parametrize("name", ["missing.csv", "missing.parquet"])
def test_a_missing_file_raises_file_not_found(name, tmp_path):
    with pytest.raises(FileNotFoundError, match=name):
        read_graph(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "text"),
    [("edges.csv", "ann,bob\n1,ann\n2,bob\n"), ("edges.txt", "bob bar\nbob 12\nann 13\n")],
)
def test_a_first_line_with_ids_of_other_lines_is_an_edge(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    assert read_graph(path).adjacency.nnz == 3


def test_ids_that_begin_like_comments_give_a_warning(tmp_path):
    path, table = tmp_path / "tags.csv", pd.DataFrame({"source": ["#py", "#np", "a"], "target": ["#np", "b", "#py"]})
    table.to_csv(path, index=False)
    with pytest.warns(LopsidedWarning, match="2 lines that look like edges are skipped.*line 2.*quotes"):
        assert read_graph(path).adjacency.nnz == 1
    table.to_csv(path, index=False, quoting=QUOTE_ALL)
    assert read_graph(path).adjacency.nnz == 3
    path.write_text("source,target\n# one, two\na,b\n# three, four\n")
    assert read_graph(path).adjacency.nnz == 1


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64])
def test_repeated_edges_of_small_integers_are_added(kind):
    A = sparse.coo_array((np.full(3, 100, kind), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    np.testing.assert_array_equal(read_graph(A).adjacency.toarray(), [[0, 200], [100, 0]])


def test_numpy_weights_in_edge_lists_of_networkx_are_read(tmp_path):
    path = tmp_path / "graph.edgelist"
    nx.write_edgelist(nx.DiGraph([(1, 2, {"weight": np.float64(2.5)}), (2, 1, {"weight": np.int64(3)})]), path)
    np.testing.assert_array_equal(read_graph(path).adjacency.toarray(), [[0, 2.5], [3, 0]])
    path.write_text("1 2 {}\n2 3 {1}\n")
    with pytest.raises(ValueError, match=r"but holds '\{1\}', which is not a number"):
        read_graph(path)


def test_without_pyarrow_a_file_names_the_package_to_install(tmp_path, monkeypatch):
    EDGES.to_csv(tmp_path / "e.csv")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for path in (tmp_path / "e.csv", "e.parquet"):
        with pytest.raises(ImportError, match=r"pip install 'lopsided\[graph\]'"):
            read_graph(path)
    assert len(read_graph(EDGES).nodes) == 3


@pytest.mark.parametrize(
    ("edges", "adjacency"),
    [
        ([("a", "b"), ("b", "c")], [[0, 1, 0], [0, 0, 1], [0, 0, 0]]),
        ([("a", "b", 2.0), ("b", "a")], [[0, 2], [1, 0]]),
        ((("a", "b"), ("a", "b")), [[0, 2], [0, 0]]),
        ([["a", "b"], ["b", "a"]], [[0, 1], [1, 0]]),
        ([(0, 1), (1, 0)], [[0, 1], [1, 0]]),
        ([(7, 8, 0.5), (8, 9, 0.5), (9, 7, 1)], [[0, 0.5, 0], [0, 0, 0.5], [1, 0, 0]]),
    ],
)
def test_a_list_of_tuples_is_a_table_of_edges(edges, adjacency):
    A, nodes = read_graph(edges)
    np.testing.assert_array_equal(A.toarray(), adjacency)
    assert nodes.tolist() == list(dict.fromkeys(node for edge in edges for node in edge[:2]))


@pytest.mark.parametrize("labels", [list("cab"), [10, 30, 20], range(4)], ids=str)
def test_a_square_table_with_equal_labels_is_an_adjacency(labels):
    K = np.arange(len(labels) ** 2).reshape(len(labels), -1)
    A, nodes = read_graph(pd.DataFrame(K, index=labels, columns=labels))
    np.testing.assert_array_equal(A.toarray(), K)
    assert nodes.tolist() == list(labels)


def test_a_square_table_whose_labels_come_in_another_order_is_the_same_adjacency():
    A = pd.DataFrame(ADJACENCY, index=list("bac"), columns=list("bac"))
    graph = read_graph(A[["a", "c", "b"]])
    assert graph.nodes.tolist() == list("bac")
    np.testing.assert_array_equal(graph.adjacency.toarray(), ADJACENCY)


@pytest.mark.parametrize("names", [list("bcd"), list("bc"), list("bcx")])
def test_a_table_whose_rows_and_columns_share_some_labels_is_refused(names):
    """As pandas.crosstab gives if not every source is a target."""
    with pytest.raises(ValueError, match=r"'b' labels a row and a column.*reindex"):
        read_graph(pd.DataFrame(np.eye(3, len(names)), index=list("abe"), columns=names))


def test_columns_that_cannot_be_edges_are_refused(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("1 2 3 4\n2 3 4 5\n")
    with pytest.raises(ValueError, match="4 cells and no header"):
        read_graph(path)
    with pytest.raises(ValueError, match="source and target are the same column, 'a'"):
        read_graph(pd.DataFrame({"a": [1, 2], "b": [2, 3]}), source="a", target="a")


def test_columns_of_files_without_a_header_are_named_by_position(tmp_path):
    path = tmp_path / "calls.csv"
    path.write_text("2021-03-01;ann;bob;3\n2021-03-02;bob;cem;4\n")
    A, nodes = read_graph(path, source="column 2", target="column 3", weight="column 4")
    assert nodes.tolist() == ["ann", "bob", "cem"]
    np.testing.assert_array_equal(A.toarray(), [[0, 3, 0], [0, 0, 4], [0, 0, 0]])
    with pytest.raises(ValueError, match=r"the first line, .* has none of the columns 'column 3', 'column 5'"):
        read_graph(path, source="column 3", target="column 5")


def test_spaces_separate_cells_where_nothing_else_does(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source target\nann bob\nbob cem\n")
    assert read_graph(path).nodes.tolist() == ["ann", "bob", "cem"]


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("header", ["", "from{0}to{0}weight\n"])
def test_a_decimal_comma_in_the_first_line_separates_no_cells(header, separator, tmp_path):
    path = tmp_path / "graph.csv"
    path.write_text((header + "a{0}b{0}1,5\nb{0}c{0}2,25\nc{0}a{0}0,5\n").format(separator))
    A, nodes = read_graph(path)
    assert nodes.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(A.toarray(), [[0, 1.5, 0], [0, 0, 2.25], [0.5, 0, 0]])


@pytest.mark.parametrize("line", ["n2,n2,", "7.5,3.5,"])
def test_a_column_without_any_weight_is_refused(line, tmp_path):
    path = tmp_path / "graph.csv"
    path.write_text(f"source,target,weight\n{line}\n")
    with pytest.raises(ValueError, match="weight"):
        DirectedGraphEmbedding(1).fit(str(path))


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "b"), ("a",)], r"edge 1 is \('a',\), with length 1; an edge has a source, a target"),
        ([("a", "b", 1, "x")], "edge 0 is .* with length 4"),
        ([(0, 1), (1, 2, 3, 4)], "edge 1 is .* with length 4"),
        ([["a", "b"], ["a"]], "edge 1 is .* with length 1"),
    ],
)
def test_edges_of_other_lengths_are_named(edges, message):
    with pytest.raises(ValueError, match=message):
        read_graph(edges)
    assert read_graph([(0, 1, 0, 0)] * 4).nodes.tolist() == [0, 1, 2, 3]  # these are the rows of a matrix


def test_ids_of_every_library_are_strings_of_python():
    for table in (EDGES, pl.from_pandas(EDGES), pa.Table.from_pandas(EDGES)):
        assert set(map(type, read_graph(table).nodes)) == {str}


def test_infinities_of_both_signs_are_refused_without_a_word_of_numpy():
    A = np.eye(30, dtype=np.float32)
    A[0, 0], A[1, 1] = np.inf, -np.inf
    with pytest.raises(ValueError, match="adjacency contains infinity"):
        read_graph(A)
    with pytest.raises(ValueError, match="source contains infinity"):
        reconstruct_graph(A, A, np.eye(30))


@pytest.mark.parametrize("separator", [";", "\t"])
def test_commas_within_ids_do_not_separate_where_another_sign_is_in_every_line(separator, tmp_path):
    path = tmp_path / "e.csv"
    rows = [["Smith, J.", "Doe", "2"], ["Doe", "Li", "3"], ["Li", "Smith, J.", "1"]]
    path.write_text("".join(separator.join(row) + "\n" for row in rows))
    assert read_graph(path).nodes.tolist() == ["Smith, J.", "Doe", "Li"]
    path.write_text(separator.join(["a", "b", "1.234,5"]) + "\n" + separator.join(["b", "c", "2,5"]))
    with pytest.raises(ValueError, match="holds '1.234,5', which is not a number"):
        read_graph(path)
    path.write_text(f"a{separator}b,c\nc,a{separator}b\n")
    assert read_graph(path).nodes.tolist() == [f"a{separator}b".strip(), "c"]


@pytest.mark.parametrize("labels", [list("abc"), [1, 2, 3], list("abcdef")])
def test_a_matrix_with_ids_in_a_file_is_not_taken_for_edges(labels, tmp_path):
    path, A = tmp_path / "a.csv", pd.DataFrame(np.eye(len(labels)), index=labels, columns=labels)
    A.to_csv(path)
    for given in (path, pd.read_csv(path)):
        with pytest.raises(ValueError, match="is an adjacency matrix, with ids.*index_col=0"):
            read_graph(given)
    path.write_text("0,1,2\n1,2,1\n2,0,5\n")
    assert read_graph(path).adjacency.toarray().tolist() == [[0, 2, 0], [0, 0, 1], [5, 0, 0]]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("e.edges", "% asym unweighted\n% 2 3 3\n1 2\n2 3\n"),
        ("e.txt", "%%MatrixMarket of a kind\n# and more\n%\n1\t2\n2\t3\n"),
        ("e.csv", "sep=;\nsource;target\n1;2\n2;3\n"),
        ("e.csv", '\ufeff"sep=;"\r\n1;2\r\n2;3\r\n'),
    ],
)
def test_preambles_of_other_programs_are_no_edges(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    assert read_graph(path).nodes.tolist() == [1, 2, 3]
    path.write_text(f"{text}4\n", "utf-8")
    with pytest.raises(ValueError, match=f"line {len(text.splitlines()) + 1} has 1 cell"):
        read_graph(path)


def test_ids_that_begin_like_a_preamble_are_ids(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("%20a,sep=b\nsep=b,%20a\n")
    assert read_graph(path).nodes.tolist() == ["%20a", "sep=b"]


def test_one_number_written_in_two_ways_is_warned_of(tmp_path):
    """As pandas writes integers of which some are missing."""
    path = tmp_path / "e.csv"
    path.write_text("source,target\n1,2.0\n2,3.0\n")
    with pytest.warns(LopsidedWarning, match="'2' and '2.0' are read as different nodes"):
        assert len(read_graph(path).nodes) == 4
    path.write_text("source,target\n1.0,2.0\n2.0,1.1\n")
    assert read_graph(path).nodes.tolist() == ["1.0", "2.0", "1.1"]
