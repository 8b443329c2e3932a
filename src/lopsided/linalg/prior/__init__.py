"""Low-rank kernels learned from labels or pairs: the Nystrom method with a prior."""
