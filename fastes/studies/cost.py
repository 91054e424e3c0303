"""What a study will cost: a short calibration of its settings on this machine."""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fastes.crew import Progress
from fastes.experiment import empty_ledger
from fastes.simulation import one_result
from fastes.studies.study import Setting, Study
from fastes.studies.tasks import TOGETHER

_MEASURED = 48
_SECONDS = 0.25


class _Enough(Exception):  # noqa: N818 (nothing is wrong)
    pass


def calibrate(study: Study, report: Callable[[int, int], None] | None = None) -> list[float]:
    """Return about how many seconds of one processor a run of each setting takes.

    Plays each setting for a fraction of a second; of many settings some, evenly spread, and a
    setting that was not played is taken to cost a step what the one most like it does.
    """
    settings = study.settings
    chosen = np.unique(np.linspace(0, len(settings) - 1, _MEASURED).astype(int)).tolist()
    a_step: dict[Setting, float] = {}
    for i, number in enumerate(chosen):
        if report is not None:
            report(i, len(chosen))
        a_step[settings[number]] = _seconds_a_step(study, settings[number])
    return [s.T * a_step[min(a_step, key=lambda other: _distance(s, other))] for s in settings]


def _seconds_a_step(study: Study, setting: Setting) -> float:
    experiment = study.experiment(setting)
    marks: list[tuple[float, int]] = []

    def watch(progress: Progress) -> None:
        # From the first steps on: what comes before them is done once a task.
        if progress.steps > 0:
            marks.append((time.perf_counter(), progress.steps))
            if marks[-1][0] - marks[0][0] > _SECONDS:
                raise _Enough

    # One step first, to compile what is needed, or to load it.
    one_step = replace(experiment, T=1)
    one_result(one_step, empty_ledger(one_step, range(1)), 1)
    runs = min(study.runs, TOGETHER)
    try:
        done = one_result(experiment, empty_ledger(experiment, range(runs)), 1, watch)
    except _Enough:
        (began, before), (ended, after) = marks[0], marks[-1]
        if after > before:
            return (ended - began) / (after - before)
        return _SECONDS  # a step takes longer than we wait: at least so long
    return done.configuration.seconds / (runs * setting.T)


def _distance(x: Setting, y: Setting) -> float:
    """Return how far two settings are apart in what a step costs."""
    if (x.agent, x.engine) != (y.agent, y.engine):
        return np.inf
    pairs = ((x.K, y.K), (x.d, y.d), (x.T, y.T), (x.M or 1, y.M or 1))
    return sum(abs(np.log(a / b)) for a, b in pairs)
