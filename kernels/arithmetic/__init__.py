"""Floating-point arithmetic whose bits do not depend on how loops are vectorised."""
