"""The promises of docs/reliability.md, measured: one file a topic, each with a function ``rows`` of a budget."""

from .record import Budget, Row, timed

__all__ = ["Budget", "Row", "timed"]
