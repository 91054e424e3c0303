"""What it costs to keep a run: one checkpoint, and a run that writes them very often."""

import os

import numpy as np

import fastes
from bench.measure import Target
from fastes.simulation import checkpoint
from fastes.simulation.checkpoint_file import read_checkpoint

SIZES = {"K": 1_000, "d": 50, "M": 10_000, "T": 100_000, "runs": 8}
EVERY = 60.0
SHARE = 0.01  # of the time, at most


def bandit_and_agent():
    bandit = fastes.LinearBandit.random(SIZES["K"], SIZES["d"])
    return bandit, fastes.EnsembleSampling(SIZES["M"])


def test_writing_its_bytes(compare, quick, tmp_path):
    bandit, agent = bandit_and_agent()
    T = SIZES["T"] // (20 if quick else 1)
    fastes.simulate(bandit, agent, T, SIZES["runs"], checkpoint=tmp_path / "run.ckpt")
    experiment, partials = read_checkpoint(tmp_path / "run.ckpt")
    # With the states of all runs, as while they are under way.
    assert sum(len(each.runs) for each in partials[0].finished) == SIZES["runs"]
    kept = checkpoint.Checkpoint(tmp_path / "kept.ckpt", experiment, partials, EVERY)
    data = np.frombuffer((tmp_path / "run.ckpt").read_bytes(), np.uint8)

    def plain():
        with (tmp_path / "plain").open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    compare(kept.write, plain, rounds=7, target=Target(most_seconds=SHARE * EVERY))


def test_every_half_second(compare, quick, tmp_path, monkeypatch):
    """At 120 times the default rate: 1% there would be 120% here, a ratio of 0.45."""
    bandit, agent = bandit_and_agent()
    monkeypatch.setattr(checkpoint, "_SHARE", np.inf)
    T, runs, names = (2_000 if quick else SIZES["T"]), SIZES["runs"], iter(range(1000))

    def kept():
        path = tmp_path / f"{next(names)}.ckpt"
        fastes.simulate(bandit, agent, T, runs, checkpoint=path, every=0.5)
        path.unlink()

    compare(
        kept,
        lambda: fastes.simulate(bandit, agent, T, runs),
        rounds=5,
        target=Target(least_ratio=1 / (1 + SHARE * EVERY / 0.5)),
    )
