"""The parameter `variance` of agents."""

from typing import Any

from fastes.checks import numbers
from fastes.checks.parameters import parameter

FISHER = "fisher"


def variance() -> Any:
    """Return the parameter `variance`, as a field of a dataclass."""
    return parameter(
        "Variance of a perturbation where rewards are not Gaussian; fisher is that of the reward.",
        "choice",
        FISHER,
        default=FISHER,
        choices=(FISHER,),
        labelled="unusual",
        also=_is_positive,
        also_text="a positive number",
    )


def _is_positive(text: str) -> bool:
    try:
        numbers.positive("variance", float(text))
    except (TypeError, ValueError):
        return False
    return True


def constant_variance(value: str) -> float:
    """Return a variance as a number, or 0 if it is set by the belief."""
    return 0.0 if value == FISHER else float(value)
