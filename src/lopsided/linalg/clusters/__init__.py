"""Clusters of rows and of columns from their singular vectors."""
