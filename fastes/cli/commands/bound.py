"""fastes bound: regret bounds for a problem, the paper's and ours."""

import json
from typing import TYPE_CHECKING, Any

import click

from fastes.cli.errors import user_errors
from fastes.cli.options import FORCE, INTEGER, INTEGERS, OUTPUT, SEED, option_of, output_options
from fastes.cli.output import check_files
from fastes.cli.problem_options import bandit_from_options, problem_options
from fastes.cli.sections import SectionedCommand
from fastes.cli.startup import load_numba
from fastes.results.configuration import PARAMETERS

if TYPE_CHECKING:
    from fastes.problem.constants import Constants


@click.command(cls=SectionedCommand)
@click.option(
    "--M",
    "M",
    type=INTEGERS,
    default="10,100,1000,10000,100000,1000000",
    show_default=True,
    help="Ensemble sizes.",
)
@option_of("T", PARAMETERS["T"], help="Steps.")
@problem_options
@SEED
@click.option("--samples", type=INTEGER, default=65536, show_default=True, help="Draws of theta.")
@click.option("--plot", type=OUTPUT, help="Save a figure of the bounds against M.")
@FORCE
@output_options
def bound(as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Print bounds on the regret of ensemble sampling for a problem.

    Theorem 1 of the paper is the sum of (a), the bound for Thompson sampling, and (b), which
    decreases in M and increases in K. Also: the information bound, and Theorems A (fresh
    models), B (first order) and C (reuse of models). The column "best" combines them.

    \b
    fastes bound --K 30 --d 5 --T 250
    fastes bound --problem problem.npz --M 10,1000,100000 --plot bounds.png
    """
    with user_errors(debug):
        check_files(options)
        load_numba()
        from fastes.theory.constants import constants

        known = constants(
            bandit_from_options(options), samples=options["samples"], seed=options["seed"]
        )
        table = _table(known, options["T"], options["M"])
        if options["plot"] is not None:
            from fastes.results.figures import save_figure
            from fastes.theory.figures import draw_bounds

            save_figure(
                lambda figure: draw_bounds(table, figure), options["plot"], options["force"]
            )
        if as_json:
            click.echo(json.dumps(table, allow_nan=False))
        elif not quiet:
            from fastes.results.tables import print_parts
            from fastes.theory.tables import bounds_tables

            print_parts(bounds_tables(table))


def _table(known: "Constants", T: int, sizes: list[int]) -> dict[str, Any]:
    """Return the bounds as data: what --json prints."""
    from fastes.theory import bounds

    rows = [
        {
            "M": M,
            "term_b": bounds.term_b(known, T, M),
            **{name: bound.value(known, T, M) for name, bound in bounds.BOUNDS.items()},
        }
        for M in sizes
    ]
    eta, eta0, delta, entropy = known.eta, known.eta0, known.delta, known.entropy
    trivial = known.trivial
    return {
        "iota": known.iota,
        "eta": {"value": eta.value, "se": eta.se, "closed_form": known.eta_closed_form},
        "eta0": {"value": eta0.value, "se": eta0.se, "closed_form": known.eta0_closed_form},
        "delta": {"value": delta.value, "se": delta.se},
        "entropy": {"value": entropy.value, "se": entropy.se},
        "K": known.K,
        "contenders": known.contenders,
        "d": known.d,
        "T": T,
        "term_a": bounds.term_a(known, T),
        "trivial": {"value": T * trivial.value, "se": T * trivial.se},
        "M_for_KT_over_d": bounds.ensemble_of_the_same_order(known, T),
        "rows": rows,
    }
