"""The bandits by the law of their rewards: the one table of them."""

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
"""The laws of rewards, as options and files name them."""


def bandit_class(rewards: str) -> "type[Bandit]":
    """Return the class of bandits with rewards of a law, or raise ValueError."""
    if rewards not in _HOMES:
        raise ValueError(f"rewards must be one of {', '.join(_HOMES)}, got {rewards!r}")
    module, name = _HOMES[rewards]
    found: type[Bandit] = getattr(importlib.import_module(f"fastes.problem.{module}"), name)
    return found
