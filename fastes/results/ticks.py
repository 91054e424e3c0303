"""Tick labels of axes: few, readable, without offsets."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axis import Axis

_CHARACTER = 0.075  # inches, of a tick's label


def number_text(value: float) -> str:
    """Return the short text of a number for a tick.

    >>> [number_text(value) for value in (0, 0.5, 2000, 3e6, 1e-5)]
    ['0', '0.5', '2,000', '3e6', '1e-5']
    """
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return f"{value:,.6g}"
    mantissa, exponent = f"{value:.4e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def number_axis(axis: "Axis", inches: float, integer: bool = False) -> None:
    """Set a few round numbers, or integers, on a linear axis of this length."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    n = max(3, round(1.6 * inches))
    axis.set_major_locator(MaxNLocator(nbins=n, steps=[1, 2, 5, 10], integer=integer))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number_text(value)))


def log_axis(axis: "Axis", low: float, high: float) -> None:
    """Set numbers on a logarithmic axis from `low` to `high`."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter

    decades = math.log10(high) - math.log10(low)
    if decades < 5:
        subs = (1,) if decades >= 2 else (1, 2, 5) if decades > 0.7 else (1, 1.5, 2, 3, 4, 5, 6, 8)
        axis.set_major_locator(LogLocator(subs=subs, numticks=20))
    else:  # LogLocator would overflow beyond the largest float
        powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
        axis.set_major_locator(FixedLocator([10.0**n for n in powers[:: -(-len(powers) // 7)]]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number_text(value)))
    axis.set_minor_formatter(NullFormatter())


def ticks_at(axis: "Axis", values: Sequence[float], inches: float) -> None:
    """Set ticks at these values, with numbers where there is space."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    shown = sorted(set(values))
    places = [math.log(value) if axis.get_scale() == "log" else value for value in shown]
    per_unit = 0.9 * inches / ((places[-1] - places[0]) or 1.0)
    labels, end = [], -math.inf
    for value, place in zip(shown, places, strict=True):
        text, centre = number_text(value), per_unit * place
        half = (_CHARACTER * len(text) + 0.06) / 2
        labels.append(text if centre - half >= end else "")
        end = centre + half if labels[-1] else end
    axis.set_major_locator(FixedLocator(shown))
    axis.set_major_formatter(FixedFormatter(labels))
    axis.set_minor_locator(NullLocator())
