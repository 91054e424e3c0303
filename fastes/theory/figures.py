"""Figures of measurements and their bounds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from fastes.agents.ensemble_sampling import EnsembleSampling
from fastes.checks.parameters import options_of
from fastes.problem.constants import Constants
from fastes.results.curves import Curve, Line, curves_of
from fastes.results.diagnostics import Diagnostics
from fastes.results.drawing import Kind
from fastes.results.figures import chosen, regret_curves
from fastes.results.panels import Look, draw_curves
from fastes.results.result import Result
from fastes.theory import bounds
from fastes.theory.constants import constants
from fastes.theory.inequalities import (
    diagnostics_of,
    models_in_the_paper,
    models_of,
    require_bounds,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HELLINGER, _KL = "\\mathrm{Hel}^2(\\hat p_t, p_t)", "\\mathrm{KL}(\\hat p_t \\| p_t)"


def draw_bounds(table: Mapping[str, Any], ax: "Axes | Figure | None" = None) -> "Axes":
    """Draw the bounds of a problem against M; `table` is what ``fastes bound --json`` prints."""
    rows = sorted(table["rows"], key=lambda row: row["M"])
    curves = []
    for name in ("best", *(name for name in bounds.BOUNDS if name != "best")):
        known = [(row["M"], row[name]) for row in rows if row[name] is not None]
        if known:
            facts = {"agent": "es" if name == "best" else name, **{n: table[n] for n in "KdT"}}
            sizes, values = np.array(known).T
            texts = {"agent": f"bound for ES: {bounds.BOUNDS[name].label}"}
            curves.append(Curve(facts, texts, sizes, values, np.full(len(sizes), np.nan), (0, 0)))
    levels = {
        "bound for TS: term (a)": (table["term_a"], ":"),
        "random play": (table["trivial"]["value"], "-"),
    }
    lines = [Line(n, None, at, dashes=dashes) for n, (at, dashes) in levels.items() if at > 0]
    kind = Kind("models M", "regret, at most", logx=True, logy=True, lines=lambda _: lines)
    return draw_curves(curves, kind, ax, {})


def draw_regret_and_bounds(
    results: Sequence[Result], ax: "Axes | Figure | None" = None, **look: Unpack[Look]
) -> "Axes":
    """Draw regret against time, with Theorem 1 and the best known bound for each ensemble.

    Thin lines are bounds, in the agent's colour. Results need no diagnostics. Arguments as for
    `fastes.results.figures.plot_regret`.
    """
    return draw_curves(regret_curves(_bounded(results, look)), REGRET_AND_BOUNDS, ax, look)


def _bounded(results: Sequence[Result], look: Look) -> list[Result]:
    """Return the results that `where` selects; ValueError if one has no bounds."""
    kept = chosen(results, look)
    for result in kept:
        require_bounds(result)
    return kept


def constants_of(result: Result) -> Constants:
    """Return the constants of a result's problem, those of its diagnostics if there are any."""
    if result.diagnostics is None:
        return constants(result.bandit)
    known: Constants = result.diagnostics.constants
    return known


def diagnosed(curve: Curve) -> tuple[Diagnostics, int | None]:
    """Return the diagnostics of a curve, and M if it is the paper's ensemble sampling, or None."""
    assert curve.result is not None  # curves_of
    return diagnostics_of(curve.result), models_of(curve.result)


def _regret_bounds(curves: Sequence[Curve]) -> list[Line]:
    """Return the bounds for the agents of one problem."""
    lines = []
    for curve in curves:
        assert curve.result is not None  # curves_of
        known, M = constants_of(curve.result), models_of(curve.result)
        if M is not None:
            t = _thinned(curve.x)
            for name, bound in _DRAWN.items():
                values = np.array([bound(known, int(step), M) for step in t])
                lines.append(Line(f"{name} for", t, values, curve, dashes=_DASHES[name]))
    t = _thinned(np.unique(np.concatenate([curve.x for curve in curves])))
    level = np.array([bounds.term_a(known, int(step)) for step in t])
    lines.append(Line("bound for TS: term (a)", t, level, dashes=":"))
    lines.append(Line("random play", t, t * known.trivial.value))
    return [line for line in lines if (line.y > 0).all()]


_DRAWN = {"best bound": bounds.best_bound, "Theorem 1": bounds.theorem1}
_DASHES = {"best bound": "-", "Theorem 1": "-."}
_POINTS = 40  # of a bound: each takes some hundredths of a second


def _thinned(t: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return at most about `_POINTS` of increasing times, evenly spaced in log t."""
    if len(t) <= _POINTS:
        return t
    wanted = np.geomspace(t[0], t[-1], _POINTS)
    return np.unique(t[np.minimum(np.searchsorted(t, wanted), len(t) - 1)])


REGRET_AND_BOUNDS = Kind(
    *("steps", "cumulative regret, and bounds"),
    apart=("problem", "theta"),
    logx=True,
    logy=True,
    lines=_regret_bounds,
)


def draw_divergence(
    results: Sequence[Result], ax: "Axes | Figure | None" = None, **look: Unpack[Look]
) -> "Axes":
    """Draw the divergence of the action law from the optimal one, and its bound.

    Curves are E[Hel^2(phat_t, p_t)]; open markers E[KL(phat_t || p_t)], where it is finite in all
    runs; thin lines the paper's bound on the latter, K log(6(t+1)M)/M, which holds for both since
    Hel^2 is at most KL. Arguments as for `fastes.results.figures.plot_regret`.
    """
    curves = [
        replace(curve, y=np.where(curve.y > 0, curve.y, np.nan))
        for curve in curves_of(_bounded(results, look), _hellinger)
        if (curve.y > 0).any()  # zero, as for Thompson sampling, has no place on a logarithmic axis
    ]
    if not curves:
        raise ValueError("no result has a positive divergence to draw")
    lines = [line for curve in curves for line in _divergences([curve])]
    open_ = f"; open: $E[{_KL}]$, where finite" if any(x.error is not None for x in lines) else ""
    kind = Kind(
        *("$t + 1$", "divergence of $\\hat p_t$ from $p_t$"),
        marks="bars",
        apart=("problem", "theta"),
        logx=True,
        logy=True,
        note=f"filled: $E[{_HELLINGER}]$, at most KL{open_}",
        lines=_divergences,
    )
    return draw_curves(curves, kind, ax, look)


def _hellinger(result: Result) -> tuple[Any, Any, Any]:
    found = diagnostics_of(result)
    distance = found.mean("hellinger_squared")
    return found.t + 1, distance.value, distance.se


def _divergences(curves: Sequence[Curve]) -> list[Line]:
    """Return KL where it is finite in all runs, and its bound."""
    lines = []
    for curve in curves:
        found, M = diagnosed(curve)
        kl = found.mean("kl_phat_p")
        whole = (kl.infinite == 0) & (kl.unknown == 0) & (kl.value > 0)
        if whole.any():
            values = np.where(whole, kl.value, np.nan)
            lines.append(Line("", curve.x, values, curve, error=2 * kl.se))
        if M is not None:
            bound = bounds.divergence_bound(found.constants.K, found.t, M)
            lines.append(Line("bound on KL for", curve.x, bound, curve))
    return lines


def draw_final_regret(
    results: Sequence[Result], ax: "Axes | Figure | None" = None, **look: Unpack[Look]
) -> "Axes":
    """Draw the final regret of ensembles against M, with that of other agents as levels.

    Arguments as for `fastes.results.figures.plot_regret`.
    """
    return _draw_finals(chosen(results, look), ax, look)


def draw_final_regret_and_bounds(
    results: Sequence[Result], ax: "Axes | Figure | None" = None, **look: Unpack[Look]
) -> "Axes":
    """Draw the final regret of ensembles against M, with Theorem 1 and the best known bound.

    Bounds are computed from the problem; results need no diagnostics. Arguments as for
    `fastes.results.figures.plot_regret`.
    """
    kept = _bounded(results, look)
    return _draw_finals(kept, ax, look, lines=_bounds_against_size(kept), logy=True)


def _bounds_against_size(results: Sequence[Result]) -> Callable[[Sequence[Curve]], list[Line]]:
    """Return a function from the curves of a panel to the bounds on them."""
    problems = {result.configuration.problem: result for result in results}

    def lines(curves: Sequence[Curve]) -> list[Line]:
        known = constants_of(problems[curves[0].facts["problem"]])
        T = curves[0].facts["T"]
        sizes = sorted({M for c in curves if not c.level and _is_paper_s(c) for M in c.x})
        found = [
            Line(f"{name} for ES", sizes, np.array([bound(known, T, M) for M in sizes]), None, look)
            for (name, bound), look in zip(_DRAWN.items(), _DASHES.values(), strict=True)
            if sizes
        ]
        found.append(Line("bound for TS: term (a)", None, bounds.term_a(known, T), dashes=":"))
        found.append(Line("random play", None, T * known.trivial.value, dashes="--"))
        return [line for line in found if (np.ravel(line.y) > 0).all()]

    return lines


def _is_paper_s(curve: Curve) -> bool:
    """Return whether a curve is of ensemble sampling as in the paper."""
    facts = curve.facts
    if facts["agent"] != EnsembleSampling.name:
        return False
    options = options_of(EnsembleSampling).items()  # facts are named by options
    parameters = {name: facts[option] for option, name in options if option in facts}
    return models_in_the_paper(facts["agent"], {**parameters, "M": 1}) is not None


def _draw_finals(kept: list[Result], ax: "Axes | Figure | None", look: Look, **more: Any) -> "Axes":
    """Draw final regret against M, with more facts of the kind of figure."""
    finals = curves_of(kept, lambda r: (r.t[-1:], r.regret.mean[-1:], r.regret.se[-1:]))
    if not any("M" in curve.facts for curve in finals):
        raise ValueError("the figure of regret against M needs results of ensemble sampling")
    groups: dict[Any, list[Curve]] = {}
    for curve in finals:
        fixed = tuple(curve.facts.get(name) for name in ("problem", "theta", "T"))
        groups.setdefault((curve.key(["M"]), fixed), []).append(curve)
    curves = [_against_size(group) for group in groups.values()]
    sizes = sorted({curve.facts["M"] for curve in finals if "M" in curve.facts})
    times = {curve.facts["T"] for curve in finals}
    kind = Kind(
        "models M",
        f"regret of {times.pop():,} steps" if len(times) == 1 else "regret of T steps",
        marks="bars",
        apart=("problem", "theta", "T"),
        logx=True,
        values=sizes,
        **more,
    )
    if look.get("facet") == "M":
        raise ValueError("facet must not be M, which is the x axis")
    return draw_curves(curves, kind, ax, look)


def _against_size(group: list[Curve]) -> Curve:
    """Return the curve of an agent's results against M, or a level if it has no M."""
    first = group[0]
    if "M" not in first.facts:
        return replace(first, level=True)
    group = sorted(group, key=lambda curve: curve.facts["M"])
    return replace(
        first,
        facts={name: value for name, value in first.facts.items() if name != "M"},
        texts={name: text for name, text in first.texts.items() if name != "M"},
        x=[curve.facts["M"] for curve in group],
        y=np.concatenate([curve.y for curve in group]),
        error=np.concatenate([curve.error for curve in group]),
        runs=(min(c.runs[0] for c in group), max(c.runs[1] for c in group)),
        result=None,
    )
