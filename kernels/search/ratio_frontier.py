"""The law on two arms of the least information ratio, by a walk along a frontier.

Arm a has the expected regret D_a >= 0 and tells the variance v_a >= 0. The ratio of a law on arms
is D^2 / v with D = sum_a pi(a) D_a and v = sum_a pi(a) v_a: it depends on the point (D, v) alone,
any point of the convex hull of the arms' points. docs/explanation/information-directed.md proves
that the least ratio is on the frontier below, and that the walk may end where this one does.
"""

import numpy as np

from ..jit.decorators import inlined, kernel


@kernel
def least_ratio(regret, variance):
    """Return (first arm, second arm, q): the law of least D^2 / v plays the second with q.

    Of the arrays D and v (K each). The frontier starts at the least D and goes up in v with ever
    steeper edges: from each vertex to the first point of the least slope. On it D is a convex
    function of v, so D^2 / v is one too: the walk ends at the first edge on which that does not
    fall to the end. Cost O(K) an edge. Where the least D is 0, or no v exceeds 0, the first arm of
    the least D is played alone.
    """
    first = _start(regret)
    while regret[first] > 0.0:
        second = _next(regret, variance, first)
        if second < 0:
            break
        q = _share(regret[first], variance[first], regret[second], variance[second])
        if q < 1.0:
            return (first, second, q) if q > 0.0 else (first, first, 0.0)
        first = second
    return first, first, 0.0


@inlined
def _start(regret):
    """Return the first arm of the least D."""
    arm = 0
    for a in range(1, regret.shape[0]):
        if regret[a] < regret[arm]:
            arm = a
    return arm


@inlined
def _next(regret, variance, first):
    """Return the arm at the end of the edge that starts at an arm, or -1: no v is larger."""
    arm, least = -1, np.inf
    for a in range(regret.shape[0]):
        rise = variance[a] - variance[first]
        if rise > 0.0:
            slope = (regret[a] - regret[first]) / rise
            if slope < least:
                arm, least = a, slope
    return arm


@inlined
def _share(D, v, end_D, end_v):
    """Return where on an edge D^2 / v is least: below 0, within (0, 1), or at 1 and beyond.

    With D + q dD and v + q dv: its derivative vanishes at q = D / dD - 2 v / dv.
    """
    rise = end_D - D
    return D / rise - 2.0 * v / (end_v - v) if rise > 0.0 else 1.0
