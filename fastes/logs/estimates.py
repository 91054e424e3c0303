"""Estimates of an agent's value from logged plays, each with its standard error."""

import math
from typing import Any, NamedTuple

import numpy as np

from fastes.agents.agent import Agent
from fastes.checks.arrays import Floats
from fastes.checks.documented import documented

METHODS = ("rejection", "ips", "snips")

ASSUMPTIONS = {
    "rejection": "mean reward of the rows where the agent chose the logged arm; it learned from "
    "these only, as if it had been live for that many rows",
    "ips": "mean over all rows of (probability of the logged arm under the agent / propensity) x "
    "reward; the agent learned from every logged row before, not from its own choices",
    "snips": "the same divided by the mean weight: biased of order 1/rows, of less variance",
}
"""What each method computes."""


@documented
class PolicyValue(NamedTuple):
    """The value of an agent, in reward per row, estimated from a log by one method.

    Attributes
    ----------
    label : str
        The agent and its parameters.
    agent : str
        Its short name.
    parameters : dict
        Its parameters.
    method : {"rejection", "ips", "snips"}
        How it was estimated.
    value : float
        Estimated mean reward per row; nan if no row has weight.
    se : float
        Its standard error given what the agent learned; nan with fewer than two rows of weight.
    rows : int
        Number of rows with positive weight: for rejection those from which the agent learned.
    effective_rows : float
        (sum of weights)^2 / sum of squared weights: as many rows of equal weight would do.
    mean_weight : float
        Mean weight over all rows, 1 in expectation if the propensities are right.
    mean_weight_se : float
        Its standard error.
    """

    label: str
    agent: str
    parameters: dict[str, Any]
    method: str
    value: float
    se: float
    rows: int
    effective_rows: float
    mean_weight: float
    mean_weight_se: float

    @property
    def suspect(self) -> bool:
        """Whether the mean weight is more than 4 standard errors from 1."""
        if not self.mean_weight_se > 0.0:
            return False
        return abs(self.mean_weight - 1.0) > 4.0 * self.mean_weight_se

    def __repr__(self) -> str:
        return f"PolicyValue({self.label}, {self.method}: {self.value:.4g} +- {self.se:.2g})"


def estimate(agent: Agent, method: str, weights: Floats, rewards: Floats) -> PolicyValue:
    """Return the estimate of an agent's value from the weight and the reward of each row.

    With weights w and rewards r of n rows, ips is mean(w r), with standard error sd(w r) / sqrt(n).
    The others are v = sum(w r) / sum(w), with the delta method's sqrt(sum w^2 (r - v)^2) / sum(w)
    times sqrt(m / (m - 1)), m the number of positive weights: where these are equal, as those of
    rejection, it is the standard error of a mean.
    """
    total = float(weights.sum())
    rows, squares = int(np.count_nonzero(weights)), float(weights @ weights)
    if method == "ips":
        value, se = _mean(weights * rewards)
    elif total == 0.0:
        value = se = math.nan
    else:
        value = float(weights @ rewards) / total
        se = math.sqrt(float(np.square(weights * (rewards - value)).sum())) / total
        se = se * math.sqrt(rows / (rows - 1)) if rows > 1 else math.nan
    weight, weight_se = _mean(weights)
    effective = total**2 / squares if squares > 0.0 else 0.0
    found = value, se, rows, effective, weight, weight_se
    return PolicyValue(agent.label, agent.name, agent.parameters(), method, *found)


def _mean(values: Floats) -> tuple[float, float]:
    """Return a mean and its standard error."""
    n = len(values)
    se = float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    return float(values.mean()), se
