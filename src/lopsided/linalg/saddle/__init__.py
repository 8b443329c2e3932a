"""Saddle-point systems of least-squares support vector machines, and their solvers."""
