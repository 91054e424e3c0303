"""fastes plot."""

import json
from pathlib import Path
from typing import Any

import click

from fastes.cli.errors import one_sentence
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
@click.option("--out", type=OUTPUT, required=True, help="The figure (png, svg or pdf).")
@output_options
def plot(
    files: tuple[Path, ...], figure: str, out: Path, as_json: bool, quiet: bool, debug: bool
) -> None:
    """Draw saved results on one figure.

    \b
    regret      cumulative regret against time
    bounds      the same below the paper's bounds
    divergence  how far what is played is from what is best, against time
    size        final regret against the number of models

    \b
    fastes simulate --agent es --agent ts --M 2,8,32 --out result.npz
    fastes plot result.npz --out regret.png
    fastes plot result.npz --figure size --out size.pdf
    """
    with one_sentence(debug):
        from fastes.plotting import check_format, plot_regret, save_figure
        from fastes.result import Comparison, Result
        from fastes.result_files import load

        check_outputs(out=out)
        check_format(out)
        results: list[Result] = []
        for file in files:
            loaded = load(file)
            results += loaded.results if isinstance(loaded, Comparison) else [loaded]
        if figure == "regret":
            draw: Any = plot_regret
        else:
            from fastes.theory import figures

            draw = {
                "bounds": figures.draw_regret_and_bounds,
                "divergence": figures.draw_divergence,
                "size": figures.draw_final_regret,
            }[figure]
        save_figure(lambda ax: draw(results, ax), out)
        labels = [result.label for result in results]
        if as_json:
            click.echo(json.dumps({"out": str(out), "agents": labels}))
        elif not quiet:
            click.echo(f"wrote {out}: {'; '.join(labels)}")
