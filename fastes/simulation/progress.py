"""How far a simulation is."""

from typing import NamedTuple


class Progress(NamedTuple):
    """How far a simulation is.

    Attributes
    ----------
    steps, total : int
        Steps done, and to do, over all runs.
    regret_per_step : float
        Mean regret of the steps done since it began, or was resumed.
    agent : str
        The short name of the agent that plays.
    """

    steps: int
    total: int
    regret_per_step: float
    agent: str
