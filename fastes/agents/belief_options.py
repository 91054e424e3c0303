"""Parameters of beliefs for rewards that are not Gaussian, shared by agents."""

from typing import Any

from fastes.checks import numbers
from fastes.checks.parameters import parameter

BELIEFS = ("auto", "exact", "online")
FISHER = "fisher"


def belief() -> Any:
    """Return the parameter `belief`, as a field of a dataclass."""
    return parameter(
        "What is kept of rewards that are not Gaussian: all data, or each reward linearised once.",
        "choice",
        "auto",
        default="auto",
        choices=BELIEFS,
        labelled="unusual",
    )


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
