"""The belief given the last n rewards: those that leave the window are taken out again.

With S and mu before, a reward y of the row b leaves by

    S <- S + S b b'S / (1 - b'S b),   mu <- mu - S_new b (y - b'mu).

Where little would be left of 1 - b'S b, and now and then, all is computed afresh from the window.
Either way the oldest reward is out before the next one is taken in, or linearised (rewards.py).
"""

import numpy as np

from ...arithmetic.floats import fma
from ...arithmetic.triangular import absorb
from ...arithmetic.vectors import axpy, dot
from ..memory import Windowed
from .forget import forget, remember
from .refactor import absorb_recent, refactor, updates_allowed
from .state import FEWEST_UPDATES, MOST_UPDATES
from .update import carlson

_LEAST_LEFT = 1e-3
"""Of 1 - b'S b, for the reward to be taken out: it multiplies rounding by the inverse."""


@remember.body(Windowed)
def _remember(memory, b, y):
    slot = memory.seen[0] % memory.pay.shape[0]
    for j in range(b.shape[0]):
        memory.rows[slot, j] = b[j]
    memory.pay[slot] = y
    memory.seen[0] += 1


@forget.body(Windowed)
def _take_out_the_oldest(memory, belief):
    """Make room for a reward; cost O(r^2). As `update_root`, with the signs of a and weights."""
    n, count = memory.pay.shape[0], memory.seen[0]
    if count < n:
        return
    mu, X, e, rows = belief.mu, belief.root, belief.scratch.gain, belief.scratch.rows
    w, weight, scale = rows[0], rows[1], rows[2]
    b, a = memory.rows[count % n], 1.0
    for j in range(b.shape[0]):
        w[j] = dot(X[j, : j + 1], b[: j + 1])
        weight[j] = a
        a = fma(-w[j], w[j], a)
        scale[j] = a
        e[j] = 0.0
    if not a > _LEAST_LEFT:
        b[:] = 0.0
        memory.pay[count % n] = 0.0
        refactor(belief)
        return
    for j in range(b.shape[0]):
        scale[j] = np.sqrt(weight[j] / scale[j])
        weight[j] = w[j] / weight[j]
    carlson(X, w, weight, scale, e)
    axpy((dot(b, mu) - memory.pay[count % n]) / a, e, mu)


@absorb_recent.body(Windowed)
def _absorb_window(memory, belief, U, eta):
    """Set U mu = eta from the rewards in the window; cost O(n r^2)."""
    columns, r = belief.scratch.columns, U.shape[0]
    for i in range(r):
        eta[i] = 0.0
        for j in range(r):
            U[i, j] = 1.0 if i == j else 0.0
    kept, most = min(memory.seen[0], memory.pay.shape[0]), columns.shape[1]
    for first in range(0, kept, most):
        size = min(most, kept - first)
        for i in range(size):
            for j in range(r):
                columns[j, i] = memory.rows[first + i, j]
            columns[r, i] = memory.pay[first + i]
        absorb(U, eta, columns, size)


@updates_allowed.body(Windowed)
def _updates_allowed(memory, U, X):
    """As many as there are rewards in the window, within limits: for O(r^2) an update."""
    return np.int64(max(FEWEST_UPDATES, min(memory.pay.shape[0], MOST_UPDATES)))
