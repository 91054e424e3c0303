"""fastes plot: saved results, drawn."""

import json
from pathlib import Path
from typing import Any

import click

from fastes.cli.errors import user_errors
from fastes.cli.options import INPUT, OUTPUT, check_outputs, output_options

_FIGURES = ("regret", "bounds", "divergence", "size")


@click.command()
@click.argument("files", type=INPUT, nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--figure",
    type=click.Choice(_FIGURES),
    default="regret",
    show_default=True,
    help="What to draw; bounds and divergence need results of fastes diagnose.",
)
@click.option("--x", metavar="AXIS", help="Of a study: what to draw final regret against.")
@click.option("--out", type=OUTPUT, required=True, help="The figure (png, svg or pdf).")
@output_options
def plot(
    files: tuple[Path, ...],
    figure: str,
    x: str | None,
    out: Path,
    as_json: bool,
    quiet: bool,
    debug: bool,
) -> None:
    """Draw saved results, or a study, on one figure.

    \b
    regret      cumulative regret against time
    bounds      the same below the paper's bounds
    divergence  how far what is played is from what is best, against time
    size        final regret against the number of models

    \b
    fastes simulate --agent es --agent ts --M 2,8,32 --out result.npz
    fastes plot result.npz --out regret.png
    fastes plot result.npz --figure size --out size.pdf
    fastes plot study.db --x M --out study.png
    """
    with user_errors(debug):
        from fastes.results.figures import check_format, save_figure

        check_outputs(out=out)
        check_format(out)
        if x is not None and figure != "regret":
            raise click.UsageError(f"--x draws final regret: leave out --figure {figure}")
        draw, labels = _of_results(files, figure) if x is None else _of_study(files, x)
        save_figure(draw, out)
        if as_json:
            click.echo(json.dumps({"out": str(out), "agents": labels}))
        elif not quiet:
            click.echo(f"wrote {out}: {'; '.join(labels)}")


def _of_results(files: tuple[Path, ...], figure: str) -> tuple[Any, list[str]]:
    """Return what draws saved results, and their labels."""
    from fastes.results.comparison import Comparison
    from fastes.results.figures import plot_regret
    from fastes.results.result import Result
    from fastes.studies.loading import load

    results: list[Result] = []
    for file in files:
        loaded = load(file)
        if not isinstance(loaded, (Comparison, Result)):
            raise click.UsageError(f"{file} is a study: say against which axis with --x")
        results += loaded.results if isinstance(loaded, Comparison) else [loaded]
    draw: Any = plot_regret
    if figure != "regret":
        from fastes.theory import figures

        draw = {
            "bounds": figures.draw_regret_and_bounds,
            "divergence": figures.draw_divergence,
            "size": figures.draw_final_regret,
        }[figure]
    return lambda ax: draw(results, ax), [result.label for result in results]


def _of_study(files: tuple[Path, ...], x: str) -> tuple[Any, list[str]]:
    """Return what draws a study against one of its axes, and the labels of its results."""
    from fastes.studies.figures import draw_against
    from fastes.studies.sweep import Sweep

    if len(files) > 1:
        raise click.UsageError(f"--x draws one study, got {len(files)} files")
    results = Sweep(str(files[0])).results()
    labels = list(dict.fromkeys(result.label for _, result in results))
    return lambda ax: draw_against(results, x, ax), labels
