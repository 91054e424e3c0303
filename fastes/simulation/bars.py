"""Progress bars: on stderr if that is a terminal, or in a notebook."""

import contextlib
import functools
import html
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fastes.kernels.jit.cache import cache_is_kept
from fastes.kernels.jit.events import announce_compilation
from fastes.simulation.progress import Progress, Report

if TYPE_CHECKING:
    from rich.console import Console

_NOTEBOOK_SECONDS = 0.3  # between updates in a notebook


class Bar(NamedTuple):
    """A bar: its label, its progress, and a function from its speed to the text beside it."""

    label: str
    done: int
    total: int
    text: Callable[[float], str]


Draw = Callable[[Sequence[Bar]], None]


@contextlib.contextmanager
def bars() -> Iterator[Draw | None]:
    """Yield a function that updates the bars; None without a terminal or notebook.

    It also announces the compilation of kernels.
    """
    with compilation_notice():
        if _in_notebook():
            yield _notebook_bars()
        elif _on_terminal():
            with _terminal_bars() as draw:
                yield draw
        else:
            yield None


@contextlib.contextmanager
def bars_if(progress: object) -> Iterator[Draw | None]:
    """As `bars` if progress is True; if it is None, only announce the compilation of kernels."""
    if progress is True:
        with bars() as draw:
            yield draw
    else:
        with compilation_notice() if progress is None else contextlib.nullcontext():
            yield None


@contextlib.contextmanager
def progress_report(progress: "bool | Report | None") -> Iterator[Report | None]:
    """Yield the function that receives progress: the caller's, one that draws bars, or None."""
    if progress and progress is not True and not callable(progress):
        raise TypeError(f"progress must be True or a function, got {progress!r}")
    with bars_if(progress) as draw:
        if progress is True:
            yield None if draw is None else functools.partial(_draw_progress, draw)
        else:
            yield progress or None


def _draw_progress(draw: Draw, now: Progress) -> None:
    def beside(speed: float) -> str:
        return f"{speed:,.0f} steps/s, regret {now.regret_per_step:.3g}/step"

    shown = [Bar(now.agent, now.steps, now.total, beside)]
    if now.overall_total > now.total:
        shown.append(Bar("all agents", now.overall_steps, now.overall_total, lambda _: ""))
    draw(shown)


@functools.cache
def terminal() -> "Console":
    """Return the one console for stderr, so that notices do not break bars."""
    from rich.console import Console

    return Console(stderr=True)


@contextlib.contextmanager
def compilation_notice() -> Iterator[None]:
    """Announce the compilation of kernels on stderr, in a terminal or notebook."""

    def announce() -> None:
        if not cache_is_kept():
            return  # there is a warning instead, and compilation is repeated in each process
        text = "compiling for this machine (once, ten to thirty seconds)"
        if _in_notebook():
            print(text, file=sys.stderr)
        elif _on_terminal():
            terminal().print(text)

    with announce_compilation(announce):
        yield


@contextlib.contextmanager
def _terminal_bars() -> Iterator[Draw]:
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Display

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TextColumn("{task.fields[text]}", markup=False),
        TimeRemainingColumn(compact=True),
    )
    with Display(*columns, console=terminal(), transient=True) as display:

        def draw(shown: Sequence[Bar]) -> None:
            if [task.description for task in display.tasks] != [bar.label for bar in shown]:
                # Start from what is already done, which must not count towards the speed.
                for task in display.task_ids:
                    display.remove_task(task)
                for bar in shown:
                    display.add_task(bar.label, completed=bar.done, total=bar.total, text="")
            for task_, bar in zip(display.tasks, shown, strict=True):
                text = bar.text(task_.speed or 0.0)
                display.update(task_.id, completed=bar.done, total=bar.total, text=text)

        yield draw


def _on_terminal() -> bool:
    """Return whether stderr is a terminal. A process may have none."""
    return sys.stderr is not None and sys.stderr.isatty()


def _in_notebook() -> bool:
    """Return whether output goes to a notebook; IPython in a terminal does not count."""
    shell = sys.modules.get("IPython")
    current: Any = shell.get_ipython() if shell is not None else None
    return current is not None and hasattr(current, "kernel")


def _notebook_bars() -> Draw:
    """Return a function that draws bars below a notebook's cell.

    rich would need another package there.
    """
    from IPython.display import HTML, display

    handle: Any = display(HTML(""), display_id=True)
    drawn = [0.0]
    began: dict[str, tuple[float, float]] = {}  # time and progress when first drawn

    def draw(shown: Sequence[Bar]) -> None:
        now = time.monotonic()
        over = all(bar.done >= bar.total for bar in shown)
        if now - drawn[0] < _NOTEBOOK_SECONDS and not over:
            return
        drawn[0] = now
        rows = []
        for bar in shown:
            start, before = began.setdefault(bar.label, (now, bar.done))
            text = bar.text((bar.done - before) / max(1e-9, now - start))
            filled = f"<progress value='{bar.done}' max='{bar.total}'></progress>"
            cells = (html.escape(bar.label), filled, html.escape(text))
            rows.append("".join(f"<td>{cell}</td>" for cell in cells))
        handle.update(HTML("<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"))

    return draw
