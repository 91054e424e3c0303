"""By what agents multiply deviations from the posterior mean."""

from typing import Any

from fastes.checks.parameters import parameter

LARGEST = 10**9
"""Beyond it rounding would leave little of the mean, and far beyond it squares overflow."""


def inflation() -> Any:
    """Return the parameter `inflation`, as a field of a dataclass."""
    return parameter(
        "What deviations from the posterior mean are multiplied by.",
        "number",
        1.0,
        default=1.0,
        minimum=0,
        maximum=LARGEST,
        labelled="unusual",
    )
