"""The Gaussian posterior of the canonical problem."""
