"""Ensemble sampling in JAX: a run is one compiled loop on the processor, in double precision.

All models are updated at every step, as in `numpy_es.in_place`; XLA fuses the residuals, the
perturbations and the update of the models. Needs the extra ``jax``; bench/__init__.py keeps it to
one thread.
"""

import functools
from typing import Any

import numpy as np

from bench.baselines import Floats, MissingBaselineError, Played


def ensemble_sampling(actions: Floats, M: int, T: int, seed: int) -> Played:
    """Play T steps, at O(M d) each, with M normals."""
    jax = jax_or_error()
    regret, arms, rewards, mean, covariance, models = _program(M, T)(
        jax.numpy.asarray(actions), jax.random.key(seed, impl="rbg")
    )
    return Played(
        float(regret), *(np.asarray(each) for each in (arms, rewards, mean, covariance, models))
    )


def jax_or_error() -> Any:
    """Return JAX, in double precision. Raise MissingBaselineError where there is none."""
    try:
        import jax
    except ImportError:
        raise MissingBaselineError("jax is not installed: pip install -e '.[jax]'") from None
    settings: Any = jax.config
    settings.update("jax_enable_x64", True)
    settings.update("jax_platforms", "cpu")
    return jax


@functools.cache
def _program(M: int, T: int) -> Any:
    """Return the compiled loop for these sizes; it compiles when it is first called."""
    jax = jax_or_error()
    jnp, random = jax.numpy, jax.random

    def play(actions: Any, key: Any) -> Any:
        d = actions.shape[1]
        first, second, steps = random.split(key, 3)
        values = actions @ random.normal(first, (d,))

        def step(state: Any, key: Any) -> Any:
            mean, covariance, models = state
            which, paid, perturbed = random.split(key, 3)
            arm = jnp.argmax(actions @ models[random.randint(which, (), 0, M)])
            a = actions[arm]
            reward = values[arm] + random.normal(paid)
            spread = covariance @ a
            gain = spread / (1.0 + a @ spread)
            residuals = reward + random.normal(perturbed, (M,)) - models @ a
            return (
                mean + gain * (reward - a @ mean),
                covariance - jnp.outer(gain, spread),
                models + jnp.outer(residuals, gain),
            ), (arm, reward)

        begun = jnp.zeros(d), jnp.eye(d), random.normal(second, (M, d))
        (mean, covariance, models), (arms, rewards) = jax.lax.scan(
            step, begun, random.split(steps, T)
        )
        regret = (values.max() - values[arms]).sum()
        return regret, arms, rewards, mean, covariance, models

    return jax.jit(play)
