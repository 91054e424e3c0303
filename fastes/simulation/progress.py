"""Progress of a simulation."""

from collections.abc import Callable
from typing import NamedTuple

from fastes.checks.documented import documented


@documented
class Progress(NamedTuple):
    """Progress of a simulation.

    Attributes
    ----------
    agent : str
        Label of the current agent.
    steps : int
        Its completed steps, over all runs.
    total : int
        Its steps in all, over all runs.
    overall_steps : int
        Completed steps of all agents.
    overall_total : int
        Steps of all agents in all.
    regret_per_step : float
        Mean regret per step since the agent started or was resumed.
    """

    agent: str
    steps: int
    total: int
    overall_steps: int
    overall_total: int
    regret_per_step: float


Report = Callable[[Progress], None]


def of_several(report: Report | None, agent: int, agents: int) -> Report | None:
    """Return a function that reports the progress of one of several agents within the whole."""
    if report is None:
        return None

    def report_overall(now: Progress) -> None:
        steps, total = agent * now.total + now.steps, agents * now.total
        report(now._replace(overall_steps=steps, overall_total=total))

    return report_overall
