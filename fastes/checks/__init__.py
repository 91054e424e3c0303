"""Checks at the edge: each raises one sentence with the name, the rule and the value received."""
