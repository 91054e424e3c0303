"""A study split into tasks of balanced cost, and the result of one of them."""

import functools
import io
import itertools
import json
import os
import platform
import zipfile
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import fastes
from fastes.agents.own import AbsentAgent
from fastes.checks import arrays
from fastes.files.archive import arrays_of
from fastes.kernels.jit.cache import fingerprint
from fastes.problem.bandit import Bandit
from fastes.simulation.execute import execute
from fastes.simulation.partial_result import empty_partial_result
from fastes.simulation.plan import make_plan, runs_in_lockstep
from fastes.studies.study import Study

LOCKSTEP_RUNS = 32
"""Runs of a task at least, where runs go in lockstep."""


class Task(NamedTuple):
    """Some runs of a setting."""

    number: int
    setting: int
    first: int
    last: int  # one past the last run
    cost: float  # estimated seconds


class TaskResult(NamedTuple):
    """What a task gives, packed to be sent and kept."""

    configuration: str  # what was simulated, as JSON
    coordinates: str  # a hash of what the kernels see of the problem, where a library computes it
    regret: bytes  # (runs, times) float64, by zlib
    counts: bytes  # (K,) int64, by zlib


Packed = tuple[str, bytes]
"""A study as it is sent and kept: its description, and its arrays as npz."""


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

    The runs of a setting are split evenly into tasks that take about `seconds`, and at least one
    run.
    """
    pieces = []
    for i, (setting, cost) in enumerate(zip(study.settings, costs, strict=True)):
        problem = setting.problem.sizes
        together = problem.actions.fixed and runs_in_lockstep(
            setting.agent, problem.K, problem.rank, setting.T
        )
        least = LOCKSTEP_RUNS if together else 1
        parts = min(round(cost * study.runs / seconds), study.runs // least)
        cuts = [study.runs * j // max(1, parts) for j in range(max(1, parts) + 1)]
        pieces += [
            (i, first, last, cost * (last - first)) for first, last in itertools.pairwise(cuts)
        ]
    pieces.sort(key=lambda piece: -piece[-1])
    return [Task(number, *piece) for number, piece in enumerate(pieces)]


def covers(study: Study, tasks: Sequence[Task]) -> bool:
    """Return whether tasks cover every run of every setting of a study, each once."""
    parts = sorted((task.setting, task.first, task.last) for task in tasks)
    ends = [0] * len(study.settings)
    for setting, first, last in parts:
        if not 0 <= setting < len(ends) or first != ends[setting] or last <= first:
            return False
        ends[setting] = last
    return all(end == study.runs for end in ends)


def packed_study(study: Study) -> Packed:
    """Return what `unpacked_study` makes the same study of."""
    found, file = study.arrays(), io.BytesIO()
    if found:
        np.savez_compressed(file, **found)  # type: ignore[arg-type]
    return json.dumps(study.description()), file.getvalue()


def unpacked_study(packed: Packed, imports: bool = False) -> Study:
    """Return the study that was packed; workers, who were told to do it, import own agents."""
    study = _unpacked(packed, imports)
    if any(isinstance(setting.agent, AbsentAgent) for setting in study.settings):
        return _unpacked.__wrapped__(packed, imports)  # they may have been imported since
    return study


@functools.lru_cache(maxsize=2)
def _unpacked(packed: Packed, imports: bool) -> Study:
    description, arrays = packed
    found: dict[str, Any] = {}
    if arrays:
        with zipfile.ZipFile(io.BytesIO(arrays)) as archive:
            found = arrays_of(archive, [name.removesuffix(".npy") for name in archive.namelist()])
    return Study.from_description(json.loads(description), found, imports)


def do_task(
    packed: Packed,
    task: Task,
    expected: BuildId,
    stop: Callable[[], bool] | None = None,
) -> TaskResult:
    """Do a task of a packed study in one thread.

    Raise InterruptedError once `stop` returns True.
    """
    if build_id() != expected:
        raise BuildMismatchError(refusal(f"{platform.node()}, process {os.getpid()}", build_id()))
    study = unpacked_study(packed, imports=True)
    experiment = study.experiment(study.settings[task.setting])
    (agent,) = experiment.agents
    partial = empty_partial_result(experiment, range(task.first, task.last))
    plan = make_plan(experiment, agent, len(partial.runs), threads=1)
    execute(experiment, agent, partial, plan, stop=stop)
    if not partial.done.all():
        raise InterruptedError("stopped")
    bandit = experiment.bandit
    configuration = experiment.configuration(agent, len(partial.runs), 1, partial.seconds)
    return TaskResult(
        json.dumps(configuration._asdict()),
        _coordinates(bandit),
        zlib.compress((partial.regret * bandit.rewards.unit).tobytes(), 1),
        zlib.compress(partial.counts.astype(np.int64).tobytes(), 1),
    )


def _coordinates(bandit: Bandit) -> str:
    """Return a hash of a problem's canonical form, where its last bits are LAPACK's."""
    if bandit.canonical.factor is not None:
        return ""
    return arrays.fingerprint(*bandit.canonical.rows_and_offsets())


def refusal(worker: str, found: BuildId) -> str:
    """Return the sentence that refuses a worker."""
    ours = build_id()
    if found.version != ours.version:
        return f"worker {worker} has fastes {found.version}, this is fastes {ours.version}"
    return f"worker {worker} has fastes {found.version} with other kernels, or another numba"
