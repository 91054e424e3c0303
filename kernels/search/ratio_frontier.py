"""The law on two arms of the least information ratio, by narrowing down a frontier.

Arm a has the expected regret D_a >= 0 and tells the variance v_a >= 0. The ratio of a law on arms
is D^2 / v with D = sum_a pi(a) D_a and v = sum_a pi(a) v_a: it depends on the point (D, v) alone,
any point of the convex hull of the arms' points. docs/explanation/information-directed.md proves
that the least ratio is on the lower boundary of that hull, and that the search below finds it.
"""

import numpy as np

from ..jit.decorators import inlined, kernel


@kernel
def least_ratio(regret, variance):
    """Return (first arm, second arm, q): the law of least D^2 / v plays the second with q.

    Of the arrays D and v (K each). Two arms of the boundary hold the minimum between them: at
    first those of the least D and of the largest v. An arm below the tangent of D^2 / v at the
    best law on these two takes the place of one of them, until there is none. Cost O(K) for each
    such arm, of which there are few. Where the least D is 0, or no v is larger than that arm's,
    the first arm of the least D is played alone.
    """
    low, high = _least_regret(regret), _largest_variance(regret, variance)
    if not (regret[low] > 0.0 and variance[high] > variance[low]):
        return low, low, 0.0
    q, ratio = _best_of(regret, variance, low, high)
    while True:
        D = (1.0 - q) * regret[low] + q * regret[high]
        v = (1.0 - q) * variance[low] + q * variance[high]
        arm = _below_tangent(regret, variance, 0.5 * D / v)
        below_q, below = _best_of(regret, variance, low, arm)
        above_q, above = _best_of(regret, variance, arm, high)
        if not min(below, above) < ratio:
            break
        if below <= above:
            high, q, ratio = arm, below_q, below
        else:
            low, q, ratio = arm, above_q, above
    if q <= 0.0:
        high = low
    elif q >= 1.0:
        low = high
    return low, high, q if low != high else 0.0


@inlined
def _least_regret(regret):
    """Return the first arm of the least D."""
    arm = 0
    for a in range(1, regret.shape[0]):
        if regret[a] < regret[arm]:
            arm = a
    return arm


@inlined
def _largest_variance(regret, variance):
    """Return the arm of the largest v; of several the one of the least D, the first of these."""
    arm = 0
    for a in range(1, regret.shape[0]):
        tied = variance[a] == variance[arm]
        if variance[a] > variance[arm] or (tied and regret[a] < regret[arm]):
            arm = a
    return arm


@inlined
def _below_tangent(regret, variance, slope):
    """Return the first arm of the least D - slope v."""
    arm, least = 0, np.inf
    for a in range(regret.shape[0]):
        height = regret[a] - slope * variance[a]
        if height < least:
            arm, least = a, height
    return arm


@inlined
def _best_of(regret, variance, first, second):
    """Return the q of the least D^2 / v on two arms, and that ratio; inf where v does not rise.

    With D + q dD and v + q dv: its derivative vanishes at q = D / dD - 2 v / dv.
    """
    D, v = regret[first], variance[first]
    rise, gain = regret[second] - D, variance[second] - v
    if not gain > 0.0:
        return 0.0, np.inf
    q = min(max(D / rise - 2.0 * v / gain, 0.0), 1.0) if rise > 0.0 else 1.0
    D, v = (1.0 - q) * D + q * regret[second], (1.0 - q) * v + q * variance[second]
    return q, D * D / v if v > 0.0 else np.inf
