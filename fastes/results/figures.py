"""Figures of results."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from fastes.files.atomic import atomic_write
from fastes.files.kinds import require_replaceable
from fastes.results.comparison import Difference, check_baseline, difference
from fastes.results.curves import Curve, Line, curves_of
from fastes.results.drawing import Kind
from fastes.results.panels import Look, check_look, draw_curves
from fastes.results.selection import facts_of, selected

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fastes.results.result import Result


def plot_regret(
    results: "Sequence[Result]", ax: "Axes | Figure | None" = None, **look: Unpack[Look]
) -> "Axes":
    """Draw mean cumulative regret against time, with bands of two standard errors.

    Parameters
    ----------
    results : sequence of Result
        Different problems get a panel each, and so do a fixed theta and the prior.
    ax : Axes or Figure, optional
        Where to draw. Axes hold one panel; a figure holds as many as needed and is resized. By
        default a new figure of pyplot, which a notebook or ``plt.show()`` displays.
    **look
        where, facet, logx, logy, title, size: see `fastes.results.panels.Look`.

    Returns
    -------
    Axes
        The first, if there are several: ``ax.figure.axes`` has all.

    Examples
    --------
    >>> import fastes
    >>> from matplotlib.figure import Figure
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> result = fastes.simulate(bandit, fastes.Greedy(), T=100, runs=10)
    >>> plot_regret([result], Figure()).figure.get_suptitle()
    'K=50, d=5, T=100, 10 runs'
    """
    return draw_curves(regret_curves(chosen(results, look)), REGRET, ax, look)


REGRET = Kind("steps", "cumulative regret", apart=("problem", "theta"))


def regret_curves(results: "Sequence[Result]") -> list[Curve]:
    """Return a curve of mean cumulative regret for each result."""
    return curves_of(results, lambda result: (result.t, result.regret.mean, result.regret.se))


def chosen(results: "Sequence[Result]", look: Look) -> "list[Result]":
    """Return the results that `where` selects; TypeError or ValueError if `look` is invalid."""
    check_look(look)
    return selected([(facts_of(result), result) for result in results], look.get("where"))


def plot_differences(
    results: "Sequence[Result]",
    baseline: str | int | None = None,
    ax: "Axes | Figure | None" = None,
    **look: Unpack[Look],
) -> "Axes":
    """Draw the regret difference from a baseline against time, paired run by run.

    Bands are two standard errors of the mean difference: agents differ where a band excludes zero.

    Parameters
    ----------
    results : sequence of Result
        With equal theta and noise: the same problem, seed, T, theta, runs and recorded times;
        with `facet`, in each panel.
    baseline : str or int, optional
        The result to subtract: its label ("ES, M=30"), the short name of its agent if unique
        ("ts"), or its position. By default the last.
    ax, **look
        As in `plot_regret`.
    """
    kept = chosen(results, look)
    if look.get("logy"):
        raise ValueError("logy cannot be used for differences, which may be negative")
    facet = look.get("facet")
    groups: dict[Any, list[Result]] = {}
    for result in kept:
        groups.setdefault(facets_of(result, facet), []).append(result)
    curves: list[Curve] = []
    names = set()
    for group in groups.values():
        base = group[check_baseline(baseline, [(r.label, r.configuration.agent) for r in group])]
        names.add(base.label)
        others = [result for result in group if result is not base]
        if not others:
            raise ValueError(f"differences from {base.label} need at least one other result")
        curves += difference_curves({result: difference(result, base) for result in others})
    return draw_curves(curves, difference_kind(names), ax, look)


def difference_curves(differences: "Mapping[Result, Difference]") -> list[Curve]:
    """Return a curve of the mean difference for each result in `differences`."""

    def points(result: "Result") -> tuple[Any, Any, Any]:
        gaps = differences[result]
        return gaps.t, gaps.regret.mean, gaps.regret.se

    return curves_of([*differences], points)


def difference_kind(baselines: set[str]) -> Kind:
    """Return the kind of figure for differences from these baselines."""
    name = min(baselines) if len(baselines) == 1 else "the baseline"
    return Kind(
        *("steps", f"regret minus that of {name}"),
        apart=("problem", "theta"),
        from_zero=False,
        lines=lambda curves: [Line("no difference", None, 0.0)],
    )


def facets_of(result: "Result", facet: str | None) -> Any:
    """Return the value of `facet` that pairs of results must share, if it is one of the problem."""
    return facts_of(result).get(facet) if facet in ("K", "d", "T", "noise", "problem") else None


def save_figure(
    draw: "Callable[[Figure], object]", path: str | os.PathLike[str], force: bool = False
) -> None:
    """Draw on a new figure with a function, and write the figure, atomically.

    A file that is not a figure is replaced only with `force`.

    Functions that draw take a figure in place of axes:
    ``save_figure(lambda figure: plot_regret(results, figure), path)``.
    """
    # Not pyplot: no window, no global state, nothing to close.
    from matplotlib.figure import Figure

    require_replaceable(path, "figure", force)
    figure = Figure(layout="constrained")
    draw(figure)
    with atomic_write(path) as temporary:
        figure.savefig(temporary, dpi=200)
