"""Normals of the counter-based generator, against NumPy's sequential one."""

import numpy as np
import pytest
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.ensembles.deviations import NORMAL
from fastes.kernels.ensembles.eager import draw_prior_models, eager_ensemble
from fastes.kernels.streams.layout import PERTURBATION
from fastes.kernels.streams.normals import fill_normal_rows
from fastes.kernels.streams.philox import source

from bench.limits import Work

pytestmark = pytest.mark.tracked


@pytest.mark.parametrize("n", [10, 100, 10_000])
def test_vectors(compare, n):
    rows = 1_000_000 // n
    ours, theirs, rng = np.empty((rows, n)), np.empty((rows, n)), np.random.default_rng(0)
    fill_normal_rows(source(1), PERTURBATION, ours)
    assert abs(ours.mean()) < 0.005
    assert abs(ours.std() - 1) < 0.005
    compare(
        lambda: fill_normal_rows(source(1), PERTURBATION, ours),
        lambda: rng.standard_normal(out=theirs),
        needs=Work(normals=1),
        work=1_000_000,
        baseline_work=1_000_000,
    )


def test_across_models(compare):
    models, out = eager_ensemble(gaussian.layout(50), 20_032, NORMAL).models, np.empty((20_032, 50))
    rng = np.random.default_rng(0)
    compare(
        lambda: draw_prior_models(models, source(1), 0, len(models.tiles)),
        lambda: rng.standard_normal(out=out),
        needs=Work(normals=1),
        work=out.size,
        baseline_work=out.size,
    )
