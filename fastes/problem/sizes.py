"""What the memory of a problem and of its runs depends on."""

from __future__ import annotations

from typing import NamedTuple

FIXED = "fixed"
"""In the place of an action set's kind: all arms are on offer at every step of every run."""


class ProblemSizes(NamedTuple):
    """The sizes of a problem, known before its arms are drawn."""

    kind: str  # FIXED, or that of the action set
    K: int | None  # arms on offer at a step; None where they are not counted
    d: int
    rank: int
    counted_arms: int  # arms that have numbers that last
    full: bool = False  # whether arms that are offered are whitened by a matrix

    @property
    def arms_repeat(self) -> bool:
        """Whether the arms of a run are the same at every step."""
        return self.kind in (FIXED, "redrawn")


def problem_bytes(n: int, d: int) -> int:
    """Return the most memory that n arms take while their problem is made.

    Their rows as they are given, the problem's own copy of them, and their canonical form, for
    which some of them at a time are copied and whitened: all of them where they are fewer than
    their dimensions.
    """
    from fastes.kernels.actions.arms import empty_arms
    from fastes.problem.whitening import CHUNK

    at_a_time = 4 * min(n, CHUNK) if n >= d else 5 * n
    return 8 * (2 * n + at_a_time) * d + empty_arms.nbytes(n, min(n, d))
