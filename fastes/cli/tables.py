"""What people see: tables on stdout."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from fastes.results.comparison import Comparison
    from fastes.results.result import Result
    from fastes.studies.study import Setting, Study


def print_comparison(comparison: "Comparison") -> None:
    """Print the setting, a row of figures for each agent, and the paired differences."""
    from rich.console import Console
    from rich.table import Table

    _print_setting(comparison)
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


def _print_setting(comparison: "Comparison") -> None:
    c = comparison.results[0].configuration
    click.echo(
        f"K={c.K:,} arms, d={c.d:,}, T={c.T:,} steps, "
        f"{c.runs:,} run{'s' if c.runs > 1 else ''}, noise {c.noise:g}, seed {c.seed}"
    )


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


def print_inequalities(comparison: "Comparison", tables: list[dict[str, Any]]) -> None:
    """Print what was measured of each agent beside what bounds it."""
    _print_setting(comparison)
    click.echo("phat: the law of the action given the agent's state; p: of the optimal action.")
    click.echo("In brackets: the standard error in units of the last place.")
    for table in tables:
        click.echo(f"\n{table['agent']}")
        _print_divergences(table)
        click.echo()
        _print_regrets(table)
        if table["ensemble"] is not None:
            click.echo("\nModels against independent draws from the posterior (each about 1)")
            columns = {name.replace("_", " "): each for name, each in table["ensemble"].items()}
            _print_grid(table["t"], columns)
        _print_totals(table)


def _print_divergences(table: dict[str, Any]) -> None:
    columns = {
        "Hel^2(phat, p)": table["hellinger_squared_of_phat"],
        "KL(phat || p)": table["kl_phat_p"],
        "KL(p || phat)": table["kl_p_phat"],
        "H(A* | H_t)": table["entropy"],
    }
    bound = table["bounds"] and table["bounds"]["kl_phat_p"]
    _print_grid(table["t"], columns, {"bound on the KL": bound} if bound else {})
    for name, words in (("kl_phat_p", "KL(phat || p)"), ("kl_p_phat", "KL(p || phat)")):
        _print_left_out(table, name, "infinite", f"{words} is infinite")


def _print_left_out(table: dict[str, Any], name: str, why: str, words: str) -> None:
    worst = max(table[name][why])
    if worst > 0:
        runs = "1 run" if worst == 1 else f"up to {worst} runs"
        click.echo(f"{words} in {runs}, which its mean leaves out.")


def _print_regrets(table: dict[str, Any]) -> None:
    columns = {
        "G_t": table["main_regret_of_phat"],
        "D_t": table["approximation_error_of_phat"],
        "G_t + D_t": table["step_regret"],
        "given theta": table["step_regret_given_theta"],
        "G_t^2 / I_t": table["information_ratio"],
    }
    bounds = table["bounds"]
    _print_grid(
        table["t"], columns, {"bound on D_t": bounds["approximation_error"]} if bounds else {}
    )
    if bounds:
        click.echo(f"Bound on G_t^2 / I_t: {_rounded(bounds['information_ratio'])}.")
    _print_left_out(table, "information_ratio", "unknown", "G_t^2 / I_t is not known")


def _print_grid(
    t: list[int],
    columns: Mapping[str, Mapping[str, list[float | None]]],
    bounds: Mapping[str, list[float | None]] | None = None,
) -> None:
    """Print measured figures, one column each, and bounds, one row for each time."""
    from rich.console import Console
    from rich.table import Table

    grid = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("t", *columns, *(bounds or {})):
        grid.add_column(name, justify="right")
    for i, step in enumerate(t):
        cells = [_in_brackets(each["mean"][i], each["se"][i]) for each in columns.values()]
        cells += [_rounded(bound[i]) for bound in (bounds or {}).values()]
        grid.add_row(f"{step:,}", *cells)
    Console(highlight=False).print(grid)


def _print_totals(table: dict[str, Any]) -> None:
    totals = table["totals"]
    how = "" if totals["every_step"] else ", interpolated between these times"
    click.echo(f"\nRegret: {_with_error(**totals['regret'])}")
    click.echo(f"Sum of G_t + D_t{how}: {_with_error(**totals['sum_of_step_regrets'])}")
    if table["bounds"] is None:
        click.echo("The bounds are on means over the prior: none for a fixed theta.")
        return
    click.echo(f"Theorem 2 with phat as measured{how}: {_rounded(totals['theorem2_of_phat'])}")
    if totals["theorem1"] is not None:
        click.echo(f"Theorem 1: {_rounded(totals['theorem1'])}")
        click.echo(f"Best bound: {_rounded(totals['best'])}")
    click.echo(f"Random play: {_rounded(totals['trivial'])}")


def _in_brackets(mean: float | None, se: float | None) -> str:
    """Return the mean to the place of its standard error's first digit, and that digit."""
    if mean is None:
        return "-"
    if se is None or not 1e-3 * abs(mean) < 1e3 * se:  # so exact that no digit of it is shown
        return _rounded(mean)
    exponent = math.floor(math.log10(max(abs(mean), se)))
    if not -4 <= exponent < 4:
        unit = 10.0**exponent
        return f"{_in_brackets(mean / unit, se / unit)}e{exponent:+d}"
    places = max(0, -math.floor(math.log10(1.0526 * se)))  # 0.095 and above is 0.1
    return f"{mean:,.{places}f}({round(se * 10**places)})"


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


def _rounded(number: float | None) -> str:
    """Return a number to three digits, or to the unit."""
    if number is None:
        return "-"
    size = abs(number)
    if not 1e-4 <= size < 1e9:
        return f"{number:.3g}"
    return f"{number:,.{max(0, 2 - math.floor(math.log10(size)))}f}"


def _with_error(mean: float | None, se: float | None) -> str:
    """Return the mean to as many places as two digits of its standard error have."""
    if mean is None or se is None:
        return "-" if mean is None else f"{mean:,.4g}"
    if math.isnan(se) or not 1e-4 < se < 1e9:
        return f"{mean:,.4g}" if math.isnan(se) else f"{mean:.4g} +- {se:.2g}"
    places = max(0, 1 - math.floor(math.log10(se)))
    return f"{mean:,.{places}f} +- {se:,.{places}f}"


def print_settings(
    study: "Study", names: list[str], rows: "list[tuple[Setting, list[str]]]"
) -> None:
    """Print a row for each setting: the axes that are varied, and some figures."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    varied = study.varied() or ["agent"]
    for name in (*varied, *names):
        table.add_column(name, justify="right")
    for setting, cells in rows:
        axes = [getattr(setting, name) for name in varied]
        told = ["-" if x is None else f"{x:,}" if isinstance(x, int) else str(x) for x in axes]
        table.add_row(*told, *cells)
    Console(highlight=False).print(table)


def final_figures(result: "Result") -> list[str]:
    """Return the runs, the final regret and the regret a step of a result, for a table."""
    c, mean = result.configuration, result.regret.mean[-1]
    return [f"{c.runs:,}", _with_error(mean, result.regret.se[-1]), _rounded(mean / c.T)]
