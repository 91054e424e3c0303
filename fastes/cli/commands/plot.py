"""fastes plot: draw saved results."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastes.cli.errors import user_errors
from fastes.cli.options import FORCE, INPUT, OUTPUT, check_outputs, output_options

if TYPE_CHECKING:
    from fastes.results.panels import Look
    from fastes.results.result import Result
    from fastes.studies.sweep import Sweep

_FIGURES = ("regret", "differences", "bounds", "divergence", "size")


def _conditions(
    context: click.Context, parameter: click.Parameter, conditions: tuple[str, ...]
) -> dict[str, list[str]]:
    """Read options of the form NAME=VALUE."""
    found: dict[str, list[str]] = {}
    for condition in conditions:
        name, equals, value = condition.partition("=")
        if not (name and equals and value):
            raise click.BadParameter(f"{condition!r} is not of the form NAME=VALUE, such as K=50")
        found.setdefault(name.strip(), []).append(value.strip())
    return found


def _inches(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> tuple[float, float] | None:
    """Read a width and a height in inches, such as 6x4."""
    if value is None:
        return None
    try:
        width, height = (float(side) for side in value.lower().split("x"))
    except ValueError:
        width = height = 0.0
    if not (0 < width <= 100 and 0 < height <= 100):
        raise click.BadParameter(f"{value!r} is not a size in inches such as 6x4, each up to 100")
    return width, height


@click.command()
@click.argument("files", type=INPUT, nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--figure",
    type=click.Choice(_FIGURES),
    show_default="regret; for a study, regret at T against --x",
    help="What to draw; divergence needs results of fastes diagnose.",
)
@click.option(
    "--x",
    metavar="AXIS",
    show_default="M, or the first varied number",
    help="For a study: draw final regret against this axis. With --figure bounds: M.",
)
@click.option(
    "--baseline",
    metavar="AGENT",
    show_default="the last",
    help="For differences: what to subtract, by label (ES, M=30) or unique short name (ts).",
)
@click.option(
    "--where",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_conditions,
    help="Draw only results with this value: K=50, agent=ts, M=2,8 (M=none: without M). "
    "Repeatable.",
)
@click.option(
    "--facet",
    metavar="NAME",
    help="One panel for each value, such as K or agent; agents without it are in all panels.",
)
@click.option("--logx", is_flag=True, help="A logarithmic x axis.")
@click.option("--logy", is_flag=True, help="A logarithmic y axis.")
@click.option("--title", metavar="TEXT", help="A line above the figure.")
@click.option("--size", metavar="WxH", callback=_inches, help="In inches, such as 6x4.")
@click.option("--out", type=OUTPUT, required=True, help="The figure (png, svg or pdf).")
@FORCE
@output_options
def plot(
    files: tuple[Path, ...],
    figure: str | None,
    x: str | None,
    baseline: str | None,
    out: Path,
    force: bool,
    as_json: bool,
    quiet: bool,
    debug: bool,
    **look: Any,
) -> None:
    """Draw saved results, or a study.

    \b
    regret       cumulative regret against time
    differences  regret minus that of a baseline, paired run by run, against time
    bounds       regret, Theorem 1 and the best bound, against time or --x M
    divergence   divergence of the action law from the optimal, against time
    size         final regret against the number of models

    Results of different problems get a panel each, and so does each value of --facet. Bands and
    bars show two standard errors.

    \b
    fastes simulate --agent es,ts --M 2,8,32 --out result.npz
    fastes plot result.npz --out regret.png
    fastes plot result.npz --figure differences --baseline ts --out gain.png
    fastes plot result.npz --figure size --out size.pdf
    fastes plot study.db --figure bounds --x M --out bounds.png
    fastes plot study.db --x M --where d=10 --facet K --size 7x4 --out study.png
    """
    with user_errors(debug):
        from fastes.results.figures import save_figure

        check_outputs({"out": out}, files, force=force, kinds={"out": "figure"})
        _check_options(figure, x, baseline)
        loaded = _loaded(files, figure, x)
        chosen: Look = {**look}  # type: ignore[typeddict-item]
        labels: list[str] = []
        save_figure(
            lambda drawn: labels.extend(_draw(loaded, figure, x, baseline, drawn, chosen)),
            out,
            force,
        )
        if as_json:
            click.echo(json.dumps({"out": str(out), "agents": labels}))
        elif not quiet:
            click.echo(f"wrote {out}: {'; '.join(labels)}")


def _check_options(figure: str | None, x: str | None, baseline: str | None) -> None:
    """Raise UsageError for options that the figure does not use."""
    if figure == "bounds" and x not in (None, "M"):
        raise click.UsageError(f"--figure bounds takes --x M only, got --x {x}")
    if x is not None and figure not in (None, "bounds"):
        raise click.UsageError(f"--x draws final regret: leave out --figure {figure}")
    if baseline is not None and figure != "differences":
        raise click.UsageError("--baseline needs --figure differences")


def _loaded(files: tuple[Path, ...], figure: str | None, x: str | None) -> "list[Result] | Sweep":
    """Return the results in files, or the study in one."""
    from fastes.results.comparison import Comparison
    from fastes.results.result import Result
    from fastes.saved.loading import load
    from fastes.studies.sweep import Sweep

    results: list[Result] = []
    for file in files:
        loaded = load(file)
        if isinstance(loaded, Sweep):
            if figure is None and len(files) > 1:
                raise click.UsageError(f"a study must be the only file, got {len(files)} files")
            if figure is None:
                return loaded
            results += [result for _, result in loaded.results()]
        elif not isinstance(loaded, (Comparison, Result)):
            raise click.UsageError(f"{file} is not a result or study: see fastes show {file}")
        elif x is not None and figure is None:
            raise click.UsageError(f"--x needs a study, but {file} is a result")
        else:
            results += loaded.results if isinstance(loaded, Comparison) else [loaded]
    return results


def _draw(
    loaded: "list[Result] | Sweep",
    figure: str | None,
    x: str | None,
    baseline: str | None,
    drawn: Any,
    look: "Look",
) -> list[str]:
    """Draw on a figure, and return the labels of its results."""
    from fastes.results.figures import chosen, plot_differences, plot_regret

    if not isinstance(loaded, list):
        from fastes.studies.figures import chosen_settings, draw_against

        results = loaded.results()
        draw_against(results, x, drawn, **look)
        kept = chosen_settings(results, look)
        return _labels(result for _, result in kept)
    if figure == "differences":
        plot_differences(loaded, baseline, drawn, **look)
    elif figure in (None, "regret"):
        plot_regret(loaded, drawn, **look)
    else:
        from fastes.theory import figures

        draw = {
            "bounds": figures.draw_final_regret_and_bounds if x else figures.draw_regret_and_bounds,
            "divergence": figures.draw_divergence,
            "size": figures.draw_final_regret,
        }[figure]
        draw(loaded, drawn, **look)
    return _labels(chosen(loaded, look))


def _labels(results: "Iterable[Result]") -> list[str]:
    return list(dict.fromkeys(result.label for result in results))
