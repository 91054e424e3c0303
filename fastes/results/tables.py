"""Results as tables, for a terminal or a notebook."""

import html
import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from fastes.checks.numbers import counted, printable
from fastes.results.comparison import Difference
from fastes.results.configuration import FACTS, Configuration, unusual
from fastes.results.result import Result

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Grid:
    """A table without rules; its first `left` columns are left-aligned."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 0

    def rich(self) -> "Table":
        """Return it as a rich table, for a terminal."""
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, header_style="bold", pad_edge=False, show_header=any(self.header))
        for i, name in enumerate(self.header):
            table.add_column(Text(name), justify="left" if i < self.left else "right")
        for row in self.rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        return table

    def html(self) -> str:
        """Return its thead and tbody in HTML."""
        head = "".join(self._cell("th", "col", i, name) for i, name in enumerate(self.header))
        head = f"<thead><tr>{head}</tr></thead>\n" if any(self.header) else ""
        rows = []
        for row in self.rows:
            cells = [self._cell("td", "", i, cell) for i, cell in enumerate(row) if i]
            rows.append(f"<tr>{self._cell('th', 'row', 0, row[0])}{''.join(cells)}</tr>\n")
        return f"{head}<tbody>{''.join(rows)}</tbody>"

    def _cell(self, tag: str, scope: str, i: int, text: str) -> str:
        scope = f' scope="{scope}"' if scope else ""
        side = ' class="left"' if i < max(1, self.left) else ""
        return f"<{tag}{scope}{side}>{escaped(text)}</{tag}>"


class Column(NamedTuple):
    """A column of a table: its title, its text for an item, and an explanation."""

    title: str
    text: Callable[[Any], str]
    note: str = ""


def grid(columns: Sequence[Column], items: Iterable[Any], left: int = 0) -> Grid:
    """Return a table with a row for each item."""
    rows = [[column.text(item) for column in columns] for item in items]
    return Grid([column.title for column in columns], rows, left)


def notes(columns: Sequence[Column]) -> list[str]:
    """Return the explanations of columns, as wrapped lines."""
    return textwrap.wrap(" ".join(column.note for column in columns if column.note), 77)


def escaped(text: str) -> str:
    """Return a text as HTML; bytes that are not valid text are shown as escapes."""
    return html.escape(text.encode(errors="backslashreplace").decode(), quote=True)


Parts = Sequence[str | Grid]
"""Lines and tables to show, from top to bottom."""


def print_parts(parts: Parts) -> None:
    """Print lines and tables on stdout."""
    from rich.console import Console

    console = Console(highlight=False, force_jupyter=False)  # text even in a notebook
    for part in parts:
        if isinstance(part, str):
            print(printable(part))
            continue
        # Captured: rich itself would end the process on a closed pipe.
        with console.capture() as drawn:
            console.print(part.rich())
        for line in drawn.get().splitlines():
            print(line.rstrip())


def parts_html(parts: Parts) -> str:
    """Return lines and tables as HTML."""
    shown = []
    for part in parts:
        if isinstance(part, Grid):
            shown.append(f"<table>{part.html()}</table>")
        elif part.strip():
            shown.append(f"<p>{escaped(part.strip())}</p>")
    return "".join(shown)


def _spread(result: Result) -> str:
    low, high = (result.regret.quantile(q)[-1] for q in (0.05, 0.95))
    return f"{rounded(low)} to {rounded(high)}"


AGENT = Column("agent", lambda r: r.label)
RUNS = Column("runs", lambda r: f"{r.configuration.runs:,}")
REGRET = Column(
    "regret at T",
    lambda r: with_error(r.regret.mean[-1], r.regret.se[-1]),
    "+- is one standard error of the mean over runs.",
)
MEDIAN = Column("median", lambda r: rounded(r.regret.median[-1]))
SPREAD = Column("90% of runs", _spread, "90% of runs lie between the 5% and 95% quantiles.")
PER_STEP = Column(
    "per step",
    lambda r: rounded(r.regret.mean[-1] / r.configuration.T),
    "Per step is the regret at T divided by T.",
)
SECONDS = Column("seconds", lambda r: f"{r.configuration.seconds:.2f}")


def result_tables(results: Sequence[Result], differences: Sequence[Difference] = ()) -> Parts:
    """Return the setting, a row for each agent, and the paired differences."""
    several = all(result.configuration.runs > 1 for result in results)
    columns = [AGENT, REGRET, *([MEDIAN, SPREAD] if several else []), PER_STEP, SECONDS]
    lines = notes(columns) if several else []
    for result in results:
        c = result.configuration
        rate = c.T * c.runs / c.seconds
        lines.append(f"{result.label}: {rate:,.0f} steps per second, {c.engine} engine")
    for each in differences:
        shown = with_error(each.mean, each.se)
        lines.append(f"{each.agent} minus {each.baseline}, run by run: {shown}")
    return [*setting_lines(results), grid(columns, results, 1), *lines]


def setting_line(results: Sequence[Result]) -> str:
    """Return a line that describes what was simulated."""
    c = results[0].configuration
    runs = sorted({result.configuration.runs for result in results})
    count = f"{runs[0]:,} to " if len(runs) > 1 else ""
    return (
        f"{_on_offer(c)}, d={c.d:,}, T={c.T:,} steps, "
        f"{count}{counted(runs[-1], 'run')}, {c.reward_text}, seed {c.seed}"
    )


def setting_lines(results: Sequence[Result]) -> list[str]:
    """Return wrapped lines on what was simulated, and one for each unusual fact."""
    facts = unusual(results[0].configuration._asdict())
    lines = [fact.line(facts[name]) for name, fact in FACTS.items() if name in facts and fact.line]
    return [*textwrap.wrap(setting_line(results), 80), *lines]


def rounded(number: float | None) -> str:
    """Return a number to three digits, or as an integer if it has more."""
    if number is None:
        return "-"
    size = abs(number)
    if not 1e-4 <= size < 1e9:
        return f"{number:.3g}"
    return f"{number:,.{max(0, 2 - math.floor(math.log10(size)))}f}"


def with_error(mean: float | None, se: float | None) -> str:
    """Return mean +- standard error, rounded to two digits of the standard error.

    Examples
    --------
    >>> with_error(27.46, 5.02), with_error(-0.3, 18.0)
    ('27.5 +- 5.0', '0 +- 18')
    """
    if mean is None or se is None:
        return "-" if mean is None else f"{mean:,.4g}"
    if math.isnan(se) or not 1e-4 < se < 1e9:
        return f"{mean:,.4g}" if math.isnan(se) else f"{mean:.4g} +- {se:.2g}"
    places = max(0, 1 - math.floor(math.log10(se)))
    return f"{mean:z,.{places}f} +- {se:,.{places}f}"


def rounded_up(bound: float, shown: str) -> str:
    """Return a bound on the number at the start of `shown`, rounded up to the same decimal place.

    So a number that does not exceed the bound is not shown to exceed it.
    """
    number = Decimal(shown.split()[0].replace(",", ""))
    return f"{Decimal(bound).quantize(number, ROUND_CEILING):,}".lower()


def in_brackets(mean: float | None, se: float | None) -> str:
    """Return the mean rounded to the first digit of its standard error, and that digit."""
    if mean is None:
        return "-"
    if se is None or not 1e-3 * abs(mean) < 1e3 * se:  # the error is below the digits shown
        return rounded(mean)
    exponent = math.floor(math.log10(max(abs(mean), se)))
    if not -4 <= exponent < 4:
        unit = 10.0**exponent
        return f"{in_brackets(mean / unit, se / unit)}e{exponent:+d}"
    places = max(0, -math.floor(math.log10(1.0526 * se)))  # 0.095 and above is 0.1
    return f"{mean:,.{places}f}({round(se * 10**places)})"


def _on_offer(c: Configuration) -> str:
    """Return a description of the arms."""
    if c.actions == "fixed":
        return f"K={c.K:,} arms"
    return c.actions if c.K is None else f"K={c.K:,} arms {c.actions}"
