"""Draws hard-for-all-ensembles.png: regret of ES against M on one problem, that of Theorem D+.

Usage: python docs/explanation/hard_for_all.py [--runs 2000] [--out hard-for-all-ensembles.png]

Prints what it draws as a table, and then the regret of inflated and of symmetric ensembles on the
problems of Theorem D that are made for them, beside the lower bounds.
"""

import argparse
from pathlib import Path

import fastes
from fastes.results.curve_styles import curve_styles
from fastes.results.ticks import log_axis
from fastes.theory.lower_bounds import lower_bound, lower_bound_for_all_ensembles

HORIZONS = (600, 10_000)
SIZES = [2, 4, 8, 16, 32, 64, 128, 256, 512]
VARIANTS = [  # K, M, inflation, symmetric
    (4, 6, 1.0, False),
    (4, 6, 1.5, False),
    (4, 6, 2.0, False),
    (4, 6, 1.0, True),
    (2, 16, 1.5, False),
]
_MORE = 10  # times as many runs for the variants, of which most lose nothing


def on_one_problem(T: int, runs: int) -> list[dict[str, float]]:
    """Return, for each M, the regret of ES and its bound, on the problem for T."""
    bandit, rows = fastes.LinearBandit.hard_for_all_ensembles(T), []
    agents = [fastes.ThompsonSampling(), *(fastes.EnsembleSampling(M) for M in SIZES)]
    ts, *ensembles = (r.regret for r in fastes.compare(bandit, agents, T=T, runs=runs, points=2))
    for M, es in zip(SIZES, ensembles, strict=True):
        row = {"M": M, "low": lower_bound_for_all_ensembles(T, M)}
        row |= {"es": es.mean[-1], "es_se": es.se[-1], "ts": ts.mean[-1], "ts_se": ts.se[-1]}
        rows.append({name: float(value) for name, value in row.items()})
        print(
            f"T={T:6,}  M={M:4,}  lower bound {row['low']:8.2f}  ES {row['es']:7.1f} +- "
            f"{row['es_se']:4.1f}  TS {row['ts']:6.1f} +- {row['ts_se']:4.1f}"
        )
    return rows


def variants(runs: int, T: int = 600) -> None:
    """Print the regret of inflated and symmetric ensembles on the problems made for them."""
    for K, M, inflation, symmetric in VARIANTS:
        kind = {"inflation": inflation, "symmetric": symmetric}
        bandit = fastes.LinearBandit.hard_for_ensembles(K, M, **kind)
        agent = fastes.EnsembleSampling(M, **kind)
        regret = fastes.simulate(bandit, agent, T=T, runs=_MORE * runs, points=2).regret
        print(
            f"K={K}  {agent.label:28}  lower bound {lower_bound(K, M, T, **kind):6.2f}  "
            f"measured {regret.mean[-1]:6.2f} +- {regret.se[-1]:.2f}"
        )


def main() -> None:
    """Simulate, print and draw."""
    import matplotlib.pyplot as plt

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).with_name("hard-for-all-ensembles.png")
    )
    chosen = parser.parse_args()
    figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.3), layout="constrained")
    styles = dict(zip(("es", "ts"), curve_styles(["es", "ts"]), strict=True))
    for axes, T in zip(panels, HORIZONS, strict=True):
        rows = on_one_problem(T, chosen.runs if T < 1000 else chosen.runs // 4)
        for name, label in (("es", "ES, M models"), ("ts", "TS")):
            bars = [2 * row[f"{name}_se"] for row in rows]
            line = styles[name].line()
            axes.errorbar(SIZES, [row[name] for row in rows], bars, label=label, capsize=2, **line)
        low = [row["low"] for row in rows]
        axes.plot(SIZES, low, ":", color="0.25", linewidth=1, label="lower bound on ES")
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            log_axis(axis, *limits)
        axes.spines[["top", "right"]].set_visible(False)
        J = (T - 1).bit_length()
        axes.set_title(f"T={T:,}, K={J + 1}, d={J}", fontsize=10)
        axes.set_xlabel("models M")
        axes.set_ylabel(f"regret of {T:,} steps")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(chosen.out, dpi=200)
    variants(chosen.runs)


if __name__ == "__main__":
    main()
