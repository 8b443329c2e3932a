"""``lopsided embed``: vectors of every node as a source and as a target."""

import argparse

import numpy as np

from ..._core import count_of
from ...io import VECTOR_FORMATS, reject_unwritable, save, vector_columns, write_vectors
from ..inputs import MODEL, Vectors, embed, output_beside, read_input_graph
from ..report import PIPE, Report, checked_output


def run(options: argparse.Namespace) -> None:
    """Embed a graph and write its vectors, in single precision."""
    output = options.output or output_beside(options.graph, ".embedding.parquet")
    checked_output(output, options.force, VECTOR_FORMATS)
    if options.save:
        checked_output(options.save, options.force, (MODEL,))
    report = Report(options)
    graph = read_input_graph(options, report)
    if output != PIPE:
        reject_unwritable(graph.nodes, output)
    model = embed(graph, options, report, options.k)
    sides = (np.asarray(side, dtype=np.float32) for side in (model.source_embedding_, model.target_embedding_))
    vectors = Vectors(model.nodes_, *sides)
    if output == PIPE:
        report.write_table(vector_columns(vectors, options.side), output)
    else:
        write_vectors(vectors, output, side=options.side)
        report.wrote(output, count_of(len(model.nodes_), "row"))
    if options.save:
        save(model, options.save)
        report.wrote(options.save, "the model", role="model")
    report.finish()
