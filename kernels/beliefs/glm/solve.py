"""Modes of perturbed data: z + sum_a n_a psi'(eta_a) b_a = sum_a y_a b_a + xi.

The left-hand side less the right-hand side is the gradient of a strictly convex function, F(z) -
xi'z, whose minimum is unique and exists for any xi, although what is on the right may be beyond
what rewards can be. With xi = 0 it is the mode of the belief (state.py).

From a point whose S = H^-1 is at hand, steps -S g cost O(N r) each for N distinct arms. They
converge the faster, the less the weights n psi'' differ from those of S. Where it would take less
time with an H of its own, the solution makes one; where a step does not contract, it follows the
direction of Newton's step to where the slope along it is all but zero. Lengths are those of S, or
of its own: numbers of posterior standard deviations.
"""

import math

import numpy as np

from ...arithmetic.floats import fma
from ...arithmetic.vectors import dot, multiply_transposed
from ...jit.decorators import inlined, kernel
from ..families import slope_and_curvature
from ..interface import SLOTS
from .hessian import factor_hessian, solve_factored
from .state import LANES

TOLERANCE = 1e-9
"""Posterior standard deviations from the solution, at most."""

_MOST_STEPS = 200
_MOST_TRIALS = 100  # of a line search
_CONTRACTS = 0.8
_LEVEL = 0.3  # of the slope at the start: a line search ends below it
_STALLED = 1e-5
"""Distance below which a step that does not contract shows that rounding allows no more."""


@inlined
def padded(belief):
    """Return the number of slots taken, rounded up to a multiple of LANES."""
    return (belief.size[SLOTS] + LANES - 1) // LANES * LANES


@inlined
def combine(columns, offsets, z, out):
    """out = offsets + columns'z, four coordinates at a time; cost O(n r)."""
    r, n = z.shape[0], out.shape[0]
    for i in range(n):
        out[i] = offsets[i]
    whole = r - r % 4
    for j in range(0, whole, 4):
        z0, z1, z2, z3 = z[j], z[j + 1], z[j + 2], z[j + 3]
        b0, b1, b2, b3 = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        for i in range(n):
            out[i] = fma(z3, b3[i], fma(z2, b2[i], fma(z1, b1[i], fma(z0, b0[i], out[i]))))
    for j in range(whole, r):
        zj, b = z[j], columns[j]
        for i in range(n):
            out[i] = fma(zj, b[i], out[i])


@inlined
def gradient(belief, xi, z, g):
    """g = z - xi + sum_a (n_a psi' - y_a) b_a; set the weights n_a psi''; cost O(N r)."""
    s, n = belief.scratch, padded(belief)
    value, residual, weight = s.value[:n], s.residual[:n], s.weight[:n]
    combine(belief.columns, belief.offsets, z, value)
    plays, pay = belief.plays, belief.pay
    for i in range(n):
        slope, curvature = slope_and_curvature(belief.family, plays[i], pay[i], value[i])
        residual[i], weight[i] = slope, curvature
    for j in range(z.shape[0]):
        g[j] = z[j] - xi[j] + dot(belief.columns[j, :n], residual)


@inlined
def _factor_here(belief):
    """Factor H at the point of the last `gradient`."""
    s, n = belief.scratch, padded(belief)
    factor_hessian(belief.columns, s.weight[:n], s.along[:n], s.columns, s.factor)


@inlined
def descent(belief, own, g, p):
    """p = -S g by the solution's own factor, or by the belief's S. Return the length of g in S."""
    if own:
        return solve_factored(belief.scratch.factor, g, p)
    multiply_transposed(belief.S, g, p)
    square = dot(g, p)
    for j in range(g.shape[0]):
        p[j] = -p[j]
    return np.sqrt(square)


@inlined
def _pays(r, n, before, after):
    """Return whether a factor of its own takes less time than to go on at this rate."""
    steps = math.log(TOLERANCE / after) / math.log(after / before)
    arms, coordinates = np.float64(n), np.float64(r)
    gradients = arms * (2.0 * coordinates + 30.0) + 50.0 * coordinates
    factor = 0.5 * arms * coordinates * (coordinates + 3.0) + 6.0 * coordinates**3 + 100.0
    return (steps - 2.0) * gradients > factor


@kernel
def _search(belief, xi, z, p):
    """Return t such that the slope of F - xi'z at z + t p is at most zero, and little below it."""
    s, n = belief.scratch, padded(belief)
    value, along = s.value[:n], s.along[:n]
    combine(belief.columns, belief.offsets, z, value)
    for i in range(n):
        along[i] = 0.0
    combine(belief.columns, along, p, along)
    constant, square = dot(z, p) - dot(xi, p), dot(p, p)
    low, high, t, first = 0.0, np.inf, 1.0, 0.0
    for trial in range(_MOST_TRIALS):
        at = 0.0 if trial == 0 else t
        slope = fma(at, square, constant)
        for i in range(n):
            here = fma(at, along[i], value[i])
            rest, _ = slope_and_curvature(belief.family, belief.plays[i], belief.pay[i], here)
            slope = fma(rest, along[i], slope)
        if trial == 0:
            first = slope
        elif slope <= 0.0:
            low = t
            if slope >= _LEVEL * first:
                break
            t = 2.0 * t if high == np.inf else 0.5 * (low + high)
        else:  # or not a number
            high = t
            t = 0.5 * (low + high)
    return low if low > 0.0 else t


@kernel
def solve(belief, xi, z, p, length, exact):
    """Make z the solution for xi, and the weights those at z. Return whether it was found.

    On entry p is the first step, by the S of the belief, and `length` that of the gradient; `exact`
    says whether S is that of z.
    """
    vectors = belief.scratch.vectors
    trial, g, q = vectors[0], vectors[1], vectors[2]
    r, own = z.shape[0], False
    for step in range(_MOST_STEPS):
        if length <= TOLERANCE:
            if step == 0:
                gradient(belief, xi, z, g)
            return True
        if not length < np.inf:
            return False
        for j in range(r):
            trial[j] = z[j] + p[j]
        gradient(belief, xi, trial, g)
        after = descent(belief, own, g, q)
        contracts = after <= _CONTRACTS * length
        if not contracts and exact:
            if length <= _STALLED:
                gradient(belief, xi, z, g)
                return True
            t = _search(belief, xi, z, p)
            for j in range(r):
                trial[j] = z[j] + t * p[j]
            gradient(belief, xi, trial, g)
        elif not contracts:
            gradient(belief, xi, z, g)
        if contracts or exact:
            for j in range(r):
                z[j] = trial[j]
        exact = not contracts or (after > TOLERANCE and _pays(r, padded(belief), length, after))
        if exact:
            own = True
            _factor_here(belief)
            length = descent(belief, own, g, p)
        else:
            length = after
            for j in range(r):
                p[j] = q[j]
    return False
