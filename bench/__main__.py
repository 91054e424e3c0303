"""The command line of the benchmarks: python -m bench."""

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from bench import history
from bench.session import ROOT, Figure, check_out, run_session
from bench.table import print_table

_ONLY = click.option("--only", default="", metavar="WORDS", help="As pytest's -k.")
_QUICK = click.option("--quick", is_flag=True, help="One round of each: a smoke test.")
_MARKDOWN = click.option("--markdown", is_flag=True, help="Print the table in Markdown.")
_FOLDER = click.option(
    "--history",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=history.HISTORY,
    show_default="bench/history",
    help="Folder of records.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Measure throughput as ratios, keep them, and notice when one falls.

    \b
    python -m bench run
    python -m bench record
    python -m bench compare
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
    marks = "slow or not slow" if slow else "not slow"
    figures = _session(marks, only, quick=quick)
    print_table(figures, history.as_ratios(history.last_here(folder)), markdown=markdown)
    wanted = [figure for figure in figures if least and figure["least_ratio"] is not None]
    low = [each["name"] for each in wanted if each["median"] < least * each["least_ratio"]]
    if low:
        raise click.ClickException(f"below {least:g} of the figure to reach: {', '.join(low)}")


@main.command()
@_QUICK
@_MARKDOWN
def design(quick: bool, markdown: bool) -> None:
    """Print the figures of the design in one table, and which of them are not reached."""
    figures = [figure for figure in _session("design", "", quick=quick) if figure["design"]]
    print_table(figures, title="design", markdown=markdown)
    missed = sum(not figure["reached"] for figure in figures)
    click.echo(f"{len(figures) - missed} of {len(figures)} reached")


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
    if history.commit_of_now().endswith("-dirty"):
        raise click.ClickException("commit first: a record is of a commit, to be measured again")
    made = history.record_of([_session("tracked", only) for _ in range(processes)])
    click.echo(f"{history.append(made, folder)}: {len(made.ratios)} ratios, {processes} processes")


@main.command()
@click.option(
    "--against",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A record; by default the last one of such a processor.",
)
@_ONLY
@_FOLDER
def compare(against: Path | None, only: str, folder: Path) -> None:
    """Measure the tracked benchmarks again: exit 1 if a ratio fell by more than noise.

    The commit of a record and the code of now are measured in turns: first all in three processes
    each; what fell by more than 5% there by itself, in up to sixteen processes each. It is an alarm
    if it fell by more than 8% and four standard errors there.
    """
    before = history.last_here(folder) if against is None else history.load(against)
    if before is None:
        raise click.ClickException("no record of such a processor: make one with record")
    click.echo(f"against {history.describe(before)}")
    with tempfile.TemporaryDirectory() as temporary:
        try:
            roots = check_out(before.commit, Path(temporary)), ROOT
        except ValueError as error:
            raise click.ClickException(str(error)) from None
        turns = [[_session("tracked", only, root=root) for root in roots] for _ in range(4)]
        # The first turn may have compiled.
        then, now = (history.ratios_of(sessions) for sessions in zip(*turns[1:], strict=True))
        both = then.keys() & now.keys()
        if not both:
            raise click.ClickException("the record's commit has none of these benchmarks")
        suspects = history.suspects(then, now)
        measured = {name: _in_turns(name, *roots) for name in suspects}
    falls = {name: fall for name, fall in measured.items() if fall.is_alarm}
    for name, fall in falls.items():
        click.echo(
            f"slower: {name}, ratio {fall.before:.3g} -> {fall.now:.3g} "
            f"({fall.now / fall.before - 1:+.0%}, {fall.standard_errors:.0f} standard errors)"
        )
    changes = [statistics.median(now[name]) / statistics.median(then[name]) for name in both]
    click.echo(
        f"{len(changes)} ratios, {len(suspects)} looked slower, {len(falls)} are; "
        f"middle change {statistics.median(changes) - 1:+.1%}"
    )
    sys.exit(1 if falls else 0)


@main.command()
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True)
@_ONLY
@_FOLDER
def plot(out: Path, only: str, folder: Path) -> None:
    """Draw the history: each ratio over its first, against the records."""
    from bench.figures import draw_history

    kept = history.records(folder)
    if not kept:
        raise click.ClickException(f"no record in {folder}: make one with record")
    draw_history(kept, only, out)
    click.echo(f"wrote {out}: {len(kept)} records")


def _in_turns(name: str, then: Path, now: Path) -> history.Fall:
    """Measure a benchmark by itself, as it was and as it is, one process after the other."""
    ratios: tuple[list[float], list[float]] = ([], [])
    for turn in range(1, history.TURNS + 1):
        for root, found in zip((then, now), ratios, strict=True):
            (figure,) = _session("tracked", "", name=name, root=root)
            found.append(figure["fastest"])
        if turn >= history.FEWEST_TURNS and history.fall_of(*ratios).is_nothing:
            break
    return history.fall_of(*ratios)


def _session(marks: str, words: str, **options: Any) -> list[Figure]:
    try:
        return run_session(marks, words, **options)
    except (ValueError, RuntimeError) as error:
        raise click.ClickException(str(error)) from None


if __name__ == "__main__":
    main(prog_name="python -m bench")
