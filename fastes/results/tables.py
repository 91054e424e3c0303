"""Results as tables: text and tables of rich, for a terminal or a notebook to print."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fastes.results.comparison import Comparison
from fastes.results.result import Result

if TYPE_CHECKING:
    from rich.table import Table

Parts = Sequence["str | Table"]
"""What is printed one below the other."""


def comparison_tables(comparison: Comparison) -> Parts:
    """Return what was simulated, a row for each agent, and the paired differences."""
    rows = [[result.label, *_row(result)] for result in comparison.results]
    parts: list[str | Table] = [
        setting_line(comparison),
        grid(["", "regret", "median", "5% to 95%", "a step", "seconds"], rows, left=1),
    ]
    for result in comparison.results:
        c = result.configuration
        rate = c.T * c.runs / c.seconds
        parts.append(f"{result.label}: {rate:,.0f} steps a second, {c.engine} engine")
    for x, y, mean, se in comparison.differences():
        parts.append(f"{x} less {y}, paired: {with_error(mean, se)}")
    return parts


def setting_line(comparison: Comparison) -> str:
    """Return a line that says what was simulated."""
    c = comparison.results[0].configuration
    return (
        f"K={c.K:,} arms, d={c.d:,}, T={c.T:,} steps, "
        f"{c.runs:,} run{'s' if c.runs > 1 else ''}, noise {c.noise:g}, seed {c.seed}"
    )


def final_regret(result: Result) -> list[str]:
    """Return the runs, the final regret and the regret a step of a result, for a table."""
    c, mean = result.configuration, result.regret.mean[-1]
    return [f"{c.runs:,}", with_error(mean, result.regret.se[-1]), rounded(mean / c.T)]


def _row(result: Result) -> list[str]:
    regret, c = result.regret, result.configuration
    low, high = regret.quantile(0.05)[-1], regret.quantile(0.95)[-1]
    return [
        with_error(regret.mean[-1], regret.se[-1]),
        rounded(regret.median[-1]),
        f"{rounded(low)} to {rounded(high)}",
        rounded(regret.mean[-1] / c.T),
        f"{c.seconds:.2f}",
    ]


def grid(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 0) -> "Table":
    """Return a table without lines; its first `left` columns are flush left."""
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for i, name in enumerate(header):
        table.add_column(name, justify="left" if i < left else "right")
    for row in rows:
        table.add_row(*row)
    return table


def rounded(number: float | None) -> str:
    """Return a number to three digits, or to the unit."""
    if number is None:
        return "-"
    size = abs(number)
    if not 1e-4 <= size < 1e9:
        return f"{number:.3g}"
    return f"{number:,.{max(0, 2 - math.floor(math.log10(size)))}f}"


def with_error(mean: float | None, se: float | None) -> str:
    """Return the mean to as many places as two digits of its standard error have."""
    if mean is None or se is None:
        return "-" if mean is None else f"{mean:,.4g}"
    if math.isnan(se) or not 1e-4 < se < 1e9:
        return f"{mean:,.4g}" if math.isnan(se) else f"{mean:.4g} +- {se:.2g}"
    places = max(0, 1 - math.floor(math.log10(se)))
    return f"{mean:,.{places}f} +- {se:,.{places}f}"


def in_brackets(mean: float | None, se: float | None) -> str:
    """Return the mean to the place of its standard error's first digit, and that digit."""
    if mean is None:
        return "-"
    if se is None or not 1e-3 * abs(mean) < 1e3 * se:  # so exact that no digit of it is shown
        return rounded(mean)
    exponent = math.floor(math.log10(max(abs(mean), se)))
    if not -4 <= exponent < 4:
        unit = 10.0**exponent
        return f"{in_brackets(mean / unit, se / unit)}e{exponent:+d}"
    places = max(0, -math.floor(math.log10(1.0526 * se)))  # 0.095 and above is 0.1
    return f"{mean:,.{places}f}({round(se * 10**places)})"
