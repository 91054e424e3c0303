"""Perturbations and their sums: kernels beside the slow truth, and their laws."""

import numpy as np
import pytest
import reference
from engine import from_python
from fastes.kernels.arithmetic.bits import count_ones
from fastes.kernels.arithmetic.tile_product import TILE
from fastes.kernels.ensembles import deviations
from fastes.kernels.ensembles.deviations import NormalDeviations, SignDeviations
from fastes.kernels.streams.layout import PERTURBATION
from fastes.kernels.streams.philox import source
from scipy import stats

SEED, RUN = 7, 2
ORIGIN = source(SEED, RUN)
SIGNS, NORMAL = SignDeviations(1.0, 1), NormalDeviations(1.0, 1)
sign_sums = from_python(deviations.sign_sums)
fill_perturbations = from_python(deviations.fill_perturbations)
perturbation = from_python(deviations.perturbation)
ones = from_python(count_ones)


@pytest.mark.parametrize("word", [0, 1, 2**63, 2**64 - 1, 0xF0F0])
def test_ones_are_counted(word):
    assert ones(np.uint64(word)) == count_ones(np.uint64(word)) == bin(word).count("1")


@pytest.mark.parametrize(
    "counts",
    [[1], [64], [65], [127], [128], [129], [256], [257], [1, 1000, 2, 128, 300], [0, 5, 0], []],
)
@pytest.mark.parametrize("lane", [0, 9])
def test_sums_of_signs(counts, lane):
    out = np.full(len(counts), np.nan)
    given = np.array(counts, np.int64)
    sign_sums(ORIGIN, PERTURBATION, np.int64(11), np.uint64(lane), given, out)
    expected = reference.sign_sums(SEED, RUN, PERTURBATION, 11, lane, counts)
    assert out.tolist() == expected


@pytest.mark.parametrize("n", [1, 2, 7, 130, 400])
def test_a_sum_of_signs_is_binomial(n):
    # Chi-squared test of 20,000 sums against 2 Binomial(n, 1/2) - n, level 1e-4.
    counts = np.full(20_000, n)
    out = np.empty(len(counts))
    sign_sums(ORIGIN, PERTURBATION, np.int64(0), np.uint64(0), counts, out)
    ones_found = ((out + n) / 2).astype(int)
    assert set(np.unique(ones_found)) <= set(range(n + 1))
    edges = np.unique(stats.binom.ppf([0, 0.1, 0.3, 0.5, 0.7, 0.9, 1], n, 0.5))
    bins = np.searchsorted(edges, ones_found)
    chances = np.diff(np.concatenate([[0.0], stats.binom.cdf(edges, n, 0.5)]))
    found = np.bincount(bins, minlength=len(edges))
    kept = chances > 0
    assert found[~kept].sum() == 0
    assert stats.chisquare(found[kept], chances[kept] * len(counts)).pvalue > 1e-4


@pytest.mark.parametrize("kind", [SIGNS, NORMAL])
@pytest.mark.parametrize(("start", "n"), [(0, 1), (0, 66), (126, 3), (1000, 40)])
def test_all_models_get_what_each_reads_alone(kind, start, n):
    weights = np.full((n + 2, TILE), np.nan)
    fill_perturbations(kind, ORIGIN, PERTURBATION, 64, start, weights, n)
    draw = reference.sign if kind is SIGNS else reference.normal
    for s in range(n):
        for i in (0, 1, TILE - 1):
            expected = draw(SEED, RUN, PERTURBATION, 64 + i, start + s)
            assert weights[s, i] == pytest.approx(expected, rel=1e-14)
            alone = perturbation(kind, ORIGIN, PERTURBATION, 64 + i, start + s)
            assert alone == weights[s, i]
