"""What a checkpoint keeps of an environment: delayed rewards, and theta where it drifts."""

from typing import Any

import numpy as np

from fastes.checks.arrays import Arrays


def environment_arrays(environment: Any) -> Arrays:
    """Return arrays from which `fill_environment` restores it; {} if nothing is to be kept."""
    late = environment.late
    waiting = len(late.keys) > 0
    arrays = {f"late_{name}": part for name, part in late._asdict().items() if waiting}
    if hasattr(environment, "moving"):
        moving = environment.moving
        arrays |= {"drift_theta": moving.theta, "drift_step": moving.step}
    return arrays


def fill_environment(environment: Any, arrays: Arrays, t: int) -> None:
    """Restore an environment as it was after t steps, or raise KeyError or ValueError.

    A larger ring of delayed rewards, for a longer horizon, has the plays in the same slots.
    """
    late = environment.late
    for name, target in late._asdict().items() if len(late.keys) else ():
        stored = arrays[f"late_{name}"]
        target[: len(stored)] = stored
    if hasattr(environment, "moving"):
        (theta, step), moving = (arrays["drift_theta"], arrays["drift_step"]), environment.moving
        if theta.shape != moving.theta.shape or not np.isfinite(theta).all():
            raise ValueError("theta of a run does not fit, or is not finite")
        if step.shape != (1,) or not t - 1 <= step[0] <= t:
            raise ValueError(f"theta of a run is not that of step {t}")
        moving.theta[:], moving.step[:] = theta, step
