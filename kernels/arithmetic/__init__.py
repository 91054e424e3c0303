"""Floating-point arithmetic whose bits do not depend on vectorisation."""
