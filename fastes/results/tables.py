"""Results as tables: lines and grids, for a terminal or a notebook."""

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastes.results.comparison import Difference
from fastes.results.result import Configuration, Result

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Grid:
    """A table without lines; its first `left` columns are flush left."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 0

    def rich(self) -> "Table":
        """Return it for a terminal."""
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, header_style="bold", pad_edge=False, show_header=any(self.header))
        for i, name in enumerate(self.header):
            table.add_column(Text(name), justify="left" if i < self.left else "right")
        for row in self.rows:
            table.add_row(*map(Text, row))
        return table

    def html(self) -> str:
        """Return it for a notebook."""
        body = "".join(_html_row("td", row) for row in self.rows)
        return f"<table><thead>{_html_row('th', self.header)}</thead><tbody>{body}</tbody></table>"


def _html_row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"


Parts = Sequence[str | Grid]
"""What is shown one below the other."""


def print_parts(parts: Parts) -> None:
    """Print lines and tables, one below the other, on stdout."""
    from rich.console import Console

    console = Console(highlight=False, force_jupyter=False)  # text, in a notebook too
    for part in parts:
        if isinstance(part, str):
            print(part)
            continue
        # Captured, for rich itself would end the process where nobody reads what it prints.
        with console.capture() as drawn:
            console.print(part.rich())
        for line in drawn.get().splitlines():
            print(line.rstrip())


def parts_html(parts: Parts) -> str:
    """Return lines and tables as HTML, one below the other."""
    return "".join(
        part.html() if isinstance(part, Grid) else f"<p>{html.escape(part.strip())}</p>"
        for part in parts
        if not isinstance(part, str) or part.strip()
    )


def result_tables(results: Sequence[Result], differences: Sequence[Difference] = ()) -> Parts:
    """Return what was simulated, a row for each agent, and the paired differences."""
    several = all(result.configuration.runs > 1 for result in results)
    spread = ["median", "90% of runs"] if several else []
    header = ["agent", "regret at T", *spread, "per step", "seconds"]
    rows = [[result.label, *_row(result, several)] for result in results]
    grid = Grid(header, rows, left=1)
    parts: list[str | Grid] = [setting_line(results), *world_lines(results), grid]
    if several:
        parts += [
            "+- is one standard error of the mean over runs. 90% of runs lie between the",
            "5% and 95% quantiles. Per step is the regret at T divided by T.",
        ]
    for result in results:
        c = result.configuration
        rate = c.T * c.runs / c.seconds
        parts.append(f"{result.label}: {rate:,.0f} steps per second, {c.engine} engine")
    for each in differences:
        shown = with_error(each.mean, each.se)
        parts.append(f"{each.agent} minus {each.baseline}, run by run: {shown}")
    return parts


def setting_line(results: Sequence[Result]) -> str:
    """Return a line that says what was simulated."""
    c = results[0].configuration
    runs = sorted({result.configuration.runs for result in results})
    count = f"{runs[0]:,} to {runs[-1]:,}" if len(runs) > 1 else f"{runs[0]:,}"
    return (
        f"{_arms(c)}, d={c.d:,}, T={c.T:,} steps, "
        f"{count} run{'s' if runs[-1] > 1 else ''}, noise {c.noise:g}, seed {c.seed}"
    )


def world_lines(results: Sequence[Result]) -> list[str]:
    """Return a line on each way in which the world differs from what agents believe."""
    c = results[0].configuration
    truth = [] if c.truth == "belief" else [f"in truth: {c.truth}"]
    steps = f"{c.delay:,} step{'s' if c.delay > 1 else ''}"
    return [*truth, f"rewards are late by {steps}"] if c.delay else truth


def final_regret(result: Result) -> list[str]:
    """Return the runs, the final regret and the regret per step of a result, for a table."""
    c, mean = result.configuration, result.regret.mean[-1]
    return [f"{c.runs:,}", with_error(mean, result.regret.se[-1]), rounded(mean / c.T)]


def _row(result: Result, several: bool) -> list[str]:
    regret, c = result.regret, result.configuration
    low, high = regret.quantile(0.05)[-1], regret.quantile(0.95)[-1]
    spread = [rounded(regret.median[-1]), f"{rounded(low)} to {rounded(high)}"]
    return [
        with_error(regret.mean[-1], regret.se[-1]),
        *(spread if several else []),
        rounded(regret.mean[-1] / c.T),
        f"{c.seconds:.2f}",
    ]


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


def _arms(c: Configuration) -> str:
    """Return what is on offer, as a table's first words."""
    if c.actions == "fixed":
        return f"K={c.K:,} arms"
    return c.actions if c.K is None else f"K={c.K:,} arms {c.actions}"
