"""Table of the bandit classes by their reward laws."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastes.problem.bandit import Bandit

_HOMES = {
    "gaussian": ("linear", "LinearBandit"),
    "bernoulli": ("generalised_linear", "LogisticBandit"),
    "poisson": ("generalised_linear", "PoissonBandit"),
}

REWARDS = tuple(_HOMES)
"""Names of the reward laws in options and files."""


def bandit_class(rewards: str) -> "type[Bandit]":
    """Return the bandit class of a reward law, or raise ValueError."""
    if rewards not in _HOMES:
        raise ValueError(f"rewards must be one of {', '.join(_HOMES)}, got {rewards!r}")
    module, name = _HOMES[rewards]
    found: type[Bandit] = getattr(importlib.import_module(f"fastes.problem.{module}"), name)
    return found
