"""Progress on stderr, if that is a terminal."""

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from fastes.kernels.jit.events import announce_compilation

if TYPE_CHECKING:
    from rich.console import Console

    from fastes.simulation.progress import Progress
    from fastes.studies.sweep import SweepProgress


@functools.cache
def _terminal() -> "Console":
    """Return the console that all of stderr is drawn on: a notice must not cut through a bar."""
    from rich.console import Console

    return Console(stderr=True)


@contextlib.contextmanager
def progress_bar(visible: bool) -> "Iterator[Callable[[Progress], None] | None]":
    """Give a callback that draws progress on stderr, and say when kernels are compiled.

    Only if it is to be visible, and stderr is a terminal.
    """
    if not (visible and sys.stderr.isatty()):
        yield None
        return
    with compilation_notice(visible), _progress_bar() as show:
        yield show


@contextlib.contextmanager
def _progress_bar() -> "Iterator[Callable[[Progress], None]]":
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

        def show(progress: "Progress") -> None:
            now = bar.tasks[-1] if bar.tasks else None
            if now is None or now.finished or now.description != progress.agent:
                # Begun with what is done already, which is no part of the rate.
                for task in bar.task_ids:
                    bar.remove_task(task)
                steps, total = progress.steps, progress.total
                bar.add_task(progress.agent, completed=steps, total=total, rate="")
            else:
                regret = f"regret {progress.regret_per_step:.3g}/step"
                rate = f"{now.speed or 0.0:,.0f} steps/s, {regret}"
                bar.update(now.id, completed=progress.steps, rate=rate)

        yield show


@contextlib.contextmanager
def sweep_bar(visible: bool) -> "Iterator[Callable[[SweepProgress], None] | None]":
    """Give a callback that draws a sweep's progress on stderr, if it is a terminal."""
    if not (visible and sys.stderr.isatty()):
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
    )
    console = _terminal()
    with compilation_notice(visible), Bar(*columns, console=console, transient=True) as bar:
        first: list[int] = []

        def show(progress: "SweepProgress") -> None:
            if not first:
                # Begun with what is done already, which is no part of the rate.
                first.append(progress.done)
                bar.add_task("tasks", total=progress.cost, rate="")
                bar.tasks[0].completed = progress.cost_done
            task = bar.tasks[0]
            a_minute = 60 * (progress.done - first[0]) / max(1e-9, task.elapsed or 0.0)
            failed = f", {progress.failed} failed" if progress.failed else ""
            rate = f"{progress.done:,}/{progress.total:,}{failed}, {a_minute:,.0f} a minute"
            bar.update(task.id, completed=progress.cost_done, rate=rate)

        yield show


@contextlib.contextmanager
def task_bar(visible: bool, title: str, total: int) -> "Iterator[Callable[[str], None]]":
    """Give a function that names the next of several tasks, drawn as a bar on stderr."""
    if not (visible and sys.stderr.isatty()):
        yield lambda name: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[name]}"),
    )
    with Bar(*columns, console=_terminal(), transient=True) as bar:
        task = bar.add_task(title, total=total, name="")
        begun = 0

        def advance(name: str) -> None:
            nonlocal begun
            bar.update(task, completed=begun, name=name)
            begun += 1

        yield advance


def note(text: str) -> None:
    """Say on stderr, if it is a terminal, what is being done; the next line takes its place."""
    if sys.stderr.isatty():
        click.echo(f"\r{text:<40}\r", nl=False, err=True)


@contextlib.contextmanager
def compilation_notice(visible: bool) -> Iterator[None]:
    """Say on stderr, if it is a terminal, when kernels are compiled."""

    def announce() -> None:
        if visible and sys.stderr.isatty():
            _terminal().print("compiling for this machine, once: ten to thirty seconds")

    with announce_compilation(announce):
        yield
