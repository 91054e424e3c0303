"""Rewards that are late, as arrays of a checkpoint, and back."""

from fastes.checks.arrays import Arrays
from fastes.kernels.loop.late import LateRewards


def late_arrays(late: LateRewards) -> Arrays:
    """Return the arrays from which `fill_late` makes the same ring again; none if none is late."""
    if len(late.keys) == 0:
        return {}
    return {f"late_{name}": part for name, part in late._asdict().items()}


def fill_late(late: LateRewards, arrays: Arrays) -> None:
    """Fill a ring from its arrays, or raise KeyError or ValueError.

    A ring with room for more plays than a shorter horizon had has those in the same slots.
    """
    for name, target in late._asdict().items() if len(late.keys) else ():
        stored = arrays[f"late_{name}"]
        target[: len(stored)] = stored
