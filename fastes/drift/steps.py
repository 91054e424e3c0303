"""Steps at which theta changes: checked, as an array, and in labels."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from fastes.checks import numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_SHOWN = 8  # in a label


def checked_steps(given: Any) -> tuple[int, ...]:
    """Return increasing steps, or raise."""
    try:
        listed = [] if isinstance(given, str) else list(given)
    except TypeError:
        listed = []
    if not listed:
        raise ValueError(
            f"drift's steps must be a list of steps such as [150, 300], got {numbers.shown(given)}"
        )
    steps = tuple(numbers.integer("a step of drift", t, 1, numbers.MAX_STEPS) for t in listed)
    for before, after in itertools.pairwise(steps):
        if after <= before:
            raise ValueError(f"drift's steps must increase, got {after} after {before}")
    return steps


def step_array(steps: tuple[int, ...]) -> NDArray[Any]:
    """Return steps as an array."""
    import numpy as np

    return np.array(steps, np.int64)


def steps_label(text: str, kind: str, steps: tuple[int, ...], more: str = "") -> str:
    """Return a text that lists steps, or for many of them their number and a hash."""
    from fastes.checks.arrays import fingerprint

    if len(steps) <= _MOST_SHOWN:
        return text
    return f"{kind} at {len(steps):,} steps ({fingerprint(step_array(steps))}{more})"
