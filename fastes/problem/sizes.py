"""The sizes that determine the memory of a problem and of its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fastes.actions import ActionSet
    from fastes.problem.rewards import RewardLaw


class ProblemSizes(NamedTuple):
    """The sizes of a problem, known before its arms are drawn."""

    actions: ActionSet
    rank: int  # an upper bound, if arms are not drawn yet
    full: bool  # whether offered arms are whitened by a matrix
    rewards: RewardLaw

    @property
    def K(self) -> int:
        """Number of arms on offer, or 1 if it is infinite."""
        return self.actions.K or 1


def problem_bytes(n: int, d: int, drawn: bool) -> int:
    """Return the peak memory of n known arms while their problem is constructed.

    The caller's rows unless they are drawn, the problem's copy, and the canonical form, for which
    rows are copied and whitened in chunks, or all at once if n < d.
    """
    from fastes.kernels.actions.arms import empty_arms
    from fastes.problem.whitening import CHUNK

    at_a_time = 4 * min(n, CHUNK) if n >= d else 5 * n
    return 8 * ((1 if drawn else 2) * n + at_a_time) * d + empty_arms.nbytes(n, min(n, d))
