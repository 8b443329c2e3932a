"""Exact solvers for the leading singular triplets of an operator, and the choice between them."""
