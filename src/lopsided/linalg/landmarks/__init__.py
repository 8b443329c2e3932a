"""The asymmetric Nystrom method: choice of landmarks, and extension of their singular vectors to all points."""
