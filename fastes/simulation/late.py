"""Delayed rewards as arrays of a checkpoint."""

from fastes.checks.arrays import Arrays
from fastes.kernels.loop.late import LateRewards


def late_arrays(late: LateRewards) -> Arrays:
    """Return arrays from which `fill_late` restores the ring; {} without delay."""
    if len(late.keys) == 0:
        return {}
    return {f"late_{name}": part for name, part in late._asdict().items()}


def fill_late(late: LateRewards, arrays: Arrays) -> None:
    """Fill a ring from its arrays, or raise KeyError or ValueError.

    A larger ring, for a longer horizon, has the plays in the same slots.
    """
    for name, target in late._asdict().items() if len(late.keys) else ():
        stored = arrays[f"late_{name}"]
        target[: len(stored)] = stored
