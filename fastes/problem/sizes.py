"""What the memory of a problem and of its runs depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fastes.actions import ActionSet
    from fastes.problem.rewards import RewardLaw


class ProblemSizes(NamedTuple):
    """The sizes of a problem, known before its arms are drawn."""

    actions: ActionSet
    rank: int  # at most, where arms are not drawn
    full: bool  # whether arms that are offered are whitened by a matrix
    rewards: RewardLaw

    @property
    def K(self) -> int:
        """Number of arms on offer, or 1 where they are not counted."""
        return self.actions.K or 1


def problem_bytes(n: int, d: int, drawn: bool) -> int:
    """Return the most memory that n known arms take while their problem is made.

    Their rows as they are given, unless they are drawn, the problem's own copy of them, and their
    canonical form, for which some of them at a time are copied and whitened: all of them where they
    are fewer than their dimensions.
    """
    from fastes.kernels.actions.arms import empty_arms
    from fastes.problem.whitening import CHUNK

    at_a_time = 4 * min(n, CHUNK) if n >= d else 5 * n
    return 8 * ((1 if drawn else 2) * n + at_a_time) * d + empty_arms.nbytes(n, min(n, d))
