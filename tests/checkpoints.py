"""Checkpoints for tests: every one that a simulation writes, and what goes on from one."""

import os
import shutil
import time

import numpy as np
import pytest
from bandits import BANDITS

import fastes
from fastes.simulation import batch, checkpoint, workers
from fastes.simulation.checkpoint_file import read_checkpoint

BANDIT = BANDITS["more than a tile"]
APART = {"threads": 0, "seconds": 0, "date": ""}


def assert_same(x, y):
    assert (x.t == y.t).all()
    assert (x.regret.per_run == y.regret.per_run).all()
    assert (x.counts == y.counts).all()
    assert x.configuration._replace(**APART) == y.configuration._replace(**APART)
    for ours, theirs in zip(
        x.diagnostics.per_run if x.diagnostics else (),
        y.diagnostics.per_run if y.diagnostics else (),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, theirs)


def recorded(folder, simulate, *arguments, **options):
    """Simulate, and return the result and a copy of every checkpoint that was written."""
    copies = []

    def write(self, new=False, write=checkpoint.Checkpoint.write):
        write(self, new)
        copies.append(folder / f"copy{len(copies)}")
        shutil.copy(self.path, copies[-1])

    def wait(self, wait=workers.PausePoint.wait):
        time.sleep(0.002)  # so that somebody asks for a pause
        wait(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)  # no power is cut, and it takes long
        patch.setattr(checkpoint.Checkpoint, "write", write)
        patch.setattr(checkpoint, "_SHARE", np.inf)
        patch.setattr(workers, "_REPORT_SECONDS", 1e-4)
        patch.setattr(workers.PausePoint, "wait", wait)
        patch.setattr(batch, "_SLICE_SECONDS", 1e-3)
        result = simulate(*arguments, **options, checkpoint=folder / "recorded.ckpt", every=1e-9)
    assert len(copies) > 5
    return result, copies


def partials(path):
    """Return the partial results in a checkpoint."""
    return read_checkpoint(path)[1]


def some(copies, n=4):
    """Return a few of many, the last but one among them."""
    return [copies[i] for i in np.unique(np.linspace(0, len(copies) - 2, n).astype(int))]


def resumed(copy, **options):
    return fastes.resume(shutil.copy(copy, copy.with_suffix(".again")), **options)
