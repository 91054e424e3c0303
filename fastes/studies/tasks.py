"""A study cut into tasks of balanced cost, and what one of them gives."""

import functools
import itertools
import json
import os
import platform
import zlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

import fastes
from fastes.checks import arrays
from fastes.kernels.jit.cache import fingerprint
from fastes.problem.bandit import LinearBandit
from fastes.problem.whitening import rows_and_offsets
from fastes.simulation.execute import one_result
from fastes.simulation.partial_result import empty_partial_result
from fastes.simulation.progress import Progress
from fastes.studies.study import Study, agent_from_setting

TOGETHER = 32
"""Runs of a task at least, where runs go in step."""


class Task(NamedTuple):
    """Some runs of a setting."""

    number: int
    setting: int
    first: int
    last: int  # one past the last run
    cost: float  # estimated seconds


class TaskResult(NamedTuple):
    """What a task gives, packed to be sent and kept."""

    seconds: float
    rank: int
    problem: str  # the fingerprint of the LinearBandit
    coordinates: str  # and of what the kernels see of it, where a library computes that
    regret: bytes  # (runs, times) float64, by zlib
    counts: bytes  # (K,) int64, by zlib


class BuildId(NamedTuple):
    """What must be equal wherever tasks of a study are done."""

    version: str
    kernels: str


class BuildMismatchError(RuntimeError):
    """A worker would give other bits."""


def build_id() -> BuildId:
    """Return the identity of this process."""
    return BuildId(fastes.__version__, fingerprint())


def split_into_tasks(study: Study, costs: Sequence[float], seconds: float) -> list[Task]:
    """Return the tasks of a study, the longest first; `costs` are seconds a run, by setting.

    The runs of a setting are split evenly into tasks that take about so many seconds, and at
    least one run.
    """
    pieces = []
    for i, (setting, cost) in enumerate(zip(study.settings, costs, strict=True)):
        in_step = agent_from_setting(setting).in_step(
            setting.K, min(setting.K, setting.d), setting.T
        )
        least = TOGETHER if in_step else 1
        parts = min(round(cost * study.runs / seconds), study.runs // least)
        cuts = [study.runs * j // max(1, parts) for j in range(max(1, parts) + 1)]
        pieces += [
            (i, first, last, cost * (last - first)) for first, last in itertools.pairwise(cuts)
        ]
    pieces.sort(key=lambda piece: -piece[-1])
    return [Task(number, *piece) for number, piece in enumerate(pieces)]


def do_task(
    description: str,
    task: Task,
    expected: BuildId,
    progress: Callable[[Progress], None] | None = None,
) -> TaskResult:
    """Do a task of the study that is described, as JSON, in one thread."""
    if build_id() != expected:
        raise BuildMismatchError(refusal(f"{platform.node()}, process {os.getpid()}", build_id()))
    study = _study(description)
    experiment = study.experiment(study.settings[task.setting])
    ledger = empty_partial_result(experiment, range(task.first, task.last))
    result = one_result(experiment, ledger, 1, progress)
    bandit = experiment.bandit
    return TaskResult(
        result.configuration.seconds,
        bandit.rank,
        bandit.fingerprint,
        _coordinates(bandit),
        zlib.compress(result.regret.per_run.tobytes(), 1),
        zlib.compress(result.counts.astype(np.int64).tobytes(), 1),
    )


@functools.lru_cache(maxsize=2)
def _study(description: str) -> Study:
    return Study(**json.loads(description))


def _coordinates(bandit: LinearBandit) -> str:
    """Return a hash of a problem's canonical form, where its last bits are LAPACK's."""
    if bandit.canonical.factor is not None:
        return ""
    return arrays.fingerprint(*rows_and_offsets(bandit.canonical))


def refusal(worker: str, found: BuildId) -> str:
    """Return the sentence that refuses a worker."""
    ours = build_id()
    if found.version != ours.version:
        return f"worker {worker} has fastes {found.version}, this is fastes {ours.version}"
    return f"worker {worker} has fastes {found.version} with other kernels, or another numba"
