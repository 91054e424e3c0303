"""Figures of studies."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from fastes.results.configuration import fact_text
from fastes.results.curves import Curve
from fastes.results.drawing import Kind
from fastes.results.panels import Look, check_look, draw_curves
from fastes.results.result import Result
from fastes.results.selection import selected
from fastes.studies.axes import AXES, value_text
from fastes.studies.study import Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_against(
    results: Sequence[tuple[Setting, Result]],
    x: str | None = None,
    ax: "Axes | Figure | None" = None,
    **look: Unpack[Look],
) -> "Axes":
    """Draw final regret against an axis of a study, with bars of two standard errors.

    One curve for each combination of the other axes; a level if an agent does not have the axis.

    Parameters
    ----------
    results : sequence of (Setting, Result)
        What `Sweep.results` returns.
    x : str, optional
        The axis. By default M if varied, else the first varied number.
    ax, **look
        As in `fastes.results.figures.plot_regret`.
    """
    if x is not None and x not in AXES:
        raise ValueError(f"x must be one of {', '.join(AXES)}, got {x!r}")
    kept = chosen_settings(results, look)
    x = x or usual_x(kept)
    if all(_place(setting, x) is None for setting, _ in kept):
        raise ValueError(f"no agent of the study has {x}")
    if look.get("facet") == x:
        raise ValueError(f"facet must be another axis than x, got {x!r} for both")
    kind = kind_against(kept, x)
    if look.get("logx") and not (kind.values and kind.values[0] > 0):
        raise ValueError(f"logx needs an axis of numbers above zero, got x={x}")
    return draw_curves(curves_against(kept, x), kind, ax, look)


def kind_against(results: Sequence[tuple[Setting, Result]], x: str) -> Kind:
    """Return the kind of figure of final regret against an axis."""
    values = [place for s, _ in results if (place := _place(s, x)) is not None]
    # Text values cannot be placed on an axis of numbers.
    numbers = sorted({value for value in values if not isinstance(value, (str, bool))})
    times = {setting.T for setting, _ in results}
    return Kind(
        "models M" if x == "M" else x,
        f"regret at T={times.pop():,}" if len(times) == 1 else "regret at T",
        marks="bars",
        logx=bool(numbers) and numbers[0] > 0 and numbers[-1] >= 10 * numbers[0],
        values=numbers,
        names=[] if numbers else list(dict.fromkeys(_name(x, value) for value in values)),
    )


def chosen_settings(
    results: Sequence[tuple[Setting, Result]], look: Look
) -> list[tuple[Setting, Result]]:
    """Return the settings that `where` selects, and their results; ValueError if none."""
    check_look(look)
    if not results:
        raise ValueError("the study has no results yet")
    return selected([(setting.axes, (setting, r)) for setting, r in results], look.get("where"))


def usual_x(results: Sequence[tuple[Setting, Result]]) -> str:
    """Return the default axis of a figure: M if varied, else the first varied number."""
    varied = [n for n in AXES if len({s.axes[n] for s, _ in results} - {None}) > 1]
    numbers = [name for name in varied if AXES[name].kind in ("integer", "number")]
    return (numbers or varied or ["agent"])[0]


def _place(setting: Setting, x: str) -> Any:
    """Return where a setting is on an axis, None if nowhere; no drift is a place too."""
    value = setting.axes[x]
    return "none" if value is None and AXES[x].kind == "text" else value


def _name(x: str, value: Any) -> Any:
    return fact_text("agent", value) if x == "agent" else value_text(value)


def grouped(
    results: Sequence[tuple[Setting, Result]], x: str
) -> dict[tuple[Any, ...], list[tuple[Any, Result]]]:
    """Group results by the values of all axes but x, as (value of x, result) pairs."""
    groups: dict[tuple[Any, ...], list[tuple[Any, Result]]] = {}
    for setting, result in results:
        key = tuple(setting.axes[name] for name in AXES if name != x)
        groups.setdefault(key, []).append((_place(setting, x), result))
    for points in groups.values():
        if not all(isinstance(value, str) for value, _ in points):
            points.sort(key=lambda point: point[0] or 0)
    return groups


def curves_against(results: Sequence[tuple[Setting, Result]], x: str) -> list[Curve]:
    """Return a curve for each group of `grouped`, in order."""
    others = [name for name in AXES if name != x]
    groups = grouped(results, x)
    columns = zip(*groups, strict=True)
    apart = [n for n, column in zip(others, columns, strict=True) if len({*column} - {None}) > 1]
    curves = []
    for key, points in groups.items():
        facts = dict(zip(others, key, strict=True))
        if x == "agent":
            facts["agent"] = "all"  # for a colour that belongs to no agent
        labelled = [name for name in others if name in apart or name == "agent"]
        texts = {n: fact_text(n, facts[n]) for n in labelled if facts[n] is not None}
        if not texts:
            texts["agent"] = "all agents"
        finals = [result.regret for _, result in points]
        runs = [result.configuration.runs for _, result in points]
        curves.append(
            Curve(
                facts,
                texts,
                [_name(x, value) for value, _ in points],
                np.array([regret.mean[-1] for regret in finals]),
                2 * np.array([regret.se[-1] for regret in finals]),
                (min(runs), max(runs)),
                level=points[0][0] is None,
            )
        )
    return curves
