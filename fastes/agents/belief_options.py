"""Parameters of beliefs, shared by agents: of noise, and for rewards that are not Gaussian."""

from typing import Any

from fastes.checks import numbers
from fastes.checks.parameters import parameter

BELIEFS = ("auto", "exact", "online")
FISHER = "fisher"
NOISE_SHAPE, NOISE_SCALE, LEAST_NOISE = 2.0, 1.0, 0.1
LARGEST = 10**9
"""Of shape and scale: beyond, the noise is as good as known."""


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


def noise() -> Any:
    """Return the parameter `noise`, as a field of a dataclass."""
    return parameter(
        "Whether the standard deviation of Gaussian rewards is known or learned.",
        "choice",
        "known",
        default="known",
        choices=("known", "learned"),
        labelled="unusual",
        option="agent_noise",
    )


def noise_shape() -> Any:
    """Return the parameter `noise_shape`, as a field of a dataclass."""
    return parameter(
        "Shape of the inverse gamma prior of the noise's variance, where it is learned.",
        "number",
        NOISE_SHAPE,
        default=NOISE_SHAPE,
        minimum=1,
        maximum=LARGEST,
        labelled="unusual",
    )


def noise_scale() -> Any:
    """Return the parameter `noise_scale`, as a field of a dataclass."""
    return parameter(
        "Scale of that prior, in units of the problem's squared noise.",
        "number",
        NOISE_SCALE,
        default=NOISE_SCALE,
        minimum=1 / LARGEST,
        maximum=LARGEST,
        labelled="unusual",
    )


def least_noise() -> Any:
    """Return the parameter `least_noise`, as a field of a dataclass."""
    return parameter(
        "Noise, relative to the problem's, at which theta has the problem's prior: wider above.",
        "number",
        LEAST_NOISE,
        default=LEAST_NOISE,
        minimum=0.001,
        maximum=1,
        labelled="unusual",
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


def check_noise(noise: str, shape: float, scale: float, least: float) -> None:
    """Raise ValueError if there is a prior for noise that is known."""
    given = {
        "noise_shape": (shape, NOISE_SHAPE),
        "noise_scale": (scale, NOISE_SCALE),
        "least_noise": (least, LEAST_NOISE),
    }
    for name, (value, usual) in given.items():
        if noise == "known" and value != usual:
            raise ValueError(f"{name} needs noise 'learned', got {value:g} for noise 'known'")
