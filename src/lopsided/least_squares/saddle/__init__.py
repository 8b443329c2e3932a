"""The saddle-point systems of AsK-LS and their solvers."""
