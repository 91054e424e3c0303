"""Draw the figure and write the tables of the page: ``python -m glm_ensemble_size.draw [DATA]``."""

import sys
from itertools import product
from math import isfinite
from pathlib import Path

from ensemble_size.collect import read
from matplotlib.figure import Figure

from fastes.results.curve_styles import curve_styles
from fastes.results.ticks import log_axis, number_text
from glm_ensemble_size.__main__ import DATA, HUGE

DOCS = Path(__file__).parents[2]
FIGURE = DOCS / "figures/glm-ensemble-size.png"
PAGE = DOCS / "explanation/generalised-linear.md"
BEGIN, END = "<!-- {}: python -m glm_ensemble_size.draw -->\n", "<!-- end of {} -->\n"


def main(data: Path) -> None:
    """Draw the figure, and fill the page."""
    regret, smallest = read(data / "regret.csv"), read(data / "smallest.csv")
    figure(regret).savefig(FIGURE, dpi=200)
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), regret, smallest), encoding="utf-8")


def figure(regret: list[dict]) -> Figure:
    """Draw ratios of regrets against M at the longest horizon, a panel for each d and rewards."""
    sizes = sorted({row["M"] for row in regret} - {HUGE, "TS"})
    rates = list(dict.fromkeys(row["rate"] for row in regret))
    styles = curve_styles(["es"] * len(rates))
    panels = list(dict.fromkeys((row["d"], row["rewards"]) for row in regret))
    panels.sort()
    drawn = Figure(figsize=(1 + 2.4 * len(panels), 3.4), layout="constrained")
    axes = drawn.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    longest = max(row["T"] for row in regret)
    for ax, (d, rewards) in zip(axes, panels, strict=True):
        for rate, style in zip(rates, styles, strict=True):
            facts = {"d": d, "rewards": rewards, "rate": rate, "T": longest}
            its = [_one(regret, M=M, **facts) for M in sizes]
            bars = [2 * row["ratio_se"] for row in its]
            y = [row["ratio"] for row in its]
            ax.errorbar(sizes, y, bars, label=f"rate {rate:g}", capsize=2, **style.line())
        ax.axhline(1.0, color="0.4", linewidth=0.8)
        ax.axhline(1.1, color="0.4", linewidth=0.8, linestyle=":")
        ax.set(xscale="log", yscale="log", xlabel="models M", title=f"{rewards}, $d={d}$")
        ax.title.set_size(10)
        log_axis(ax.xaxis, *ax.get_xlim())
        ax.set_xticks(sizes, [number_text(M) for M in sizes])
        ax.spines[["top", "right"]].set_visible(False)
    ticks = [0.6, 0.8, 1, 1.5, 2, 3, 5, 10, 20]
    low, high = axes[0].get_ylim()
    axes[0].set_yticks([y for y in ticks if low <= y <= high])
    axes[0].set_yticklabels([f"{y:g}" for y in ticks if low <= y <= high])
    axes[0].yaxis.minorticks_off()
    axes[0].set_ylabel("regret over that of fresh models")
    axes[-1].legend(frameon=False, fontsize=8)
    return drawn


def filled(page: str, regret: list[dict], smallest: list[dict]) -> str:
    """Return the page with both tables."""
    for name, table in (
        ("smallest ensembles", smallest_table(smallest)),
        ("regrets", regret_table(regret)),
    ):
        begin, end = BEGIN.format(name), END.format(name)
        start, stop = page.index(begin) + len(begin), page.index(end)
        page = page[:start] + table + page[stop:]
    return page


def smallest_table(rows: list[dict]) -> str:
    """Return the smallest sufficient M: a row for each d and T, clicks beside linear rewards."""
    rates = list(dict.fromkeys(row["rate"] for row in rows))
    columns = list(product(("clicks", "linear"), rates))
    heads = [f"{rewards}, {rate:g}" for rewards, rate in columns]
    text = f"| $d$ | $T$ | {' | '.join(heads)} |\n{'|---' * (2 + len(heads))}|\n"
    for d, T in dict.fromkeys((row["d"], row["T"]) for row in rows):
        cells = [_at(_one(rows, rewards=a, rate=r, d=d, T=T)) for a, r in columns]
        text += f"| {d} | {T:,} | {' | '.join(cells)} |\n"
    return text


def regret_table(rows: list[dict]) -> str:
    """Return mean regrets on clicks at the longest horizon, and their ratios."""
    T = max(row["T"] for row in rows)
    rows = [row for row in rows if (row["rewards"], row["T"]) == ("clicks", T)]
    names = [M for M in dict.fromkeys(row["M"] for row in rows) if M not in (HUGE, "TS")]
    text = "| $d$ | rate | fresh models | TS | "
    text += " | ".join(f"$M={M}$" for M in names) + f" |\n{'|---' * (4 + len(names))}|\n"
    for d, rate in dict.fromkeys((row["d"], row["rate"]) for row in rows):
        huge = _one(rows, d=d, rate=rate, M=HUGE)
        cells = [f"{huge['regret']:.0f} ± {huge['se']:.0f}"]
        for M in ("TS", *names):
            row = _one(rows, d=d, rate=rate, M=M)
            cells.append(f"{row['ratio']:.2f} ± {row['ratio_se']:.2f}")
        text += f"| {d} | {rate:g} | {' | '.join(cells)} |\n"
    return text


def _one(rows: list[dict], **facts) -> dict:
    (row,) = (row for row in rows if all(row[name] == value for name, value in facts.items()))
    return row


def _at(row: dict) -> str:
    """Return the smallest M with its interval; beyond the sizes tried where it is not reached."""
    largest = row["largest"]
    M, low, high = (f"{row[k]:g}" if isfinite(row[k]) else f">{largest}" for k in _INTERVAL)
    return f"{M} ({low} to {high})"


_INTERVAL = ("M", "low", "high")

if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
