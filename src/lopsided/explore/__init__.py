"""A page to explore an embedded graph: one self-contained file with two linked scatter plots."""

from .page import write_page

__all__ = ["write_page"]
