"""The arms on offer."""
