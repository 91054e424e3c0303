"""Rewards that are late, as arrays of a checkpoint, and back."""

import numpy as np

from fastes.agents.states import Arrays
from fastes.files.kinds import FileFormatError
from fastes.kernels.loop.late import LateRewards


def late_arrays(late: LateRewards) -> Arrays:
    """Return the arrays from which `fill_late` makes the same ring again; none if none is late."""
    if len(late.keys) == 0:
        return {}
    return {f"late_{name}": part for name, part in late._asdict().items()}


def fill_late(late: LateRewards, arrays: Arrays) -> None:
    """Fill a ring from its arrays, or raise FileFormatError.

    A ring with room for more plays than a shorter horizon had has those in the same slots.
    """
    if len(late.keys) == 0:
        return
    for name, target in late._asdict().items():
        stored = arrays.get(f"late_{name}", target[:0])
        fits = stored.ndim == target.ndim and 0 < len(stored) <= len(target)
        if not fits or stored.shape[1:] != target.shape[1:] or stored.dtype != target.dtype:
            raise FileFormatError("rewards that are late are missing or do not fit")
        if not np.isfinite(stored).all():
            raise FileFormatError("rewards that are late must be finite")
        target[: len(stored)] = stored
