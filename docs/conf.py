"""Sphinx: `make docs` builds the site, without a network and without warnings."""

import inspect
import re
from typing import Any

from sphinx_gallery.sorting import ExplicitOrder

import lopsided

project = "lopsided"
author = "The lopsided developers"
copyright = author
version = release = lopsided.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
myst_heading_anchors = 3
smartquotes = False  # which would bend the quotes of strings in docstrings

autosummary_generate = True
autodoc_typehints = "none"  # types are in the docstrings
numpydoc_show_class_members = False

GALLERY = (  # what the library is for, and then the rest
    *("direction", "graph_embedding", "link_prediction", "recommendation", "biclusters", "attention", "kl_topics"),
    *("classification", "image", "custom_kernel", "scale", "saving"),
)

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "auto_examples",
    "within_subsection_order": ExplicitOrder([*(f"plot_{name}.py" for name in GALLERY), "*"]),
    "write_computation_times": False,
    "download_all_examples": False,
    "show_memory": False,
    "reset_modules": ("matplotlib",),
}

html_theme = "pydata_sphinx_theme"
html_title = f"lopsided {release}"
html_theme_options = {"navigation_with_keys": False, "show_toc_level": 2, "secondary_sidebar_items": ["page-toc"]}
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {page: [] for page in ("index", "start", "asymmetric")}  # pages with no others beside them

LITERAL = re.compile(r"(``.*?``|:\w+:`.*?`)")
MARKUP = re.compile(r"\||(?<=\w)_(?=[\s,.;:)']|$)")  # norms such as |x|, and names such as kernel_


def plain_text(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are written to be read in a terminal: bars and underscores at the ends of names mean themselves."""
    for i, line in enumerate(lines):
        if line.strip() == "Examples":
            break
        parts = LITERAL.split(line)
        lines[i] = "".join(part if j % 2 else MARKUP.sub(r"\\\g<0>", part) for j, part in enumerate(parts))


def not_ours(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn, scipy and Python define: of inherited methods, only those of lopsided are listed."""
    method = getattr(thing, "fget", thing)
    if not (inspect.isroutine(method) or isinstance(thing, property)):
        return None
    return None if str(getattr(method, "__module__", None)).startswith("lopsided") else True


def setup(app: Any) -> None:
    """Run before numpydoc reads the docstrings."""
    app.connect("autodoc-skip-member", not_ours)
    app.connect("autodoc-process-docstring", plain_text, priority=100)
