"""The parameter `inflation` of agents."""

from typing import Any

from fastes.checks.parameters import parameter

LARGEST = 10**9
"""Beyond, rounding would dominate the mean; far beyond, squares overflow."""


def inflation() -> Any:
    """Return the parameter `inflation`, as a field of a dataclass."""
    return parameter(
        "Factor of deviations from the posterior mean.",
        "number",
        1.0,
        default=1.0,
        minimum=0,
        maximum=LARGEST,
        labelled="unusual",
    )
