"""``lopsided embed``: vectors of every node as a source and as a target."""

import argparse
import sys
from tempfile import TemporaryDirectory

from ...io import VECTOR_FORMATS, save, write_vectors
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
        with TemporaryDirectory() as folder:
            write_vectors(model, f"{folder}/vectors.csv", side=options.side)
            with open(f"{folder}/vectors.csv", "rb") as file:
                while block := file.read(1 << 20):
                    sys.stdout.buffer.write(block)
    else:
        write_vectors(model, output, side=options.side)
        report.wrote(output, f"{len(model.nodes_):,} rows")
    if options.save:
        save(model, options.save)
        report.say(f"wrote {options.save}: the model", model=options.save)
    report.finish()
