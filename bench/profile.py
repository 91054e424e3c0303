"""Where a step's time goes, at three sizes: ``python -m bench.profile``.

A part is timed in its place: the loop is run with that part done twice, and what that adds is what
the part takes. (The second search finds the same arm; the second update goes to a posterior that
nobody reads.) What is left is the reading of a model, the play log, the reward and the record.
"""

from typing import Any

import click
import numpy as np
from fastes.kernels.actions.arms import arm_values
from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.agents.greedy import greedy
from fastes.kernels.agents.interface import needs_capacity
from fastes.kernels.arithmetic.tile_product import TILE
from fastes.kernels.jit.decorators import entry
from fastes.kernels.loop.environment import draw_reward, environments
from fastes.kernels.loop.record import record, record_step
from fastes.kernels.loop.step import choose_arm, observe_reward
from fastes.kernels.rewards.gaussian import gaussian_rewards
from fastes.kernels.search.certificate import retake_snapshot, snapshot_due
from fastes.kernels.search.scan import choose
from fastes.kernels.states.stack import state_at
from fastes.kernels.streams.philox import source

import fastes
from bench.limits import limits, scan_and_update
from bench.measure import in_units, seconds
from fastes.agents.search import search_method, search_workspace

SIZES = ((30, 5, 30, 100_000), (1_000, 50, 10_000, 20_000), (1_000_000, 20, 1_000_000, 100_000))


@entry
def advance(agent, other, actions, environment, kept, origin, work, start, stop, searches, updates):  # type: ignore[no-untyped-def]
    """Do as `loop.advance`, with several searches and updates a step."""
    for t in range(start, stop):
        if needs_capacity(agent) or snapshot_due(work):
            return t
        arm = choose_arm(agent, actions, origin, t, work)
        for _ in range(1, searches):
            arm = choose(work, agent, actions.arms, origin, t)
        reward = draw_reward(environment, origin, t, arm)
        observe_reward(agent, actions, arm, reward, origin, t, environment.row)
        for _ in range(1, updates):
            observe_reward(other, actions, arm, reward, origin, t, environment.row)
        record_step(kept, environment, t, arm, reward)
    return stop


def play(bandit: fastes.LinearBandit, M: int, T: int, searches: int, updates: int) -> None:
    """Play T steps, each with several searches and updates."""
    arms, r, origin = bandit.canonical.arms, bandit.rank, source(1)
    agent = fastes.EnsembleSampling(M)
    state = agent.initial_state(bandit.K, r, origin, T)
    work = search_workspace(search_method(agent, bandit.K, r), arms)
    means = np.empty(bandit.K)
    arm_values(arms, np.random.default_rng(1).normal(size=r), np.empty(TILE), means)
    kept = record(np.array([T]), np.zeros(1), np.zeros(bandit.K, np.int64))
    environment = state_at(environments(means[None], r, gaussian_rewards.layout()), 0)
    shared: tuple[Any, ...] = (FixedActions(arms), environment, kept, origin, work)
    other, t = greedy(r), 0
    while t < T:
        t = advance(state, other, *shared, t, T, searches, updates)
        if snapshot_due(work):
            retake_snapshot(work, state, arms)


def parts(K: int, d: int, M: int, T: int) -> dict[str, float]:
    """Return seconds a step of each part, and of the whole."""
    bandit = fastes.LinearBandit.random(K, d)
    play(bandit, M, 20, 2, 2)

    def each(searches: int, updates: int) -> float:
        return min(seconds(lambda: play(bandit, M, T, searches, updates)) for _ in range(3)) / T

    whole, searching, updating = each(1, 1), each(2, 1), each(1, 2)
    search, update = searching - whole, updating - whole
    return {
        "find the best arm": search,
        "update the posterior": update,
        "read a model, and the rest": whole - search - update,
        "a whole step": whole,
    }


@click.command()
def main() -> None:
    """Print the parts of a step at three sizes, and the limit of a step that scores all arms."""
    for K, d, M, T in SIZES:
        click.echo(f"K={K:,}, d={d}, M={M:,}, T={T:,}")
        for name, each in parts(K, d, M, T).items():
            click.echo(f"  {name}: {in_units(each)}")
        least = limits().seconds(scan_and_update(K, d))
        click.echo(f"  limit of a full scan and an update: {in_units(least)}")


if __name__ == "__main__":
    main()
