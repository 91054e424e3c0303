"""The command line of the benchmarks: python -m bench."""

import functools
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from bench import history
from bench.session import CODE, ROOT, check_out, run_session
from bench.table import print_table

_ONLY = click.option("--only", default="", metavar="WORDS", help="As pytest's -k.")
_QUICK = click.option("--quick", is_flag=True, help="One to three rounds of each: a smoke test.")
_MARKDOWN = click.option("--markdown", is_flag=True, help="Print the table in Markdown.")
_FOLDER = click.option(
    "--history",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=history.HISTORY,
    show_default="bench/history",
    help="Folder of records.",
)


class _OneSentence(click.Group):
    """Commands whose errors are printed as one sentence."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except click.exceptions.Exit:  # the end of --help, which click makes a RuntimeError
            raise
        except (ValueError, OSError, RuntimeError) as error:
            raise click.ClickException(str(error)) from None


@click.group(cls=_OneSentence, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Measure throughput as ratios, keep them, and notice when one falls.

    \b
    python -m bench run
    python -m bench record
    python -m bench compare
    python -m bench design
    python -m bench map
    """


@main.command()
@click.option("--slow", is_flag=True, help="The slow ones too: half an hour.")
@click.option(
    "--least",
    type=float,
    metavar="SHARE",
    help="Exit 1 where a ratio is below this share of its figure to reach.",
)
@_ONLY
@_QUICK
@_MARKDOWN
@_FOLDER
def run(
    slow: bool, least: float | None, only: str, quick: bool, markdown: bool, folder: Path
) -> None:
    """Print one table: time, ratio to NumPy, share of the machine's limit, ratio to the record."""
    recorded = history.last_here(folder)
    figures = run_session("slow or not slow" if slow else "not slow", only, quick=quick)
    print_table(figures, recorded.medians() if recorded else {}, markdown=markdown)
    wanted = [figure for figure in figures if least and figure["share_of_target"] is not None]
    low = [each["name"] for each in wanted if each["share_of_target"] < least]
    if low:
        raise click.ClickException(f"below {least:g} of the figure to reach: {', '.join(low)}")


@main.command()
@click.option(
    "--code",
    type=click.Choice(list(CODE)),
    default="native",
    show_default=True,
    help="Processor that kernels are compiled for.",
)
@_QUICK
@_MARKDOWN
def design(code: str, quick: bool, markdown: bool) -> None:
    """Print the figures of the design in one table, and which of them are not reached."""
    figures = run_session("design", quick=quick, code=code)
    figures = [figure for figure in figures if figure["design"]]
    print_table(figures, title="design", markdown=markdown)
    missed = sum(not figure["reached"] for figure in figures)
    if quick:
        click.echo("\na smoke test: some sizes are smaller, and ratios of so few rounds are noise")
    click.echo(f"\n{len(figures) - missed} of {len(figures)} reached. {history.circumstances()}")


@main.command("map")
@_QUICK
@_MARKDOWN
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Save a figure of the shares (png, svg or pdf).",
)
def print_map(quick: bool, markdown: bool, out: Path | None) -> None:
    """Print time a step, and the share of the machine's limit, for K by d; three minutes."""
    from bench import map as sizes

    arms = sizes.QUICK_ARMS if quick else sizes.ARMS
    dimensions = sizes.QUICK_DIMENSIONS if quick else sizes.DIMENSIONS
    cells = list(sizes.measure(arms, dimensions, quick))
    if out is not None:
        sizes.draw(cells, out)
    for line in (*sizes.table(cells, markdown), "", history.circumstances()):
        click.echo(line)


@main.command()
@click.option(
    "--processes",
    type=click.IntRange(2),
    default=8,
    show_default=True,
    help="Processes to take each figure in.",
)
@_ONLY
@_FOLDER
def record(only: str, processes: int, folder: Path) -> None:
    """Measure the tracked benchmarks of a commit and append a record to the history."""
    commit = history.commit_of_now()
    made = history.record_of(commit, [run_session("tracked", only) for _ in range(processes)])
    click.echo(f"{history.append(made, folder)}: {len(made.ratios)} ratios, {processes} processes")


@main.command()
@click.option(
    "--against", metavar="COMMIT", help="By default that of the last record, on any processor."
)
@_ONLY
@_FOLDER
def compare(against: str | None, only: str, folder: Path) -> None:
    """Measure a commit and the current code: exit 1 if a ratio fell by more than noise.

    The two are measured in turns: first all tracked benchmarks in three processes each; what fell
    by more than 5% there by itself, in up to sixteen processes each. It is an alarm if it fell by
    more than 8% and four standard errors there.
    """
    if against is None:
        kept = history.records(folder)
        if not kept:
            raise click.ClickException(f"no record in {folder}: say --against which commit")
        against = kept[-1].commit
    click.echo(f"against {against}")
    with tempfile.TemporaryDirectory() as temporary:
        roots = check_out(against, Path(temporary)), ROOT
        turns = [[run_session("tracked", only, root=root) for root in roots] for _ in range(4)]
        # The first turn may have compiled.
        then, now = (history.ratios_of(sessions) for sessions in zip(*turns[1:], strict=True))
        both = then.keys() & now.keys()
        if not both:
            raise click.ClickException(f"{against} has none of these benchmarks")
        falls = {
            name: history.fall_in_turns(functools.partial(_alone, name, roots))
            for name in history.suspects(then, now)
        }
    for name, fall in falls.items():
        if fall.is_alarm or not fall.is_nothing:
            click.echo(
                f"{'slower' if fall.is_alarm else 'perhaps slower'}: {name}, "
                f"ratio {fall.before:.3g} -> {fall.now:.3g} "
                f"({fall.now / fall.before - 1:+.0%}, {fall.standard_errors:.0f} standard errors)"
            )
    changes = [statistics.median(now[name]) / statistics.median(then[name]) for name in both]
    alarms = sum(fall.is_alarm for fall in falls.values())
    click.echo(
        f"{len(changes)} ratios, {len(falls)} looked slower, {alarms} are; "
        f"middle change {statistics.median(changes) - 1:+.1%}"
    )
    sys.exit(1 if alarms else 0)


@main.command()
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True)
@click.option("--only", default="", metavar="WORD", help="Benchmarks whose name holds this.")
@_FOLDER
def plot(out: Path, only: str, folder: Path) -> None:
    """Draw the history: each ratio over its first, against the records."""
    from bench.figures import draw_history

    kept = history.records(folder)
    if not kept:
        raise click.ClickException(f"no record in {folder}: make one with record")
    draw_history(kept, only, out)
    click.echo(f"wrote {out}: {len(kept)} records")


def _alone(name: str, roots: tuple[Path, Path]) -> tuple[float, float]:
    """Measure a benchmark by itself, as it was and as it is, one process after the other."""
    before, now = (run_session("tracked", name=name, root=root)[0]["fastest"] for root in roots)
    return before, now


if __name__ == "__main__":
    main(prog_name="python -m bench")
