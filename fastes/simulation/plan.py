"""How runs are executed: how many workers, how many runs a batch, in which mode.

Agents state facts; the policy is here. It changes no bit of an outcome.
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
"""From that many runs a worker on, short ones are done in batches."""

_WORTH_SHARING = 2e6
"""Multiply-adds in a step, above which handing out the work pays: about half a millisecond."""


class Plan(NamedTuple):
    """How the runs of one agent are executed.

    Attributes
    ----------
    workers : int
        Threads that do runs.
    batch : int
        Runs that a worker does together, at most.
    mode : {"alone", "sequence", "lockstep"}
        How it does them: one run at a time; one after the other in one call of a kernel; all at
        the same step.
    search : {"none", "information", "scan", "certificate", "boxes"}
        How an arm is found.
    sharing : int
        Threads that share the update of one run's models, or 0.
    """

    workers: int
    batch: int
    mode: str
    search: str
    sharing: int = 0


def make_plan(
    experiment: Experiment, agent: Agent, runs: int, threads: int, saved: bool = False
) -> Plan:
    """Return how to execute some runs of an agent, or raise MemoryError.

    With as many workers as there are runs and memory for. What is `saved` is copied when it is
    written.
    """
    e, K, r, T = experiment, experiment.bandit.K, experiment.bandit.rank, experiment.T
    if e.probe_times is not None:
        draws = 8 * e.samples * (r + 4)
        memory.require(f"diagnostics by {e.samples:,} draws", min(threads, runs) * draws)
    if not agent.compiled:  # threads would wait for each other, and its code need not bear them
        return Plan(workers=1, batch=1, mode="alone", search="none")
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
        return Plan(workers, 1, mode, search, sharing)
    # A batch has its stack of states, and one more while they are made.
    state = one.state + K + 8 * K
    stack = state + one.means + 8 * points + copy
    batch = int(min(_LARGEST_BATCH, -(-runs // workers), (available // workers - state) // stack))
    if batch < MODELS:
        return Plan(workers, 1, "alone", search, sharing)
    return Plan(workers, batch, mode, search)


def modes(agent: Agent, K: int, r: int, T: int) -> list[str]:
    """Return the modes in which runs of these sizes may be executed, the preferred one last."""
    if runs_in_lockstep(agent, K, r, T):
        return ["alone", "lockstep"]
    return ["alone", "sequence"] if _is_short(agent, K, r, T) else ["alone"]


def runs_in_lockstep(agent: Agent, K: int, r: int, T: int) -> bool:
    """Return whether several runs are done faster in lockstep, the arms read once for all of them.

    Measured: where a certificate rules out few arms, or comes too late; not where the models of an
    eager ensemble take the time.
    """
    if agent.scores != "linear" or agent.shared_cost(r) > 0:
        return False
    return K * r >= 32_768 and (search_method(agent, K, r) == "scan" or r >= 64 or T < 20 * r)


def _is_short(agent: Agent, K: int, r: int, T: int) -> bool:
    """Return whether a run is so short that several are better done in one call.

    Measured: where handing the interpreter's lock from thread to thread for every call takes as
    long as the steps in it.
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
