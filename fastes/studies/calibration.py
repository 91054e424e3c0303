"""Estimate of the cost of a study: a short calibration of its settings on this machine."""

import random
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fastes.kernels.jit.events import compilation_timer
from fastes.simulation.execute import execute
from fastes.simulation.experiment import Experiment
from fastes.simulation.partial_result import empty_partial_result
from fastes.simulation.plan import make_plan
from fastes.simulation.progress import Progress
from fastes.studies.study import Setting, Study
from fastes.studies.tasks import LOCKSTEP_RUNS

_SECONDS = 0.15
_MOST_SECONDS, _MOST_SETTINGS = 10.0, 50
_TRIES = 3


def calibrate(study: Study, report: Callable[[int, int], None] | None = None) -> list[float]:
    """Return the estimated processor seconds of a run of each setting.

    Plays each setting for a fraction of a second; of many settings, at least one for each kind of
    agent and as many as fit into ten seconds, at most fifty. Another setting is assumed to have the
    cost per step of the nearest one.
    """
    settings = list(study.settings)
    kinds = {_kind(setting): setting for setting in settings}
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
    nearest = _nearest(settings, list(a_step))
    costs = np.array(list(a_step.values()))[nearest]
    return [setting.T * float(cost) for setting, cost in zip(settings, costs, strict=True)]


def _kind(setting: Setting) -> tuple[str, str]:
    return setting.agent.name, setting.agent.engine


def _seconds_a_step(study: Study, setting: Setting) -> float:
    """Return the minimum of two or more tries: the first may compile or load kernels."""
    experiment, runs = study.experiment(setting), range(min(study.runs, LOCKSTEP_RUNS))
    least = _one_try(experiment, runs)
    for _ in range(_TRIES):
        with compilation_timer() as compiling:
            least = min(least, _one_try(experiment, runs))
        if compiling() == 0.0:
            break
    return least


def _one_try(experiment: Experiment, runs: range) -> float:
    (agent,) = experiment.agents
    partial = empty_partial_result(experiment, runs)
    seen: list[tuple[float, int]] = []

    def watch(progress: Progress) -> None:
        # Timed from the first steps on: what comes before is done once per task.
        if progress.steps > (seen[-1][1] if seen else 0):
            seen.append((time.perf_counter(), progress.steps))

    def enough() -> bool:
        return bool(seen) and seen[-1][0] - seen[0][0] > _SECONDS

    plan = make_plan(experiment, agent, len(runs), threads=1)
    execute(experiment, agent, partial, plan, progress=watch, stop=enough)
    if not partial.done.all():
        (began, before), (ended, after) = seen[0], seen[-1]
        return (ended - began) / (after - before)
    return partial.seconds / (len(runs) * experiment.T)


def _nearest(settings: list[Setting], played: list[Setting]) -> NDArray[np.int64]:
    """Return for each setting the index of the played one with the nearest cost per step."""
    sizes, theirs = (
        np.log([(s.problem.K, s.problem.d, s.T, s.axes["M"] or 1) for s in group])
        for group in (settings, played)
    )
    least, nearest = np.full(len(settings), np.inf), np.zeros(len(settings), np.int64)
    kinds = np.array([" ".join(_kind(setting)) for setting in settings])
    for i, other in enumerate(played):
        apart = np.abs(sizes - theirs[i]).sum(axis=1)
        closer = (apart < least) & (kinds == " ".join(_kind(other)))
        least[closer], nearest[closer] = apart[closer], i
    return nearest
