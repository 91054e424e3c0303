"""How runs are executed: how many workers, how many runs a batch, in which mode."""

import os

from fastes.agents import Agent
from fastes.checks import memory, numbers
from fastes.kernels.arithmetic.tile_product import MODELS
from fastes.problem.bandit import LinearBandit
from fastes.simulation.experiment import Experiment

_MOST_IN_STEP = 32
_MANY_RUNS = 8 * _MOST_IN_STEP
"""From so many runs a thread on, short ones are done several in a call."""


def _prepare(e: Experiment, runs: int, threads: int, kept: bool) -> tuple[int, int]:
    """Return how many threads to use and how many runs each does in step.

    What cannot be done is refused here, before anything is.
    """
    if e.probe_times is not None:
        from fastes.theory.constants import constants

        draws = 8 * e.samples * (e.bandit.rank + 4)
        memory.require(f"diagnostics by {e.samples:,} draws", min(threads, runs) * draws)
        constants(e.bandit, seed=e.seed)
    workers, group = _plan(e.bandit, e.agent, e.T, runs, len(e.times), threads, kept)
    return workers, 1 if e.probe_times is not None else group


def _plan(
    bandit: LinearBandit,
    agent: Agent,
    T: int,
    runs: int,
    points: int,
    threads: int,
    kept: bool,
) -> tuple[int, int]:
    """Return how many threads to use and how many runs each does in step.

    As many as there are runs and memory for. What is `kept` is copied when it is written.
    """
    K, r = bandit.K, bandit.rank
    once, shown = 8 * runs * points, 2 * 8 * K  # means and counts
    copy = agent.state_bytes(K, r, T) if kept else 0
    alone = agent.run_bytes(K, r, T) + shown + copy
    memory.require(f"a run with {_sizes(agent, K, r, T)}", once + alone)
    available = memory.available_bytes() - once
    workers = int(min(threads, runs, max(1, available // alone)))
    brief = agent.brief(K, r, T) and runs >= _MANY_RUNS * workers
    if not (brief or agent.in_step(K, r, T)):
        return workers, 1
    # A group has its stack of states, and one more while they are made.
    state = agent.state_bytes(K, r, T) + K + 8 * K
    stack = state + shown + 8 * points + copy
    group = min(_MOST_IN_STEP, -(-runs // workers), (available // workers - state) // stack)
    return workers, int(group) if group >= MODELS else 1


def _sizes(agent: Agent, K: int, r: int, T: int) -> str:
    sizes = {"K": K, "rank": r, "T": T, **agent.parameters()}
    return ", ".join(f"{name}={value:,}" for name, value in sizes.items())


def thread_count(threads: int | None) -> int:
    """Return how many threads to use, by default as many as there are processors."""
    return processors() if threads is None else numbers.integer("threads", threads, 1, 1 << 16)


def processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
