"""Maps that bring rows and columns of different widths together: given, solved for, or learned."""
