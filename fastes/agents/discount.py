"""The parameter `discount` of agents."""

from typing import Any

from fastes.checks.parameters import parameter

LEAST = 1e-9
"""Of a discount: with less, nothing of an earlier reward is left beside the prior."""


def discount() -> Any:
    """Return the parameter `discount`, as a field of a dataclass."""
    return parameter(
        "Factor of the weight of a reward for each one taken in after it; below 1 agents forget.",
        "number",
        1.0,
        default=1.0,
        minimum=LEAST,
        maximum=1,
        labelled="unusual",
    )
