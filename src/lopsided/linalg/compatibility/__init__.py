"""Compatibility maps, which bring vectors of two lengths to one: projections, given matrices, or learned."""
