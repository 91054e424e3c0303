"""The tables of docs/explanation/ensemble-size.md, from the tables of numbers."""

from math import isfinite
from pathlib import Path

from ensemble_size.collect import read
from ensemble_size.growth import growth

AGENTS = {"es": "ES", "symmetric": "ES, symmetric", "es++": "Ensemble++"}
RULES = {
    "relative": "mean, 10%",
    "step": "mean, 0.02 a step",
    "tail": "95% quantile, 10%",
    "root": "$\\sqrt{KT}$",
}


class Numbers:
    """The numbers of the study, as rows of dictionaries."""

    def __init__(self, data: Path) -> None:
        self.regret, self.smallest, self.states, self.truncated = (
            read(data / f"{name}.csv") for name in ("regret", "smallest", "states", "truncated")
        )

    def smallest_of(self, part, rule, agent, chosen=lambda row: True):
        """Return the rows of one curve."""
        wanted = {"part": part, "rule": rule, "agent": agent}
        return [r for r in self.smallest if wanted.items() <= r.items() and chosen(r)]


def horizon_name(T):
    """Return T = ... as mathematics, with a comma that is no punctuation."""
    return f"$T={T:,}$".replace(",", "{,}")


def on_ball(horizon):
    """Return what chooses rows of a ball whose T is this function of d."""
    return lambda row: row["K"] is None and row["T"] == horizon(row["d"])


DIMENSION = {
    "ball, $T=100d$": on_ball(lambda d: 100 * d),
    "ball, $T=10d^2$": on_ball(lambda d: 10 * d * d),
    "$K=20d$, $T=100d$": lambda row: row["K"] is not None,
}
ARMS = {horizon_name(T): (lambda row, T=T: row["T"] == T) for T in (1000, 10_000)}
HORIZON = {
    "$K=100$": lambda row: row["K"] is not None,
    "ball": lambda row: row["K"] is None,
}
HARD = {f"$K={K}$": (lambda row, K=K: row["K"] == K) for K in (11, 41)}


SHOWN = {
    "regret": (None, 2, 4, 8, 16, 32, 96),
    "dip": (None, 8, 32, 64, 256),
    "states": (None, 8, 32, 256),
}
"""Numbers of models in tables; figures and data have more."""


def some(sets, end):
    """Return the sets whose name ends so: tables have fewer than figures."""
    return {name: chosen for name, chosen in sets.items() if name.endswith(end)}


def regret_table(numbers):
    """Return regret against M at K=100, d=10, T=1,000: mean, tails and the gap to TS."""
    lines = ["| agent | $M$ | mean | 95% quantile | worst run | minus TS |"]
    lines.append("|---" * 6 + "|")
    for row in numbers.regret:
        if (row["part"], row["problem"], row["T"]) != ("arms", "K100", 1000):
            continue
        if row["M"] not in SHOWN["regret"]:
            continue
        cells = [AGENTS.get(row["agent"], "TS"), row["M"] or ""]
        cells.append(f"{row['mean']:.1f} ± {row['se']:.1f}")
        cells += [f"{row[name]:,.4g}" for name in ("q95", "worst")]
        cells.append("" if row["agent"] == "ts" else f"{row['gap']:+.1f} ± {row['gap_se']:.1f}")
        lines.append(_line(cells))
    return lines


def smallest_table(numbers, part, sets, x, rules=("relative", "tail")):
    """Return the smallest M of a part, a column for each value of x and the power of growth."""
    values = {row[x] for row in numbers.smallest if row["part"] == part}
    values = sorted(values, key=lambda value: (value is None, value or 0))
    head = ["set", "agent", "sufficient", *("ball" if v is None else f"{v:,}" for v in values)]
    lines = [_line([*head, "power"]), "|---" * (len(head) + 1) + "|"]
    for name, chosen in sets.items():
        for agent in AGENTS:
            for rule in rules:
                rows = numbers.smallest_of(part, rule, agent, chosen)
                if rows:
                    at = {row[x]: row for row in rows}
                    cells = [_size(at[v]) if v in at else "" for v in values]
                    grown = _growth(growth(rows, x))
                    lines.append(_line([name, AGENTS[agent], RULES[rule], *cells, grown]))
    return lines


def growth_table(numbers):
    """Return for each curve against T how well a power and a logarithm fit."""
    lines = ["| set | agent | sufficient | power of $T$ | misfit | misfit of $a+b\\log T$ |"]
    lines.append("|---" * 6 + "|")
    for part, sets, rules in (
        ("horizon", HORIZON, ("relative",)),
        ("hard", HARD, ("root",)),
    ):
        for name, chosen in sets.items():
            for agent in AGENTS:
                for rule in rules:
                    found = growth(numbers.smallest_of(part, rule, agent, chosen), "T")
                    if found:
                        fits = f"{found.power_misfit:.1f}", f"{found.log_misfit:.1f}"
                        set_name = name if part == "horizon" else f"Theorem D, {name}"
                        cells = [set_name, AGENTS[agent], RULES[rule], _growth(found), *fits]
                        lines.append(_line(cells))
    return lines


def dip_table(numbers):
    """Return the gap to TS in percent of its regret, by horizon, of ensembles and of shrunk TS."""
    rows = [row for row in numbers.regret if row["part"] == "dip"]
    times = [T for T in sorted({row["T"] for row in rows}) if T >= 100]
    ts = {row["T"]: row["mean"] for row in rows if row["agent"] == "ts" and row["inflation"] == 1}
    curves = {}
    for row in rows:
        if row["M"] not in SHOWN["dip"]:
            continue
        curves.setdefault((row["agent"], row["M"], row["inflation"]), {})[row["T"]] = row
    lines = [_line(["agent", *map(horizon_name, times)]), "|---" * (len(times) + 1) + "|"]
    for (agent, M, inflation), at in curves.items():
        if (agent, inflation) == ("ts", 1):
            continue
        name = f"TS, inflation {inflation:g}" if agent == "ts" else f"{AGENTS[agent]}, $M={M}$"
        gaps = [(100 * at[T]["gap"] / ts[T], 100 * at[T]["gap_se"] / ts[T]) for T in times]
        lines.append(_line([name, *(f"{gap:+.1f} ± {se:.1f}" for gap, se in gaps)]))
    return lines


def states_table(numbers):
    """Return what was measured of states: variance, optimism, entropy, regret of the step."""
    head = ["agent", "$t$", "variance", "optimistic", "entropy left", "regret of the step"]
    lines = [_line(head), "|---" * len(head) + "|"]
    for row in numbers.states:
        if row["M"] not in SHOWN["states"] or row["t"] not in (10, 100, 999):
            continue
        name = "TS" if row["M"] is None else f"ES, $M={row['M']}$"
        cells = [_measured(row, each) for each in ("ensemble_variance", "exceedance")]
        cells += [_measured(row, each) for each in ("entropy", "step_regret")]
        lines.append(_line([name, f"{row['t']:,}", *cells]))
    return lines


def truncated_table(numbers):
    """Return the regret of ensembles beside that of Thompson sampling without unlikely arms."""
    lines = ["| agent | regret | minus TS |", "|---" * 3 + "|"]
    for row in numbers.truncated:
        name = {"ts": "TS", "es": "ES, $M={M}$", "truncated": "TS without arms below $1/{M}$"}
        cells = [name[row["agent"]].replace("{M}", str(row["M"]))]
        cells.append(f"{row['mean']:.1f} ± {row['se']:.1f}")
        cells.append("" if row["agent"] == "ts" else f"{row['gap']:+.1f} ± {row['gap_se']:.1f}")
        lines.append(_line(cells))
    return lines


def all_tables(numbers):
    """Return the lines of every table, by its name on the page."""
    return {
        "regret": regret_table(numbers),
        "dimension": smallest_table(numbers, "dimension", some(DIMENSION, "$T=100d$"), "d"),
        "arms": smallest_table(numbers, "arms", ARMS, "K", ("relative",)),
        "horizon": smallest_table(numbers, "horizon", HORIZON, "T"),
        "hard": smallest_table(numbers, "hard", some(HARD, "$K=11$"), "T", ("root", "relative")),
        "growth": growth_table(numbers),
        "dip": dip_table(numbers),
        "states": states_table(numbers),
        "truncated": truncated_table(numbers),
    }


def filled(page, tables):
    """Return a page with every table between its marks."""
    for name, lines in tables.items():
        begin, end = f"<!-- table: {name} -->\n", "<!-- end of the table -->\n"
        start = page.index(begin) + len(begin)
        stop = page.index(end, start)
        page = page[:start] + "".join(f"{line}\n" for line in lines) + page[stop:]
    return page


def _line(cells):
    return f"| {' | '.join(map(str, cells))} |"


def _size(row):
    """Return a smallest M and its interval; what is above all sizes that were tried says so."""
    most = f"> {row['largest']}"
    M, low, high = (
        f"{row[name]:.3g}" if isfinite(row[name]) else most for name in ("M", "low", "high")
    )
    return M if M == most else f"{M} ({low}, {high})"


def _growth(found):
    if found is None:
        return ""
    places = 2 if found.power_se >= 0.005 else 3
    return f"{found.power:.{places}f} ± {found.power_se:.{places}f}"


def _measured(row, name):
    return "" if row[name] is None else f"{row[name]:.3g} ± {row[f'{name}_se']:.2g}"
