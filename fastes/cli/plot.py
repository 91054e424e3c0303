"""fastes plot."""

import json
from pathlib import Path

import click

from fastes.cli.errors import one_sentence
from fastes.cli.options import INPUT, OUTPUT, check_outputs, output_options


@click.command()
@click.argument("files", type=INPUT, nargs=-1, required=True, metavar="FILE...")
@click.option("--out", type=OUTPUT, required=True, help="The figure (png, svg or pdf).")
@output_options
def plot(files: tuple[Path, ...], out: Path, as_json: bool, quiet: bool, debug: bool) -> None:
    """Draw the regret curves of saved results on one figure.

    \b
    fastes simulate --agent es --agent ts --out result.npz
    fastes plot result.npz --out regret.png
    """
    with one_sentence(debug):
        from fastes.plotting import check_format, save_plot
        from fastes.result import Comparison, Result
        from fastes.result_files import load

        check_outputs(out=out)
        check_format(out)
        results: list[Result] = []
        for file in files:
            loaded = load(file)
            results += loaded.results if isinstance(loaded, Comparison) else [loaded]
        save_plot(results, out)
        labels = [result.label for result in results]
        if as_json:
            click.echo(json.dumps({"out": str(out), "agents": labels}))
        elif not quiet:
            click.echo(f"wrote {out}: {'; '.join(labels)}")
