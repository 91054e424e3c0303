"""Ensemble sampling on clicks in JAX: runs side by side, each a compiled loop of perturbed modes.

As `numpy_glm`, on all arms, for shapes are fixed: an arm not yet played has the weight 0. All M
models take in a perturbation at every step; Newton's method goes on until every run has converged.
"""

import functools
from typing import Any

import numpy as np

from bench.baselines import Floats
from bench.baselines.jax_es import jax_or_error


def perturbed_modes(actions: Floats, M: int, T: int, runs: int, seed: int) -> Floats:
    """Return the regret of runs of T steps, at O(M d) each, with M normals and two modes."""
    jax = jax_or_error()
    keys = jax.random.split(jax.random.key(seed, impl="rbg"), runs)
    return np.asarray(_program(M, T)(jax.numpy.asarray(actions), keys))


@functools.cache
def _program(M: int, T: int) -> Any:
    """Return the compiled loop for these sizes; it compiles when it is first called."""
    jax = jax_or_error()
    jnp, random = jax.numpy, jax.random
    expit = jax.nn.sigmoid

    def play(actions: Any, key: Any) -> Any:
        d = actions.shape[1]
        first, second, steps = random.split(key, 3)
        means = expit(actions @ random.normal(first, (d,)))

        def mode(n: Any, target: Any, start: Any) -> Any:
            def gap(z: Any) -> Any:
                return target - z - (n * expit(actions @ z)) @ actions

            def newton(state: Any) -> Any:
                z, g, count = state
                p = expit(actions @ z)
                H = jnp.eye(d) + (actions.T * (n * p * (1 - p))) @ actions
                z = z + jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(H), g)
                return z, gap(z), count + 1

            def goes_on(state: Any) -> Any:
                return (jnp.abs(state[1]).max() > 1e-9) & (state[2] < 100)

            return jax.lax.while_loop(goes_on, newton, (start, gap(start), 0))[0]

        def step(state: Any, key: Any) -> Any:
            n, paid, center, xi = state
            which, click, perturbed = random.split(key, 3)
            z = mode(n, paid + xi[random.randint(which, (), 0, M)], center)
            arm = jnp.argmax(actions @ z)
            a = actions[arm]
            n, paid = n.at[arm].add(1.0), paid + (random.uniform(click) < means[arm]) * a
            center = mode(n, paid, center)
            p = expit(a @ center)
            xi = xi + jnp.outer(random.normal(perturbed, (M,)), jnp.sqrt(p * (1 - p)) * a)
            return (n, paid, center, xi), arm

        begun = jnp.zeros(len(actions)), jnp.zeros(d), jnp.zeros(d), random.normal(second, (M, d))
        _, arms = jax.lax.scan(step, begun, random.split(steps, T))
        return (means.max() - means[arms]).sum()

    return jax.jit(jax.vmap(play, (None, 0)))
