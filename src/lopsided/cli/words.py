"""What the library says, in the words of the command line."""

IN_OPTIONS = {
    ". Pass an adjacency matrix as an array": "",
    "read_graph(table, source=..., target=...)": "--source COLUMN --target COLUMN",
    "pass header=True or header=False to read_graph, or name the columns source and target": (
        "--header says that it is one, --no-header that it is not"
    ),
    "source='column 1', target='column 2'": "--source 'column 1' --target 'column 2'",
    ", weight='column 3'": " --weight 'column 3'",
    ", or pass pandas.read_csv(path, encoding=...)": "",
    "or pass pandas.read_csv(path)": "or choose another first letter",
    "give abs(adjacency), or use Katz or NodeKernel, which allow signs": (
        "--kernel katz and --kernel node_kernel allow signs"
    ),
    "pass table.set_index(table.columns[0]), or pandas.read_csv(path, index_col=0) of a file": (
        "give the matrix alone, as .npy, .npz or .mtx"
    ),
    "; networkx and pandas read others, and fit takes what they give": "",
    "source=": "--source ",
    "target=": "--target ",
    "weight=": "--weight ",
    "header=True": "--header",
    "header=False": "--no-header",
    "memory_budget=": "--memory ",
    "n_clusters=": "-k ",
    "layout=": "--layout ",
}


def in_one_line(message: object) -> str:
    """A message without line breaks, in which parameters are options."""
    text = " ".join(str(message).split())
    for said, meant in IN_OPTIONS.items():
        text = text.replace(said, meant)
    return text
