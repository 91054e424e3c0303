"""Plans: the number of workers, the runs per batch, and the mode of execution.

No bit of a result depends on the plan.
"""

import os
from typing import NamedTuple

from fastes.agents.agent import Agent, label
from fastes.agents.run_bytes import run_bytes
from fastes.agents.search import search_method
from fastes.checks import memory, numbers
from fastes.kernels.arithmetic.tile_product import MODELS
from fastes.simulation.experiment import Experiment

_LARGEST_BATCH = 32
_MANY_RUNS = 8 * _LARGEST_BATCH
"""Fewest runs per worker for which short runs are done in batches."""

_WORTH_SHARING = 2e6
"""Multiply-adds per step above which sharing pays: about half a millisecond."""


class RunPlan(NamedTuple):
    """How the runs of one agent are executed.

    Attributes
    ----------
    workers : int
        Threads that do runs.
    batch : int
        Largest number of runs that a worker does together.
    mode : {"alone", "sequence", "lockstep"}
        One run at a time; one after the other in one kernel call; or all in lockstep.
    search : {"none", "information", "scan", "certificate", "boxes"}
        How the best arm is found.
    sharing : int
        Threads that share the update of a run's models, or 0.
    """

    workers: int
    batch: int
    mode: str
    search: str
    sharing: int = 0


def make_plan(
    experiment: Experiment, agent: Agent, runs: int, threads: int, saved: bool = False
) -> RunPlan:
    """Return the plan of some runs of an agent, or raise MemoryError.

    It has as many workers as runs and memory allow. With `saved`, states are copied when written.
    """
    e, K, r, T = experiment, experiment.bandit.K, experiment.bandit.rank, experiment.T
    if e.probe_times is not None:
        draws = 8 * e.samples * (r + 4)
        memory.require(f"diagnostics with {e.samples:,} draws", min(threads, runs) * draws)
    if not agent.compiled:  # threads would not run in parallel, and it may not be thread-safe
        return RunPlan(workers=1, batch=1, mode="alone", search="none")
    points, fixed = len(e.times), e.bandit.action_set.fixed
    one, once = run_bytes(agent, e.bandit.sizes, T, e.waiting), 8 * runs * points
    copy = one.state if saved else 0
    search = search_method(agent, K, r) if e.bandit.action_set.arms_repeat else "scan"
    alone = sum(one) + copy
    memory.require(f"a run with {_sizes(agent, K, r, T)}", once + alone)
    available = memory.available_bytes() - once
    workers = int(min(threads, runs, max(1, available // alone)))
    sharing = threads if workers == 1 < threads and agent.shared_cost(r) >= _WORTH_SHARING else 0
    mode = modes(agent, K, r, T)[-1] if fixed and e.probe_times is None else "alone"
    if mode == "sequence" and runs < _MANY_RUNS * workers:
        mode = "alone"
    if mode == "alone":
        return RunPlan(workers, 1, mode, search, sharing)
    # A batch has its stack of states, and one more state while they are made.
    state = one.state + K + 8 * K
    stack = state + one.means + 8 * points + copy
    batch = int(min(_LARGEST_BATCH, -(-runs // workers), (available // workers - state) // stack))
    if batch < MODELS:
        return RunPlan(workers, 1, "alone", search, sharing)
    return RunPlan(workers, batch, mode, search)


def modes(agent: Agent, K: int, r: int, T: int) -> list[str]:
    """Return the possible modes for runs of these sizes, the preferred one last."""
    if runs_in_lockstep(agent, K, r, T):
        return ["alone", "lockstep"]
    return ["alone", "sequence"] if _is_short(agent, K, r, T) else ["alone"]


def runs_in_lockstep(agent: Agent, K: int, r: int, T: int) -> bool:
    """Return whether runs are faster in lockstep, which reads the arms once for all of them.

    Measured: yes if a certificate excludes few arms or comes too late; no if updating the models of
    an eager ensemble dominates.
    """
    if agent.scores != "linear" or agent.shared_cost(r) > 0:
        return False
    return K * r >= 32_768 and (search_method(agent, K, r) == "scan" or r >= 64 or T < 20 * r)


def _is_short(agent: Agent, K: int, r: int, T: int) -> bool:
    """Return whether runs are so short that several per kernel call are faster.

    Measured: if passing the interpreter's lock between threads takes as long as a call's steps.
    """
    return (
        T <= 10_000 and search_method(agent, K, r) in ("none", "scan") and agent.shared_cost(r) == 0
    )


def _sizes(agent: Agent, K: int, r: int, T: int) -> str:
    sizes = {"K": K, "rank": r, "T": T, **agent.parameters()}
    sizes = {name: value for name, value in sizes.items() if value is not None}
    return label("", sizes).removeprefix(", ")


def thread_count(threads: int | None) -> int:
    """Return how many threads to use, by default as many as there are processors."""
    return processors() if threads is None else numbers.integer("threads", threads, 1, 1 << 16)


def processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
