"""Generalised linear models: the mode of the belief about z, and Laplace's approximation there."""

from . import density, questions, update  # noqa: F401, which register the bodies
