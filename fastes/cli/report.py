"""What people see: a table on stdout, progress on stderr."""

import contextlib
import functools
import math
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from fastes.kernels.jit import announce_compilation

if TYPE_CHECKING:
    from rich.console import Console

    from fastes.agents import Agent
    from fastes.result import Comparison, Result
    from fastes.simulation import Progress


def print_comparison(comparison: "Comparison") -> None:
    """Print the setting, a row of figures for each agent, and the paired differences."""
    from rich.console import Console
    from rich.table import Table

    first = comparison.results[0].configuration
    click.echo(
        f"K={first.K:,} arms, d={first.d:,}, T={first.T:,} steps, "
        f"{first.runs:,} run{'s' if first.runs > 1 else ''}, "
        f"noise {first.noise:g}, seed {first.seed}"
    )
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("")
    for name in ("regret", "median", "5% to 95%", "a step", "seconds"):
        table.add_column(name, justify="right")
    for result in comparison.results:
        table.add_row(result.label, *_figures(result))
    Console(highlight=False).print(table)
    for result in comparison.results:
        c = result.configuration
        rate = c.T * c.runs / c.seconds
        click.echo(f"{result.label}: {rate:,.0f} steps a second, {c.engine} engine")
    for x, y, mean, se in comparison.differences():
        click.echo(f"{x} less {y}, paired: {_with_error(mean, se)}")


def print_bounds(table: dict[str, Any]) -> None:
    """Print the constants of the bounds, and a row of bounds for each ensemble size."""
    from rich.console import Console
    from rich.table import Table

    eta, entropy, trivial = table["eta"], table["entropy"], table["trivial"]
    click.echo(f"K={table['K']:,} arms, d={table['d']:,}, T={table['T']:,} steps")
    click.echo(
        f"iota {_rounded(table['iota'])}, eta {_with_error(eta['value'], eta['se'])} "
        f"(at most {_rounded(eta['closed_form'])}), "
        f"H(A*) {_with_error(entropy['value'], entropy['se'])}"
    )
    click.echo(f"Thompson sampling, term (a): {_rounded(table['term_a'])}")
    click.echo(f"random play: {_with_error(trivial['value'], trivial['se'])}")
    grid = Table(box=None, header_style="bold", pad_edge=False)
    names = {
        "M": "M",
        "term_b": "term (b)",
        "theorem1": "Theorem 1",
        "k_free": "free of K",
        "best": "best",
    }
    for name in (*names.values(), ""):
        grid.add_column(name, justify="right")
    for row in table["rows"]:
        figures = [_rounded(row[name]) for name in names if name != "M"]
        empty = "above random play" if row["best"] > trivial["value"] else ""
        grid.add_row(f"{row['M']:,}", *figures, empty)
    Console(highlight=False).print(grid)
    click.echo(f"M = KT/d is {table['M_for_KT_over_d']:,}")


def _figures(result: "Result") -> list[str]:
    regret, c = result.regret, result.configuration
    low, high = regret.quantile(0.05)[-1], regret.quantile(0.95)[-1]
    return [
        _with_error(regret.mean[-1], regret.se[-1]),
        _rounded(regret.median[-1]),
        f"{_rounded(low)} to {_rounded(high)}",
        _rounded(regret.mean[-1] / c.T),
        f"{c.seconds:.2f}",
    ]


def _rounded(number: float) -> str:
    """Return a number to three digits, or to the unit."""
    size = abs(number)
    if not 1e-4 <= size < 1e9:
        return f"{number:.3g}"
    return f"{number:,.{max(0, 2 - math.floor(math.log10(size)))}f}"


def _with_error(mean: float, se: float) -> str:
    """Return the mean to as many places as two digits of its standard error have."""
    if math.isnan(se) or not 1e-4 < se < 1e9:
        return f"{mean:,.4g}" if math.isnan(se) else f"{mean:.4g} +- {se:.2g}"
    places = max(0, 1 - math.floor(math.log10(se)))
    return f"{mean:,.{places}f} +- {se:,.{places}f}"


@functools.cache
def _terminal() -> "Console":
    """Return the console that all of stderr is drawn on: a notice must not cut through a bar."""
    from rich.console import Console

    return Console(stderr=True)


@contextlib.contextmanager
def progress_bar(agent: "Agent") -> "Iterator[Callable[[Progress], None] | None]":
    """Give a callback that draws progress on stderr, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(compact=True),
    )
    with Bar(*columns, console=_terminal(), transient=True) as bar:
        task = bar.add_task(agent.name, total=None, rate="")

        def show(progress: "Progress") -> None:
            speed = bar.tasks[0].speed or 0.0
            rate = f"{speed:,.0f} steps/s, regret {progress.regret_per_step:.3g}/step"
            bar.update(task, completed=progress.steps, total=progress.total, rate=rate)

        yield show


@contextlib.contextmanager
def compilation_notice() -> Iterator[None]:
    """Say on stderr, if it is a terminal, that kernels are being compiled."""

    def announce() -> None:
        if sys.stderr.isatty():
            _terminal().print("compiling for this machine, once: ten to fifteen seconds")

    with announce_compilation(announce):
        yield
