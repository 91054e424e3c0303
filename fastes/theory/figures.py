"""Figures of what is measured beside what bounds it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastes.results.figures import style
from fastes.results.result import Result
from fastes.theory import bounds
from fastes.theory.inequalities import diagnostics_of, require_prior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GREY: dict[str, Any] = {"color": "0.55", "linewidth": 1}
_BOUND: dict[str, Any] = {"linewidth": 1, "alpha": 0.8}


def draw_bounds(table: Mapping[str, Any], ax: "Axes") -> None:
    """Draw the bounds of a problem against M; `table` is what ``fastes bound --json`` prints."""
    rows = sorted(table["rows"], key=lambda row: row["M"])
    lines = (("theorem1", "Theorem 1"), ("k_free", "free of K"), ("best", "best of both"))
    for i, (name, label) in enumerate(lines):
        sizes, values = [row["M"] for row in rows], [row[name] for row in rows]
        ax.loglog(sizes, values, marker=".", label=label, **style(i))
    ax.axhline(table["term_a"], linestyle=(0, (1, 1)), label="term (a)", **_GREY)
    ax.axhline(table["trivial"]["value"], label="random play", **_GREY)
    ax.set_xlabel("models M")
    ax.set_ylabel(f"bound on the regret of {table['T']:,} steps")
    ax.legend(frameon=False)


def _require_one_problem(results: Sequence[Result]) -> None:
    """Raise ValueError unless one set of bounds applies to all results."""
    _require_equal(results, "problem")
    for result in results:
        require_prior(result)


def _require_equal(results: Sequence[Result], *fields: str) -> None:
    for field in fields:
        values = {getattr(result.configuration, field) for result in results}
        if len(values) > 1:
            words = ", ".join(str(value) for value in sorted(values))
            raise ValueError(f"results on one such figure must have equal {field}, got {words}")


def draw_regret_and_bounds(results: Sequence[Result], ax: "Axes") -> None:
    """Draw regret against time, below the best bound that is known for each agent.

    Thin lines are bounds, of the colour of the agent that they are for.
    """
    _require_one_problem(results)
    known = diagnostics_of(results[0]).constants
    for i, result in enumerate(results):
        M = result.configuration.parameters.get("M")
        ax.loglog(result.t, result.regret.mean, label=result.label, **style(i))
        if M is not None:
            bound = [bounds.best_bound(diagnostics_of(result).constants, t, M) for t in result.t]
            ax.loglog(result.t, bound, **style(i), **_BOUND)
    t = np.unique(np.concatenate([result.t for result in results]))
    a = [bounds.term_a(known, step) for step in t]
    ax.loglog(t, a, linestyle=(0, (1, 1)), label="bound for TS", **_GREY)
    ax.loglog(t, t * known.trivial.value, label="random play", **_GREY)
    ax.set_xlabel("steps")
    ax.set_ylabel("cumulative regret, and bounds")
    ax.legend(frameon=False, fontsize="small")


def draw_divergence(results: Sequence[Result], ax: "Axes") -> None:
    """Draw E[Hel^2(phat_t || p_t)] against t, with the paper's bound and the one free of K.

    The first bounds KL(phat_t || p_t), which is larger. The second is on pbar_t and not on phat_t:
    at t = 0, where pbar_t = p_t, it is zero.
    """
    _require_one_problem(results)
    sizes = {}
    for i, result in enumerate(results):
        found = diagnostics_of(result)
        distance = found.mean("hellinger_squared")
        if not (distance.value > 0).any():
            continue  # Thompson sampling: no distance, and no place on a logarithmic axis
        bars: dict[str, Any] = {"yerr": 2 * np.nan_to_num(distance.se), "marker": ".", "capsize": 2}
        ax.errorbar(found.t + 1, distance.value, label=result.label, **bars, **style(i))
        M = result.configuration.parameters.get("M")
        if M is not None:
            sizes[M] = style(i)["color"]
    steps = np.unique(np.concatenate([diagnostics_of(result).t for result in results]))
    for order, (M, colour) in enumerate(sizes.items()):
        K = results[0].configuration.K
        by_types, free = bounds.divergence_bound(K, steps, M), bounds.k_free_bound(steps, M)
        free[free == 0] = np.nan
        labels = ("$K \\log(6(t+1)M)/M$", "on $\\bar p_t$: $2(1-(1-1/M)^t)$")
        for value, dashes, label in zip((by_types, free), ("--", ":"), labels, strict=True):
            shown = label if order == 0 else None
            ax.plot(steps + 1, value, color=colour, linestyle=dashes, label=shown, **_BOUND)
    ax.axhline(2.0, label="the most there is", **_GREY)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("$t + 1$")
    ax.set_ylabel("$E[\\mathrm{Hel}^2(\\hat p_t, p_t)]$, and bounds")
    ax.legend(frameon=False, fontsize="small", ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1))


def draw_final_regret(results: Sequence[Result], ax: "Axes") -> None:
    """Draw the final regret of ensembles against M, beside that of other agents."""
    _require_equal(results, "problem", "T")
    ensembles = [result for result in results if "M" in result.configuration.parameters]
    if not ensembles:
        raise ValueError("the figure of regret against M needs results of ensemble sampling")
    ensembles.sort(key=lambda result: result.configuration.parameters["M"])
    sizes = [result.configuration.parameters["M"] for result in ensembles]
    means = [result.regret.mean[-1] for result in ensembles]
    errors = [2 * np.nan_to_num(result.regret.se[-1]) for result in ensembles]
    bars: dict[str, Any] = {"yerr": errors, "marker": ".", "capsize": 2}
    ax.errorbar(sizes, means, label="ES", **bars, **style(0))
    others = [result for result in results if "M" not in result.configuration.parameters]
    for i, result in enumerate(others, 1):
        mean, error = result.regret.mean[-1], 2 * np.nan_to_num(result.regret.se[-1])
        ax.axhline(mean, label=result.label, **style(i))
        ax.axhspan(mean - error, mean + error, color=style(i)["color"], alpha=0.2, linewidth=0)
    ax.set_xscale("log")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("models M")
    ax.set_ylabel(f"regret of {ensembles[0].configuration.T:,} steps")
    ax.legend(frameon=False)
