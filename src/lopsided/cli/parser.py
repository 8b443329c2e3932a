"""The arguments of every command. Nothing numerical is imported here, so that help is immediate."""

import argparse
from collections.abc import Callable
from typing import NoReturn

from .. import __version__

DESCRIPTION = "Embed, classify and explore directed graphs and tables with asymmetric kernels."
EPILOG = """example:
  lopsided embed follows.csv
  lopsided links follows.csv --of ann -k 5
  lopsided explore follows.csv -o follows.html

`lopsided COMMAND --help` shows the options of a command and an example."""
GRAPH = "edges as CSV, TSV, edge list (also .gz) or Parquet, adjacency as .npz, .npy or .mtx; - reads CSV from a pipe"
LARGEST_SEED = 2**32 - 1
TABLE = "CSV, TSV, Parquet, .npz, .npy, .mtx or svmlight; - reads CSV from a pipe"

Arguments = Callable[[argparse.ArgumentParser], None]


def make_parser() -> argparse.ArgumentParser:
    """The parser of the command line; ``options.command`` is the name of the command."""
    parser = _Parser("lopsided", description=DESCRIPTION, epilog=EPILOG, formatter_class=_Formatter)
    parser.add_argument("--version", action="version", version=f"lopsided {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, (summary, example, add) in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=f"example:\n  {example}",
            formatter_class=_Formatter,
        )
        add(command)
        command.add_argument("--json", action="store_true", help="print one JSON object to standard output")
        command.add_argument("-q", "--quiet", action="store_true", help="print only errors and warnings")
    return parser


class _Parser(argparse.ArgumentParser):
    """Reports wrong arguments in one line, with the command that explains them."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"lopsided: {message}; see {self.prog} --help\n")


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of examples, and puts names and their meaning on one line."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)
        self._action_max_length = max(map(len, COMMANDS)) + 4  # argparse forgets that commands are indented twice


def _positive(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 1")
    return int(text)


def _seed(text: str) -> int:
    """A whole number that seeds generators of random numbers."""
    if not text.isdecimal() or int(text) > LARGEST_SEED:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 0 to {LARGEST_SEED}")
    return int(text)


def _clusters(text: str) -> int | str:
    """A number of clusters, or auto."""
    if text == "auto":
        return text
    try:
        return _positive(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}, or auto") from error


def _input(parser: argparse.ArgumentParser, name: str, help: str) -> None:
    parser.add_argument(name, metavar=name.upper(), help=help)


def _output(parser: argparse.ArgumentParser, help: str) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", help=help)
    parser.add_argument("-f", "--force", action="store_true", help="overwrite existing output files")


def _rank(parser: argparse.ArgumentParser, default: int, help: str = "number of components") -> None:
    parser.add_argument("-k", type=_positive, default=default, help=f"{help} (default {default})")


def _columns(parser: argparse.ArgumentParser, **roles: str) -> None:
    for role, help in roles.items():
        parser.add_argument(f"--{role}", metavar="COLUMN", help=help)


def _fit(parser: argparse.ArgumentParser, kernel: str | None = None) -> None:
    if kernel is not None:
        parser.add_argument(
            "--kernel", default=kernel, help=f"name of a kernel, such as sne or node_kernel (default {kernel})"
        )
    parser.add_argument("--seed", type=_seed, default=0, help="seed of random choices (default 0)")
    parser.add_argument("--jobs", type=_positive, metavar="N", help="threads (default: all cores)")
    parser.add_argument(
        "--memory", metavar="SIZE", help="memory for large arrays, such as 2GB (default: a quarter of what is free)"
    )


def _edges(parser: argparse.ArgumentParser) -> None:
    _columns(parser, source="column of sources", target="column of targets", weight="column of weights")
    help = "whether the first line names columns (default: guessed)"
    parser.add_argument("--header", action=argparse.BooleanOptionalAction, help=help)


def _drop(parser: argparse.ArgumentParser) -> None:
    help = "leave this column out; may be repeated"
    parser.add_argument("--drop", metavar="COLUMN", action="append", default=[], help=help)


def _only(parser: argparse.ArgumentParser, metavar: str, what: str) -> None:
    help = f"only for this {what}; may be repeated (default: every {what})"
    parser.add_argument("--of", metavar=metavar, action="append", help=help)


def _embed(parser: argparse.ArgumentParser) -> None:
    _input(parser, "graph", GRAPH)
    _output(parser, ".parquet, .csv, .tsv, .npz, .npy, .txt (word2vec) or - (default GRAPH.embedding.parquet)")
    _rank(parser, 128)
    _edges(parser)
    parser.add_argument("--side", choices=("both", "source", "target"), default="both", help="which vectors to write")
    parser.add_argument("--save", metavar="FILE", help="also save the model, for the other commands")
    _fit(parser, "auto")


def _links(parser: argparse.ArgumentParser) -> None:
    _input(parser, "graph", f"{GRAPH}; or a model that `lopsided embed --save` wrote")
    parser.add_argument("--pairs", metavar="FILE", help="table with the columns source, target of edges to score")
    _only(parser, "ID", "node")
    parser.add_argument("--known", action="store_true", help="also suggest targets that are already linked")
    _output(parser, ".csv, .tsv, .parquet, .json or - (default)")
    _rank(parser, 10, "suggestions for each node")
    parser.add_argument(
        "--components",
        type=_positive,
        default=128,
        metavar="N",
        help="number of components of the embedding (default 128)",
    )
    _edges(parser)
    _fit(parser, "auto")


def _classify(parser: argparse.ArgumentParser) -> None:
    _input(parser, "data", f"a table ({TABLE}), or with --labels a graph: {GRAPH}")
    parser.add_argument(
        "--label", metavar="COLUMN", help="column of classes in the table; rows without a class get a predicted one"
    )
    parser.add_argument("--labels", metavar="FILE", help="table with the columns id, class for some nodes of a graph")
    _drop(parser)
    parser.add_argument("--new", metavar="FILE", help="table of further rows to classify")
    parser.add_argument("--save", metavar="FILE", help="also save the model of a table")
    _output(parser, ".csv, .tsv, .parquet, .json or - (default)")
    _rank(parser, 128, "components of a graph")
    _edges(parser)
    _fit(parser)


def _bicluster(parser: argparse.ArgumentParser) -> None:
    _input(parser, "table", f"{TABLE}; a column called id, or a first column of text, names the rows")
    _output(parser, ".csv, .tsv, .parquet, .json or - (default)")
    parser.add_argument("-k", type=_clusters, default="auto", help="number of clusters, or auto (default)")
    _drop(parser)
    _fit(parser)


def _recommend(parser: argparse.ArgumentParser) -> None:
    _input(
        parser,
        "interactions",
        "table of users, items and perhaps weights, as CSV, TSV or Parquet; - reads CSV from a pipe",
    )
    _columns(parser, user="column of users", item="column of items", weight="column of weights, such as ratings")
    _only(parser, "USER", "user")
    parser.add_argument("--known", action="store_true", help="also recommend items that the user already has")
    _output(parser, ".csv, .tsv, .parquet, .json or - (default)")
    _rank(parser, 10, "items for each user")
    parser.add_argument(
        "--components", type=_positive, metavar="N", help="number of components (default: by size, at most 128)"
    )
    _fit(parser)


def _svd_image(parser: argparse.ArgumentParser) -> None:
    _input(parser, "image", "PNG, JPEG or another format that Pillow reads")
    _output(parser, "the image rebuilt from k components (default IMAGE.svd.png)")
    _rank(parser, 20)
    parser.add_argument("--kernel", default="linear", help="linear (default), exponential, tanh, ...")


def _explore(parser: argparse.ArgumentParser) -> None:
    _input(parser, "graph", f"{GRAPH}; or a saved model, or a table that `lopsided embed` wrote")
    parser.add_argument("--labels", metavar="FILE", help="table with the columns id, label; labels colour the points")
    parser.add_argument("--layout", choices=("components", "umap"), default="components", help="how points are placed")
    _output(parser, "the page (default GRAPH.html)")
    _rank(parser, 128)
    _edges(parser)
    _fit(parser, "auto")


def _info(parser: argparse.ArgumentParser) -> None:
    """Add nothing."""


def _completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")


COMMANDS: dict[str, tuple[str, str, Arguments]] = {
    "embed": (
        "compute the source and target vectors of every node of a graph",
        "lopsided embed follows.csv -k 64",
        _embed,
    ),
    "links": (
        "suggest new edges of a directed graph, or score given ones",
        "lopsided links follows.csv --of ann --of bob -k 5",
        _links,
    ),
    "classify": (
        "predict classes for the unlabelled rows of a table or nodes of a graph",
        "lopsided classify iris.csv --label species --new more.csv",
        _classify,
    ),
    "bicluster": (
        "cluster the rows and columns of a table together",
        "lopsided bicluster words.csv -k 4 -o clusters.csv",
        _bicluster,
    ),
    "recommend": (
        "recommend new items to every user, best first",
        "lopsided recommend ratings.csv --user user --item film -k 10 -o lists.parquet",
        _recommend,
    ),
    "svd-image": ("rebuild an image from a few components", "lopsided svd-image photo.jpg -k 20", _svd_image),
    "explore": (
        "write a web page with sources and targets as linked scatter plots",
        "lopsided explore follows.csv -o follows.html",
        _explore,
    ),
    "info": ("print versions, threads, BLAS and memory", "lopsided info --json", _info),
    "completion": ("print a completion script for a shell", 'eval "$(lopsided completion bash)"', _completion),
}
