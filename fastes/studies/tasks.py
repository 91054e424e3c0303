"""Tasks: a study split into pieces of balanced cost, and the result of one."""

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
"""Fewest runs of a task in lockstep."""


class Task(NamedTuple):
    """Some runs of a setting."""

    number: int
    setting: int
    first: int
    last: int  # one past the last run
    cost: float  # estimated seconds


class TaskResult(NamedTuple):
    """The result of a task, packed for sending and storing."""

    configuration: str  # what was simulated, as JSON
    coordinates: str  # a hash of the canonical problem if LAPACK computed it
    regret: bytes  # (runs, times) float64, by zlib
    counts: bytes  # (K,) int64, by zlib


Packed = tuple[str, bytes]
"""A study as it is sent and stored: its description, and its arrays as npz."""


class BuildId(NamedTuple):
    """What must be equal for all workers of a study."""

    version: str
    kernels: str


class BuildMismatchError(RuntimeError):
    """A worker would produce different bits."""


def build_id() -> BuildId:
    """Return the build of this process."""
    return BuildId(fastes.__version__, fingerprint())


def split_into_tasks(study: Study, costs: Sequence[float], seconds: float) -> list[Task]:
    """Return the tasks of a study, the longest first; `costs` are seconds per run, by setting.

    The runs of a setting are split evenly into tasks of about `seconds`, of at least one run.
    """
    pieces = []
    for i, (setting, cost) in enumerate(zip(study.settings, costs, strict=True)):
        problem = setting.problem.sizes
        together = problem.actions.fixed and runs_in_lockstep(
            setting.agent, problem.K, problem.rank, setting.T
        )
        least = LOCKSTEP_RUNS if together else 1
        n = max(1, min(round(cost * study.runs / seconds), study.runs // least))
        cuts = [study.runs * j // n for j in range(n + 1)]
        pieces += [
            (i, first, last, cost * (last - first)) for first, last in itertools.pairwise(cuts)
        ]
    pieces.sort(key=lambda piece: -piece[-1])
    return [Task(number, *piece) for number, piece in enumerate(pieces)]


def covers(study: Study, tasks: Sequence[Task]) -> bool:
    """Return whether tasks cover each run of each setting of a study exactly once."""
    ranges = sorted((task.setting, task.first, task.last) for task in tasks)
    ends = [0] * len(study.settings)
    for setting, first, last in ranges:
        if not 0 <= setting < len(ends) or first != ends[setting] or last <= first:
            return False
        ends[setting] = last
    return all(end == study.runs for end in ends)


def packed_study(study: Study) -> Packed:
    """Return a study packed for `unpacked_study`."""
    found, file = study.arrays(), io.BytesIO()
    if found:
        np.savez_compressed(file, **found)  # type: ignore[arg-type]
    return json.dumps(study.description()), file.getvalue()


def unpacked_study(packed: Packed, imports: bool = False) -> Study:
    """Return a packed study; with `imports`, as on workers, import its custom agents."""
    study = _unpacked(packed, imports)
    if any(isinstance(setting.agent, AbsentAgent) for setting in study.settings):
        return _unpacked.__wrapped__(packed, imports)  # their modules may be imported by now
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
    """Run a task of a packed study in one thread.

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
    """Return a hash of a problem's canonical form if its last bits depend on LAPACK."""
    if bandit.canonical.factor is not None:
        return ""
    return arrays.fingerprint(*bandit.canonical.rows_and_offsets())


def refusal(worker: str, found: BuildId) -> str:
    """Return the message that refuses a worker."""
    ours = build_id()
    if found.version != ours.version:
        return f"worker {worker} has fastes {found.version}, but this is fastes {ours.version}"
    return f"worker {worker} has fastes {found.version} with other kernels or another numba"
