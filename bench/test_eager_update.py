"""The update of all M models for a block of steps, against generating normals, then gemm."""

import numpy as np
import pytest
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.ensembles.deviations import NORMAL
from fastes.kernels.ensembles.eager import (
    draw_prior_models,
    eager_ensemble,
    flush,
    forget_pending,
    weights,
)
from fastes.kernels.jit.decorators import entry
from fastes.kernels.streams.layout import PERTURBATION
from fastes.kernels.streams.normals import fill_normal_rows, normal
from fastes.kernels.streams.philox import source

from bench.limits import Work
from bench.measure import Target

SIZES = [(1_000, 50), (10_000, 10), (10_000, 50), (100_000, 20)]


def block(M, r):
    """Return a function that updates all models for a block of steps, and its length."""
    models = eager_ensemble(gaussian.layout(r), M, NORMAL).models
    origin = source(1)
    draw_prior_models(models, origin, 0, len(models.tiles))
    steps = len(models.pending)
    arms = np.random.default_rng(0).normal(size=(steps, r))
    work = weights(models)

    def update():
        models.pending[:] = arms
        models.span[:] = 0, steps
        flush(models, origin, 0, len(models.tiles), work)
        forget_pending(models)

    return update, models, arms


@entry
def perturbations(origin, W):
    """W[s, m] = the perturbation of model m at step s, one at a time."""
    for s in range(W.shape[0]):
        for m in range(W.shape[1]):
            W[s, m] = normal(origin, PERTURBATION, m, s)


def checked(update, models, arms):
    """Compare the first tile with its perturbations times the arms before timing anything."""
    before = models.tiles[0].copy()
    update()
    W = np.empty((len(arms), before.shape[1]))
    perturbations(source(1), W)
    np.testing.assert_allclose(models.tiles[0], before + arms.T @ W, rtol=1e-10, atol=1e-10)
    return update


def needed(M, r, steps):
    return Work(flops=2 * M * r * steps, bytes=8 * M * r, normals=M * steps)


@pytest.mark.tracked
@pytest.mark.parametrize(("M", "r"), SIZES)
def test_numpy_normals_then_gemm(compare, M, r):
    update, models, arms = block(M, r)
    rng = np.random.default_rng(1)
    W, xi, product = np.empty((M, len(arms))), np.zeros((M, r)), np.empty((M, r))

    def baseline():
        rng.standard_normal(out=W)
        np.matmul(W, arms, out=product)
        np.add(xi, product, out=xi)

    compare(
        checked(update, models, arms), baseline, target=Target(0.7), needs=needed(M, r, len(arms))
    )


@pytest.mark.parametrize(("M", "r"), SIZES)
def test_our_normals_then_gemm(compare, M, r):
    update, models, arms = block(M, r)
    origin = source(1)
    W, xi, product = np.empty((M, len(arms))), np.zeros((M, r)), np.empty((M, r))

    def baseline():
        fill_normal_rows(origin, PERTURBATION, W)
        np.matmul(W, arms, out=product)
        np.add(xi, product, out=xi)

    compare(
        checked(update, models, arms), baseline, target=Target(0.7), needs=needed(M, r, len(arms))
    )
