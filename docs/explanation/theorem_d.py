"""Draws theorem-d.png: regret of ES and TS on Theorem D's problem against M, between its bounds.

Usage: python docs/explanation/theorem_d.py [--runs 2000] [--out theorem-d.png]

Prints what it draws as a table. Every M has a problem of its own, and so Thompson sampling's
regret depends on M too.
"""

import argparse
from pathlib import Path

import fastes
from fastes.results.curve_styles import curve_styles
from fastes.results.ticks import log_axis
from fastes.theory.bounds import best_bound, lower_bound
from fastes.theory.constants import constants

PANELS = (
    (2, 2000, [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]),
    (21, 5000, [25, 50, 100, 200, 400, 800, 1600, 3200]),
)


def measure(K: int, T: int, sizes: list[int], runs: int) -> list[dict[str, float]]:
    """Return, for each M, the regret of both agents and the bounds on that of ES."""
    rows = []
    for M in sizes:
        bandit = fastes.LinearBandit.hard_for_ensembles(K, M)
        agents = [fastes.EnsembleSampling(M), fastes.ThompsonSampling()]
        regrets = [r.regret for r in fastes.compare(bandit, agents, T=T, runs=runs, points=2)]
        (es, es_se), (ts, ts_se) = ((r.mean[-1], r.se[-1]) for r in regrets)
        low, high = lower_bound(K, M, T), best_bound(constants(bandit), T, M)
        row = {"M": M, "es": es, "es_se": es_se, "ts": ts, "ts_se": ts_se, "low": low}
        row["high"] = high
        rows.append({name: float(value) for name, value in row.items()})
        print(
            f"K={K:2}  T={T}  M={M:5,}  lower bound {low:8.1f}  ES {es:7.1f} +- {es_se:4.1f}  "
            f"TS {ts:6.1f} +- {ts_se:4.1f}  best upper bound {high:9.1f}"
        )
    return rows


def main() -> None:
    """Simulate, print and draw."""
    import matplotlib.pyplot as plt

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("theorem-d.png"))
    chosen = parser.parse_args()
    figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.3), layout="constrained")
    styles = dict(zip(("es", "ts"), curve_styles(["es", "ts"]), strict=True))
    for axes, (K, T, sizes) in zip(panels, PANELS, strict=True):
        rows = measure(K, T, sizes, chosen.runs)
        x = [row["M"] for row in rows]
        for name, label in (("es", "ES, M models"), ("ts", "TS, on the same problem")):
            bars = [2 * row[f"{name}_se"] for row in rows]
            line = styles[name].line()
            axes.errorbar(x, [row[name] for row in rows], bars, label=label, capsize=2, **line)
        look = {"color": "0.25", "linewidth": 1}
        axes.plot(x, [row["high"] for row in rows], "--", label="best upper bound on ES", **look)
        axes.plot(x, [row["low"] for row in rows], ":", label="lower bound on ES", **look)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            log_axis(axis, *limits)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_title(f"K={K}, d={K - 1}, T={T:,}", fontsize=10)
        axes.set_xlabel("models M")
        axes.set_ylabel(f"regret of {T:,} steps")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(chosen.out, dpi=200)


if __name__ == "__main__":
    main()
