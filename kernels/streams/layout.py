"""The streams, and what their lanes and counters count."""

from .philox import _U

# Typed numbers, not Python's: numba would compile a copy of each kernel for every literal.
THETA = _U(1)
MODEL_INDEX = _U(2)
INITIAL_MODELS = _U(3)
PERTURBATION = _U(4)
NOISE = _U(5)
TIES = _U(6)
POSTERIOR_SAMPLE = _U(7)
ARMS = _U(8)
DIAGNOSTICS = _U(9)
OPTIMAL_ACTION = _U(10)

MAX_LANE = 2**32 - 1
MAX_COUNTER = 2**56 - 1
