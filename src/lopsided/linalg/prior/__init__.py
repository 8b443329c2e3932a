"""Low-rank kernels learned from labels or pairs: the generalised Nystrom method of Zhang et al. (2012)."""
