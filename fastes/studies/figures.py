"""Figures of studies."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastes.agents import AGENTS
from fastes.results.figures import style
from fastes.results.result import Result
from fastes.studies.axes import AXES
from fastes.studies.study import Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_against(results: Sequence[tuple[Setting, Result]], x: str, ax: "Axes") -> None:
    """Draw final regret against an axis of a study, with bars of two standard errors.

    One line for each combination of the other axes; a level where an agent has no such axis.
    """
    if x not in AXES:
        raise ValueError(f"x must be one of {', '.join(AXES)}, got {x!r}")
    if not results:
        raise ValueError("the study has no results yet")
    others = [name for name in AXES if name != x]
    lines: dict[tuple[Any, ...], list[tuple[Any, Result]]] = {}
    for setting, result in results:
        key = tuple(setting.axes[name] for name in others)
        lines.setdefault(key, []).append((setting.axes[x], result))
    if all(line[0][0] is None for line in lines.values()):
        raise ValueError(f"no agent of the study has {x}")
    columns = zip(*lines, strict=True)
    apart = [n for n, column in zip(others, columns, strict=True) if len({*column} - {None}) > 1]
    for i, (key, line) in enumerate(lines.items()):
        told = zip(others, key, strict=True)
        label = ", ".join(_told(name, v) for name, v in told if name in apart and v is not None)
        if all(isinstance(value, (int, float)) for value, _ in line):
            line.sort(key=lambda point: point[0])
        means = [result.regret.mean[-1] for _, result in line]
        errors = [2 * np.nan_to_num(result.regret.se[-1]) for _, result in line]
        if line[0][0] is None:
            ax.axhline(means[0], label=label, **style(i))
            band = {"color": style(i)["color"], "alpha": 0.2, "linewidth": 0}
            ax.axhspan(means[0] - errors[0], means[0] + errors[0], **band)
        else:
            at = [value for value, _ in line]
            ax.errorbar(at, means, errors, label=label, marker=".", capsize=2, **style(i))
    _scale(ax, x, [value for line in lines.values() for value, _ in line if value is not None])
    ax.set_xlabel(x)
    ax.set_ylabel("regret at T" if "T" in apart or x == "T" else _regret_at(results))
    if apart:
        ax.legend(frameon=False, fontsize="small")


def _regret_at(results: Sequence[tuple[Setting, Result]]) -> str:
    return f"regret at T = {results[0][0].T:,}"


def _told(name: str, value: Any) -> str:
    if name == "agent":
        return AGENTS[value].title
    return f"{name}={value:,}" if isinstance(value, int) else f"{name}={value}"


def _scale(ax: "Axes", x: str, values: list[Any]) -> None:
    """Use logarithms where numbers span a decade, and let bars begin at zero."""
    numbers = [value for value in values if not isinstance(value, str)]
    if numbers and min(numbers) > 0 and max(numbers) >= 10 * min(numbers):
        ax.set_xscale("log")
        shown = sorted(set(numbers))
        if len(shown) <= 12:
            ax.set_xticks(shown, [f"{value:,g}" for value in shown], minor=False)
            ax.minorticks_off()
    ax.set_ylim(bottom=0)
