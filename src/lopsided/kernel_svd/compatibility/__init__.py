"""Maps that make rows and columns of different widths comparable."""
