"""Draw ensemble-size.png and smallest-ensemble.png from studies (docs/figures/ensemble-size.sh).

The smallest M whose regret a step is within 0.02 of Thompson sampling's is where the mean of the
paired difference first falls to 0.02, interpolated in log M between the sizes of the study; what
is given as its error is where the mean plus or minus two standard errors does.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import fastes
from fastes.results.curve_styles import curve_styles
from fastes.results.figures import save_figure
from fastes.studies.figures import draw_against

HERE = Path(__file__).parent
NEAR = 0.02


def differences(sweep, axis):
    """Return, by the value of an axis, sizes M, mean differences from TS a step and errors."""
    finals = {}
    for setting, result in sweep.results():
        finals[setting.axes[axis], setting.axes["M"]] = result.regret.final / setting.T
    found = {}
    for value in dict.fromkeys(value for value, _ in finals):
        sizes = sorted(M for at, M in finals if at == value and M is not None)
        gaps = [finals[value, M] - finals[value, None] for M in sizes]
        errors = [gap.std(ddof=1) / np.sqrt(len(gap)) for gap in gaps]
        found[value] = np.array(sizes), np.array([gap.mean() for gap in gaps]), np.array(errors)
    return found


def smallest(sizes, gaps):
    """Return where gaps first fall to NEAR; nan if they do not."""
    below = np.flatnonzero(gaps <= NEAR)
    if not len(below):
        return np.nan
    i = below[0]
    if i == 0:
        return float(sizes[0])
    share = (gaps[i - 1] - NEAR) / (gaps[i - 1] - gaps[i])
    return float(np.exp(np.log(sizes[i - 1]) + share * np.log(sizes[i] / sizes[i - 1])))


def main(folder):
    """Print a table and draw both figures."""
    size = fastes.load(folder / "size.db")
    save_figure(lambda ax: draw_against(size.results(), "M", ax), HERE / "ensemble-size.png")
    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axis, ax in zip("dK", panels, strict=True):
        print(f"{axis:>7} {'smallest M':>10} {'from':>6} {'to':>6}")
        values, middle, low, high = [], [], [], []
        for value, (sizes, gaps, errors) in differences(
            fastes.load(folder / f"{axis}.db"), axis
        ).items():
            at = [smallest(sizes, gaps + k * errors) for k in (0, -2, 2)]
            print(f"{value:7,} {at[0]:10.1f} {at[1]:6.1f} {at[2]:6.1f}")
            values.append(value)
            middle.append(at[0])
            low.append(at[0] - at[1])
            high.append(at[2] - at[0])
        ax.errorbar(values, middle, [low, high], capsize=3, **curve_styles(["es"])[0].line())
        ax.set_xscale("log")
        ax.set_xticks(values, [f"{value:,}" for value in values])
        ax.minorticks_off()
        ax.set_xlabel("d, with K = 100" if axis == "d" else "K, with d = 10")
        ax.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("smallest M within 0.02 a step of TS")
    panels[0].set_ylim(bottom=0)
    figure.savefig(HERE / "smallest-ensemble.png", dpi=200)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
