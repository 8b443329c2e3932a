"""Operator in, leading singular triplets out, exactly; and which solver to take."""
