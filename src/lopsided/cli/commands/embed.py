"""``lopsided embed``: vectors of every node as a source and as a target."""

import argparse

from ...io import VECTOR_FORMATS, save, vector_columns, write_vectors
from ..inputs import MODEL, embed, output_beside, read_edges
from ..report import PIPE, Report, checked_output


def run(options: argparse.Namespace) -> None:
    """Embed a graph and write its vectors."""
    output = options.output or output_beside(options.graph, ".embedding.parquet")
    checked_output(output, options.force, VECTOR_FORMATS)
    if options.save:
        checked_output(options.save, options.force, (MODEL,))
    report = Report(options)
    model = embed(read_edges(options, report), options, report, options.k)
    if output == PIPE:
        report.write_table(vector_columns(model, options.side), output)
    else:
        write_vectors(model, output, side=options.side)
        report.wrote(output, f"{len(model.nodes_):,} rows")
    if options.save:
        save(model, options.save)
        report.say(f"wrote {options.save}: the model", model=options.save)
    report.finish()
