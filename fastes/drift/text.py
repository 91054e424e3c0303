"""Drifts as options and studies write them."""

import math
from typing import Any

from fastes.checks import numbers
from fastes.checks.lists import progression
from fastes.drift.abrupt import Abrupt
from fastes.drift.auto_regressive import AutoRegressive
from fastes.drift.drift import Drift
from fastes.drift.piecewise import Piecewise
from fastes.drift.rotating import Rotating

OPTION = "abrupt:STEPS, ar:RHO or rotating:ANGLE, such as abrupt:150,300"
"""How options and studies write drifts."""


def drift_of_text(name: str, text: str) -> Drift:
    """Return the drift that an option or a study writes, or raise ValueError.

    >>> drift_of_text("drift", "abrupt:100,200,...,500").text
    'abrupt:100,200,300,400,500'
    """
    kind, _, value = text.strip().partition(":")
    if kind == Abrupt.kind and value:
        return Abrupt(progression(f"the steps of {name}", value))
    if kind in (AutoRegressive.kind, Rotating.kind):
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if math.isfinite(number):
            return AutoRegressive(number) if kind == AutoRegressive.kind else Rotating(number)
    raise ValueError(f"{name} must be {OPTION}, got {text!r}")


def option_text(name: str, value: Any) -> str | None:
    """Return a drift as options and studies write it, None for none, or raise ValueError."""
    if isinstance(value, Piecewise):
        raise ValueError(f"{name} must be {OPTION}, got {value}: its thetas are no text")
    if isinstance(value, Drift):
        return value.text
    if not isinstance(value, str):
        raise ValueError(f"{name} must be {OPTION}, got {numbers.shown(value)}")
    return None if value.strip() == "none" else drift_of_text(name, value).text
