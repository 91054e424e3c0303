"""What a study will cost: a short calibration of its settings on this machine."""

import random
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fastes.kernels.jit.events import compilation_timer
from fastes.simulation.execute import one_result
from fastes.simulation.experiment import Experiment
from fastes.simulation.partial_result import PartialResult, empty_partial_result
from fastes.simulation.progress import Progress
from fastes.studies.study import Setting, Study
from fastes.studies.tasks import TOGETHER

_SECONDS = 0.15
_MOST_SECONDS, _MOST_SETTINGS = 10.0, 50
_TRIES = 3


class _Enough(Exception):  # noqa: N818 (nothing is wrong)
    pass


def calibrate(study: Study, report: Callable[[int, int], None] | None = None) -> list[float]:
    """Return about how many seconds of one processor a run of each setting takes.

    Plays each setting for a fraction of a second; of many, as many as ten seconds allow and at
    most fifty, one of each kind of agent and some others. A setting that was not played is taken
    to cost a step what the one most like it does.
    """
    settings = list(study.settings)
    kinds = {(setting.agent, setting.engine): setting for setting in settings}
    others = [setting for setting in settings if setting not in kinds.values()]
    random.Random(0).shuffle(others)
    a_step: dict[Setting, float] = {}
    began = time.monotonic()
    for i, setting in enumerate([*kinds.values(), *others][:_MOST_SETTINGS]):
        if i >= len(kinds) and time.monotonic() - began > _MOST_SECONDS:
            break
        if report is not None:
            report(i, min(len(settings), _MOST_SETTINGS))
        a_step[setting] = _seconds_a_step(study, setting)
    likest = _nearest(settings, list(a_step))
    costs = np.array(list(a_step.values()))[likest]
    return [setting.T * float(cost) for setting, cost in zip(settings, costs, strict=True)]


def _seconds_a_step(study: Study, setting: Setting) -> float:
    """Return the least of two tries or more: the first may compile kernels, or load them."""
    experiment = study.experiment(setting)
    ledger_of = partial(empty_partial_result, experiment, range(min(study.runs, TOGETHER)))
    least = _one_try(experiment, ledger_of())
    for _ in range(_TRIES):
        with compilation_timer() as compiling:
            least = min(least, _one_try(experiment, ledger_of()))
        if compiling() == 0.0:
            break
    return least


def _one_try(experiment: Experiment, ledger: PartialResult) -> float:
    marks: list[tuple[float, int]] = []

    def watch(progress: Progress) -> None:
        # From the first steps on: what comes before them is done once a task.
        if progress.steps > (marks[-1][1] if marks else 0):
            marks.append((time.perf_counter(), progress.steps))
            if marks[-1][0] - marks[0][0] > _SECONDS:
                raise _Enough

    try:
        done = one_result(experiment, ledger, 1, watch)
    except _Enough:
        (began, before), (ended, after) = marks[0], marks[-1]
        return (ended - began) / (after - before)
    return done.configuration.seconds / (len(ledger.runs) * experiment.T)


def _nearest(settings: list[Setting], played: list[Setting]) -> NDArray[np.int64]:
    """Return for each setting which of those played is the most like it in what a step costs."""
    sizes, theirs = (
        np.log([(s.K, s.d, s.T, s.M or 1) for s in group]) for group in (settings, played)
    )
    nearest, likest = np.full(len(settings), np.inf), np.zeros(len(settings), np.int64)
    kinds = np.array([f"{s.agent} {s.engine}" for s in settings])
    for i, other in enumerate(played):
        apart = np.abs(sizes - theirs[i]).sum(axis=1)
        closer = (apart < nearest) & (kinds == f"{other.agent} {other.engine}")
        nearest[closer], likest[closer] = apart[closer], i
    return likest
