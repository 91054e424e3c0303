"""Draw docs/figures/certified-argmax.png: how many arms a step examines, for several dimensions."""

from pathlib import Path

import numpy as np
from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.loop.advance import advance
from fastes.kernels.loop.environment import environments
from fastes.kernels.loop.record import record
from fastes.kernels.rewards.gaussian import gaussian_rewards
from fastes.kernels.search.certificate import certified, retake_snapshot, snapshot_due
from fastes.kernels.states.stack import state_at
from fastes.kernels.streams.philox import source
from matplotlib.figure import Figure

import fastes

K, T = 100_000, 30_000
TIMES = np.unique(np.geomspace(1, T, 40).round().astype(int))


def examined(d: int) -> list[float]:
    """Return the mean number of arms examined per step, between one time and the next."""
    bandit = fastes.LinearBandit.random(K, d)
    arms, origin = bandit.canonical.arms, source(1)
    means = bandit.actions @ np.random.default_rng(d).standard_normal(d)
    environment = state_at(environments(means[None], d, gaussian_rewards.layout()), 0)
    kept = record(np.array([T]), np.zeros(1), np.zeros(K, np.int64))
    state, work = fastes.ThompsonSampling().initial_state(K, d, origin, T), certified(arms)
    found, t, before = [], 0, 0
    for stop in TIMES.tolist():
        start = t
        while t < stop:
            if snapshot_due(work):
                retake_snapshot(work, state, arms)
            t = advance(state, FixedActions(arms), environment, kept, origin, work, t, stop)
        so_far = int(work.counters[0] + K * work.counters[2])
        found.append((so_far - before) / (stop - start))
        before = so_far
    return found


def main() -> None:
    """Draw the figure."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for d, style in ((5, "-"), (20, "--"), (50, "-."), (100, ":")):
        axes.loglog(TIMES, examined(d), style, color="black", label=f"d = {d}")
    axes.axhline(K, color="0.7", linewidth=1)
    axes.set_xlabel("step")
    axes.set_ylabel(f"arms examined per step (of {K:,})")
    axes.legend(frameon=False)
    figure.savefig(Path(__file__).with_name("certified-argmax.png"), dpi=150)


if __name__ == "__main__":
    main()
