"""Figures of the benchmarks' history."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from bench.history import Record
from fastes.results.curve_styles import curve_styles
from fastes.results.figures import save_figure


def draw_history(records: Sequence[Record], only: str, out: Path) -> None:
    """Draw every ratio over its first, against the number of the record; those that match."""
    names = sorted({name for record in records for name in record.ratios if only in name})
    if not names:
        raise ValueError(f"no benchmark's name holds {only!r}")

    def draw(figure: Figure) -> None:
        figure.set_size_inches(5.0, 3.4)
        ax = figure.subplots()
        ax.spines[["top", "right"]].set_visible(False)
        subjects = sorted({name.partition("/")[0] for name in names})
        styles = dict(zip(subjects, curve_styles(subjects), strict=True))
        for name in names:
            known = [(i, r.medians()[name]) for i, r in enumerate(records) if name in r.ratios]
            look = styles[name.partition("/")[0]].line()
            values = [ratio / known[0][1] for _, ratio in known]
            ax.plot([i for i, _ in known], values, **look)
        for subject, style in styles.items():
            ax.plot([], [], label=subject, **style.line())
        ax.axhline(1.0, color="0.7", linewidth=1, zorder=0)
        labels = [f"{record.date[:10]}\n{record.commit[:7]}" for record in records]
        ax.set_xticks(range(len(records)), labels, fontsize="x-small")
        ax.set_ylabel("ratio to NumPy, over the first")
        ax.legend(frameon=False, fontsize="x-small", ncols=2)

    save_figure(draw, out)
