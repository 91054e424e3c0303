"""How far a simulation is."""

from collections.abc import Callable
from typing import NamedTuple

from fastes.checks.documented import documented


@documented
class Progress(NamedTuple):
    """How far a simulation is.

    Attributes
    ----------
    agent : str
        The label of the agent that plays.
    steps : int
        Its steps done, over all runs.
    total : int
        Its steps done and to do, over all runs.
    overall_steps : int
        Steps done of all agents.
    overall_total : int
        Steps done and to do of all agents.
    regret_per_step : float
        Mean regret of the agent's steps since it began, or was resumed.
    """

    agent: str
    steps: int
    total: int
    overall_steps: int
    overall_total: int
    regret_per_step: float


Report = Callable[[Progress], None]


def of_several(report: Report | None, agent: int, agents: int) -> Report | None:
    """Return what reports the progress of one of several agents that play one after the other."""
    if report is None:
        return None

    def report_overall(now: Progress) -> None:
        steps, total = agent * now.total + now.steps, agents * now.total
        report(now._replace(overall_steps=steps, overall_total=total))

    return report_overall
