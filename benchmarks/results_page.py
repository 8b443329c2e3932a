"""Write docs/results.md: every table and figure of the papers beside ours, from the records of the benchmarks.

    python benchmarks/results_page.py            write the page
    python benchmarks/results_page.py --smoke    compose it and write nothing

No figure is typed by hand: cells come from benchmarks/results, those of the papers from the scripts that print them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

import askls_tables
import biclustering_table2
import general_table3
import graphs_table1
import nystrom_tables
import prior_baselines
import prior_published
import prior_table1
from common import RESULTS, ROOT, parser, stored

PAGE = ROOT / "docs" / "results.md"
IMAGES_2023 = {  # Table I: micro and macro F1 of SVM, LS-SVM, AsK-LS
    "Corel": ((0.830, 0.822), (0.840, 0.832), (0.916, 0.914)),
    "PASCAL": ((0.337, 0.337), (0.308, 0.293), (0.397, 0.394)),
    "Satellite": ((0.959, 0.959), (0.969, 0.969), (0.990, 0.990)),
}
SECONDS_2012 = {  # Table 1: Nystrom, CSI, Spectral, Cluster, TSK, Breg and the paper's own method
    "g241c": (0.8, 0.8, 108.2, 63.3, 2.7, 17.7, 1.2),
    "Digit1": (0.8, 0.8, 70.5, 0.5, 2.8, 27.3, 1.2),
    "USPS": (0.7, 0.7, 78.4, 149.1, 2.5, 27.5, 1.0),
    "coil": (0.8, 0.8, 31.0, 41.7, 4.3, 19.8, 1.2),
    "coil2": (0.8, 0.6, 39.1, 47.6, 2.4, 27.3, 1.1),
    "Text": (37.9, 4.9, 40.5, 287.9, 27.6, 44.3, 28.2),
    "german": (0.2, 0.6, 41.6, 2.5, 1.2, 512.3, 0.4),
    "usps49": (0.7, 0.8, 26.6, 8.4, 2.5, 18.5, 1.0),
    "usps27": (0.6, 0.6, 7.82, 14.6, 3.1, 22.5, 1.0),
    "adult1a": (0.6, 0.7, 32.4, 14.1, 2.7, 17.5, 1.2),
    "dna": (1.8, 1.2, 62.2, 48.5, 25.1, 38.1, 2.4),
    "segment": (1.7, 2.1, 83.2, 19.9, 8.8, 22.6, 2.7),
    "svmguide1a": (0.6, 4.5, 205.5, 47.6, 8.1, 17.6, 1.5),
    "satimage": (1.7, 2.2, 285.5, 197.7, 3090.0, 638.4, 2.8),
    "usps-full": (5.5, 3.8, 521.3, 363.9, 4163.0, 1418.5, 6.1),
    "mnist": (80.4, 33.3, None, None, None, 151.7, 82.3),
}
MANY_MACHINES = ("SVM, mean divergence", "LS-SVM, mean divergence", "AsK-LS")
LARGE = {  # Table 7: rows, columns, AUROC of KPCA and KSVD
    "AmazonCat-13K": ("1,186,239", "203,882", 0.51, 0.55),
    "Avazu": ("14,596,137", "1,000,000", 0.52, 0.67),
    "Criteo": ("45,840,617", "1,000,000", 0.54, 0.63),
}


def record(name: str) -> dict[str, Any]:
    """Results of a benchmark by part."""
    return {part: one["result"] for part, one in json.loads((RESULTS / f"{name}.json").read_text()).items()}


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(map(cell, row)) + " |" for row in lines) + "\n"


def cell(value: object) -> str:
    """A figure in three digits, anything else as it is."""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def mean(values: Sequence[float]) -> float:
    """Mean as a Python float."""
    return float(np.mean(values))


def both(ours: float | None, paper: float | None, digits: int = 3) -> str:
    """Our figure, and the paper's in brackets."""
    shown = "-" if ours is None else f"{ours:.{digits}f}"
    return shown if paper is None else f"{shown} ({paper:g})"


def graphs() -> str:
    """Table 1 of the 2024 paper: classes and reconstruction."""
    found, rows = record("graphs_table1"), []
    for name, paper in graphs_table1.PAPER.items():
        for method in ("default", *graphs_table1.PAPER_METHODS):
            place = graphs_table1.PAPER_METHODS.index(method) if method != "default" else None
            cells = [None if place is None else column[place] for column in paper]
            if method not in found.get(name, {}):
                rows.append([name, method, *(both(None, at) for at in cells)])
                continue
            one = found[name][method]
            near, dot = (one["reconstruction"][decoder] for decoder in ("distance", "dot"))
            f1 = [both(mean(one[average]), cells[i]) for i, average in enumerate(("micro", "macro"))]
            norms = [
                f"{near[norm]:.{digits}f} / {dot[norm]:.{digits}f}" + ("" if cells[i] is None else f" ({cells[i]:g})")
                for i, norm, digits in ((2, "norm_1", 0), (3, "norm_2", 1))
            ]
            rows.append([name, method, *f1, *norms])
    return table(["graph", "method", "micro F1", "macro F1", "norm 1 by distance / product", "norm 2"], rows)


def reconstruction() -> str:
    """What other protocols of reconstruction give."""
    path = RESULTS / "graphs_reconstruction.json"
    if not path.exists():
        return "`python benchmarks/graphs_reconstruction.py` has not been run.\n"
    rows = []
    for name, methods in record("graphs_reconstruction")["protocols"].items():
        for one in methods:
            ways = [way for way in one if way not in ("method", "setting")]
            rows.append(
                [name, f"{one['method']} {one['setting']}", *(f"{one[w][0]:.0f} / {one[w][1]:.1f}" for w in ways)]
            )
    return table(["graph", "method", *ways], rows)


def biclusters() -> str:
    """Table 2 of the 2024 paper."""
    found, rows = record("biclustering_table2"), []
    pairs = {"SVD + k-means": "SVD", "KPCA twice": "KPCA", "KernelSVD, SNE, a1": "KSVD"}
    sets = ("acm", "dblp", "pubmed", "wiki")
    for method in found["acm"]["methods"]:
        cells = biclustering_table2.PAPER.get(pairs.get(method, ""), {})
        row = [method]
        for name in sets:
            one = found[name]["methods"].get(method)
            paper = cells.get(name, (None, None))
            values = (None, None) if one is None else (one["nmi"], one["coherence"])
            row += [both(value, at, 2) for value, at in zip(values, paper, strict=True)]
        rows.append(row)
    cells = biclustering_table2.PAPER
    rows += [[f"{m}, paper only", *(f"({v:g})" for n in sets for v in cells[m][n])] for m in ("BCOT", "EBC")]
    return table(["method", *(f"{name} {what}" for name in sets for what in ("NMI", "Coh"))], rows)


def own_method() -> str:
    """How often the paper's own method of Table 2 reaches the paper here."""
    found, paper = record("biclustering_table2"), biclustering_table2.PAPER["KSVD"]
    below = [
        f"{name} {what} {one:.2f} ({at:g})"
        for name, cells in paper.items()
        for what, at in zip(("NMI", "coherence"), cells, strict=True)
        if round(one := found[name]["methods"]["KernelSVD, SNE, a1"][what.lower()], 2) < at
    ]
    return f"it reaches the paper in {8 - len(below)} of 8 cells" + (f", not in {'; '.join(below)}" if below else "")


def generated_clicks() -> str:
    """AUROC of Table 7's methods on generated rows."""
    (found,) = record("table7")["small"].values()
    return table(["method", "AUROC"], [[name, value] for name, value in found.items() if "seconds" not in name])


def general(part: str, paper: dict[str, tuple[float, ...]]) -> str:
    """Tables 3 and 5 of the 2024 paper; rows that were run again alone (maps) are those of Table 3."""
    records, rows = record("general_table3"), []
    again = records["maps"] if part == "table3" else {}
    found = {name: {**methods, **again.get(name, {})} for name, methods in records[part].items()}
    for method in next(iter(found.values())):
        row = [method]
        for number, (name, methods) in enumerate(found.items()):
            known = paper.get(method)
            digits = 2 if name in general_table3.REGRESSION else 3
            row.append(both(mean(methods[method]["figures"]), known[number] if known else None, digits))
        rows.append(row)
    return table(["method", *found], rows)


def times() -> str:
    """Tables 4 and 6 of the 2024 paper, and Cora at the printed bandwidth."""
    found, rows = record("nystrom_tables"), []
    runs = {**found["tables"], **({"cora at 0.74": found["printed"]["cora"]} if "printed" in found else {})}
    for name, methods in runs.items():
        for bound, column in zip(nystrom_tables.BOUNDS, (0, 1), strict=True):
            paper = nystrom_tables.PAPER[name.split(" ")[0]][column]
            row = [name, f"{bound:g}"]
            for method, cell_of_paper in zip(
                ("TSVD", "RSVD", "symmetric Nystrom", "asymmetric Nystrom, plain", "asymmetric Nystrom", "lopsided"),
                (*paper, None, None),
                strict=True,
            ):
                one = methods[method].get(str(bound), methods[method])
                reached = one["seconds"] is not None
                shown = f"{one['seconds']:.3g} s" if reached else f"not reached (eta {one['eta']:.2f})"
                count = f", {one['samples']}" if one.get("samples") else ""
                row.append(shown + count + ("" if cell_of_paper is None else f" ({cell_of_paper:g} s)"))
            rows.append(row)
    ways = ("TSVD", "RSVD", "symmetric Nyström", "asymmetric, plain", "asymmetric, orthonormal", "`KernelSVD(tol=)`")
    return table(["graph", "eta", *ways], rows)


def bandwidths() -> str:
    """Figure 4 of the 2024 paper as numbers."""
    rows = []
    for one in record("nystrom_tables")["figure4"]:
        reached = [one[way]["samples"] if one[way]["seconds"] else "-" for way in ("plain", "orthonormal")]
        gain = one["RSVD"]["seconds"] / one["plain"]["seconds"] if one["plain"]["seconds"] else None
        rows.append([f"{one['bandwidth']:.2f}", *reached, "-" if gain is None else f"{gain:.1f}"])
    return table(["bandwidth", "samples, plain", "samples, orthonormal", "RSVD / plain"], rows)


def samples() -> str:
    """Figures 5 and 6 of the 2024 paper as numbers."""
    found, rows = record("nystrom_tables")["figure56"], []
    for name, methods in found.items():
        for method, one in methods.items():
            lines = {str(line["samples"] or "exact"): line["f1"] for line in one["lines"]}
            counts = ("100", "200", "400", "800", "1600", "exact")
            rows.append([name, method, *("{:.3f} / {:.3f}".format(*lines[c]) if c in lines else "-" for c in counts)])
    return table(["graph", "method", "100", "200", "400", "800", "1600", "exact"], rows)


def images_2023() -> str:
    """Table I of the 2023 paper, whose data are not here, and ours."""
    found, machines = record("kl_images"), ("SVM", "LS-SVM")
    rows: list[list[object]] = [
        [f"{name} (paper only)", *(f"({micro:g} / {macro:g})" for micro, macro in cells)]
        for name, cells in IMAGES_2023.items()
    ]
    for name in ("textures", "digits", "ink"):
        ways = [[found[name][f"{machine}, mean {form}"] for form in ("divergence", "kernel")] for machine in machines]
        best = [max(both, key=lambda one: mean(one["micro"])) for both in ways]
        rows.append([name, *map(micro_and_macro, (*best, found[name]["AsK-LS"]))])
    for reading, scores in found.get("many", {}).items():
        if reading != "seconds":
            rows.append([f"900 textures, {reading}", *(micro_and_macro(scores[name]) for name in MANY_MACHINES)])
    return table(["images", *machines, "AsK-LS"], rows)


def micro_and_macro(scores: dict[str, list[float]]) -> str:
    """Means of both F1, or of the one that was kept."""
    return " / ".join(f"{mean(scores[average]):.3f}" for average in ("micro", "macro") if average in scores)


def sizes_2023() -> str:
    """Table II of the 2023 paper."""
    found, rows = record("askls_tables"), []
    for name, (classes, nodes, edges, largest, least) in askls_tables.PAPER_SIZES.items():
        one = found[f"sizes: {name}"]
        counts = zip(("classes", "nodes", "edges"), (classes, nodes, edges), strict=True)
        shown = [f"{one[what]:,}" + ("" if one[what] == paper else f" ({paper:,})") for what, paper in counts]
        ends = [f"{one[f'largest of {side}']:.3f}, {one[f'least of {side}']:.3f}" for side in ("A' + I", "A + I")]
        rows.append([name, *shown, *ends, f"({largest:.3f}, {least:.3f})"])
    return table(["graph", "classes", "nodes", "edges", "Aᵀ + I", "A + I", "paper"], rows)


def nodes_2023() -> str:
    """Table III of the 2023 paper."""
    found, rows = record("askls_tables"), []
    methods = {"AsK-LS": "AsK-LS", "LS-SVM sym": "LS-SVM", **{m: m for m in ("SVM", "flip", "clip", "shift")}}
    only_there = ("Krein SVM", "IKSVM-DC", "NERD + SVM", "NERD + LS-SVM")
    for name, paper in askls_tables.PAPER_GRAPHS.items():
        one, authors = found[f"graphs: {name}"], found.get(f"directions: {name}", {})
        for number, average in enumerate(("micro", "macro")):
            cells = dict(zip(askls_tables.PAPER_COLUMNS, paper[number], strict=True))
            cells |= dict(zip(only_there[2:], askls_tables.PAPER_EMBEDDED[name][number], strict=True))
            turned = [f"{mean(authors[side][average]):.3f}" if authors else "-" for side in ("A' + I", "A + I")]
            ours = [
                both(mean(one[method][average]) if one[method][average] else None, cells[column])
                for method, column in methods.items()
            ]
            row = [ours[0], *turned, *ours[1:], *(f"({cells[method]:.3f})" for method in only_there)]
            rows.append([name, average, *row])
    headings = ["AsK-LS", "authors' settings, Aᵀ + I", "A + I", *list(methods.values())[1:]]
    return table(["graph", "F1", *headings, *only_there], rows)


def uci_2023() -> str:
    """Table IV of the 2023 paper."""
    found, rows = record("askls_tables"), []
    columns = list(askls_tables.KERNELS)
    for name, paper in askls_tables.PAPER_UCI.items():
        one, other = found[f"uci: {name}"], found.get(f"variants: {name}", {})
        cells = [both(mean(one[k]["accuracy"]), paper[i] if i < len(paper) else None) for i, k in enumerate(columns)]
        extra = [both(mean(other[k]["accuracy"]), paper[i]) if k in other else "-" for k, i in EXTRA.items()]
        rows.append([name, *cells, *extra, len(one["SNE"]["accuracy"])])
    return table(["data", *columns, *EXTRA, "splits"], rows)


def seconds_of_many() -> str:
    """Seconds of the mixtures of 256 Gaussians, and of their divergences."""
    many = record("kl_images").get("many")
    if many is None:
        return "a time that was not measured"
    seconds = many["seconds"]
    return f"{seconds['mixtures']:.0f} s for the mixtures and {seconds['divergences']:.0f} s for all divergences"


EXTRA = {"T, no parameter": 4, "tanh, C auto": 1}  # columns of PAPER_UCI


def prior_2012() -> str:
    """Table 1 of the 2012 paper."""
    found, published, rows = record("prior_table1")["table"], record("prior_published"), []
    published = {**published["table"], **published.get("mnist", {})}
    for name, (_, nystrom, ours) in prior_table1.ROWS.items():
        draws, as_published = found[name], published.get(name, {})
        plain = [mean(prior_table1.column(draws, method, "error")) for method in ("Nystrom", "prior", "twice")]
        rows.append(
            [
                name,
                f"{nystrom[0]:.2f}",
                f"{ours[0]:.2f}",
                *(f"{mean(as_published[m]):.2f}" if as_published else "-" for m in ("Nystrom", "as published")),
                *(f"{value:.2f}" for value in plain),
                len(draws),
            ]
        )
    headings = ["data", "paper Nyström", "paper Ours", "Nyström, paper's C", "as published", "Nyström, C of ours"]
    return table([*headings, "`PriorNystroem()`", "`SelfTrainedFeatures(PriorNystroem())`", "draws"], rows)


def seconds_2012() -> str:
    """The seconds in Table 1 of the 2012 paper."""
    found, rows = record("prior_table1")["table"], []
    for name, paper in SECONDS_2012.items():
        ours = [mean(prior_table1.column(found[name], method, "seconds")) for method in ("Nystrom", "prior")]
        shown = [both(ours[0], paper[0], 2), both(ours[1], paper[-1], 2)]
        rows.append([name, *shown, *("-" if one is None else f"({one:g})" for one in paper[1:-1])])
    return table(["data", "Nyström", "`PriorNystroem()` (paper Ours)", *prior_baselines.METHODS], rows)


def stopping_2012() -> str:
    """What the optimum changes in the published method."""
    found = record("prior_published")["stopping"]
    rows = [[name, *prior_published.stopping_cells(draws)] for name, draws in found.items()]
    return table(["data", *prior_published.STOPPING_COLUMNS], rows)


def baselines_2012() -> str:
    """The paper's baselines, written from their papers."""
    found, rows = stored("prior_baselines", "table"), []
    for name, paper in prior_baselines.PAPER.items():
        errors = [found.get(name, {}).get(method) for method in prior_baselines.METHODS]
        ours = [mean(one) if one else None for one in errors]
        rows.append([name, *(both(one, at, 2) for one, at in zip(ours, paper, strict=True))])
    return table(["data", *prior_baselines.METHODS], rows)


def near_2012() -> str:
    """How often each baseline is within two points of the paper's."""
    found, said = stored("prior_baselines", "table"), []
    for place, method in enumerate(prior_baselines.METHODS):
        cells = [(found[name][method], paper[place]) for name, paper in prior_baselines.PAPER.items() if name in found]
        gaps = [abs(mean(errors) - paper) for errors, paper in cells if errors and paper is not None]
        said.append(f"{method} {sum(gap <= 2 for gap in gaps)} of {len(gaps)}")
    return ", ".join(said)


def beaten_2012() -> str:
    """Where one of these baselines has a lower error than the default."""
    found, ours = stored("prior_baselines", "table"), record("prior_table1")["table"]
    beaten: dict[str, list[str]] = {}
    for name, methods in found.items():
        means = {method: mean(errors) for method, errors in methods.items() if errors}
        best = min(means, key=lambda method: means[method])
        if means[best] < mean(prior_table1.column(ours[name], "prior", "error")):
            beaten.setdefault(best, []).append(name)
    return "; ".join(f"by {method} on {', '.join(names)}" for method, names in beaten.items()) or "nowhere"


def pairs_2012() -> str:
    """Cost of many pairs."""
    found = stored("prior_baselines", "pairs").values()
    rows = [[f"{one['pairs']:,}", *(one[what] for what in PAIR_FIGURES)] for one in found]
    return table(["pairs", *PAIR_FIGURES], rows)


PAIR_FIGURES = ("processor seconds", "alignment", "plain alignment")


def criterion_2012() -> str:
    """Figure 1 of the 2012 paper as numbers."""
    found = record("prior_published")["figure1"]
    weights = [f"{weight:.0e}" for weight in next(iter(found.values()))["weight"]]
    rows = [
        [name, *(f"{c:.2f} / {e:.1f}" for c, e in zip(one["criterion"], one["error"], strict=True)), one["correlation"]]
        for name, one in found.items()
    ]
    return table(["data", *weights, "correlation"], rows)


def page() -> str:
    """The page, with the tables put in."""
    template = (ROOT / "benchmarks" / "results_page.md").read_text()
    parts = {
        "graphs": graphs(),
        "reconstruction": reconstruction(),
        "biclusters": biclusters(),
        "own_method": own_method(),
        "generated_clicks": generated_clicks(),
        "table3": general("table3", general_table3.PAPER3),
        "table5": general("table5", general_table3.PAPER5),
        "times": times(),
        "bandwidths": bandwidths(),
        "samples": samples(),
        "large": table(["data", "rows", "columns", "paper KPCA", "paper KSVD"], [[n, *c] for n, c in LARGE.items()]),
        "images_2023": images_2023(),
        "seconds_of_many": seconds_of_many(),
        "sizes_2023": sizes_2023(),
        "nodes_2023": nodes_2023(),
        "uci_2023": uci_2023(),
        "prior_2012": prior_2012(),
        "stopping_2012": stopping_2012(),
        "seconds_2012": seconds_2012(),
        "baselines_2012": baselines_2012(),
        "near_2012": near_2012(),
        "beaten_2012": beaten_2012(),
        "pairs_2012": pairs_2012(),
        "criterion_2012": criterion_2012(),
    }
    for name, text in parts.items():
        mark = "{{" + name + "}}"
        if template.count(mark) != 1:
            raise ValueError(f"results_page.md has {template.count(mark)} marks {mark}, and not one")
        template = template.replace(mark, text.rstrip("\n"))
    return template


def main() -> None:
    """Write the page, or only compose it."""
    options = parser(__doc__).parse_args()
    text = page()
    if options.smoke:
        print("smoke run finished")
    else:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
