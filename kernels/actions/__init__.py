"""Action sets: the arms on offer."""
