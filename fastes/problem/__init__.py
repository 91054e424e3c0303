"""The problem: a linear-Gaussian bandit, and the canonical form that kernels work on."""
