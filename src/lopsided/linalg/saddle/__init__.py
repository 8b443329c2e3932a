"""The saddle systems of least-squares machines, and the ways to solve them."""
