"""The asymmetric Nystrom method: where landmarks lie, and what follows from them for all points."""
