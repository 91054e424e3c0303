"""Screening in 8 bits: codes, products and margins, and the choices of a full scan in double."""

from fractions import Fraction
from pathlib import Path

import numba
import numpy as np
import pytest
import reference
from engine import from_python
from fastes.kernels.actions.arms import arm_values
from fastes.kernels.agents.greedy import greedy
from fastes.kernels.arithmetic import tile_product
from fastes.kernels.arithmetic.byte_product import (
    WORD,
    ZERO,
    instruction,
    largest_of_bytes,
)
from fastes.kernels.arithmetic.features import has_feature
from fastes.kernels.arithmetic.tile_product import MODELS, TILE
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.loop import lockstep
from fastes.kernels.search import codes as coding
from fastes.kernels.search import scan as scans
from fastes.kernels.search import screening
from fastes.kernels.search.codes import coded_models, encode_model
from fastes.kernels.search.scan import workspace
from hostile import PASSES, arms_of, problems, screened_by
from hypothesis import given, settings
from programs import python

import fastes
from fastes.simulation import plan

BYTES = [screening for screening in PASSES if screening != "single"]
scan = from_python(scans.scan)
encode = from_python(encode_model)
margin32 = from_python(screening.margin32)
rule_out = from_python(screening.rule_out)
screen = from_python(screening.screen)
screen_all = from_python(lockstep._screen_all)


@numba.njit
def maxima_and_margins(codes, arms, z, coded, maxima, margins):
    """Score all tiles in 8 bits, as the screening pass does."""
    encode_model(codes, z, coded, 0)
    for tile in range(arms.tiles.shape[0]):
        screening.score_bytes(codes, arms, tile, coded.p[0], coded, 0, maxima[tile:])
        margins[tile] = screening.margin8(codes, arms, tile, coded.norm[0], coded.error[0])


def greedy_at(z):
    agent = greedy(gaussian.layout(len(z)))
    agent.belief.mu[:] = z
    return agent


def exact_scores(arms, z):
    scores = np.empty(arms.K)
    arm_values(arms, z, np.empty(TILE), scores)
    return scores


@settings(max_examples=200)
@given(problems())
def test_the_choices_are_those_of_a_full_scan_in_double_precision(problem):
    b, o, z = problem
    with np.errstate(all="ignore"):
        for kind in PASSES:
            arms = arms_of(b, o, kind)
            expected = reference.full_scan(exact_scores(arms, z))
            assert scan(greedy_at(z), arms, workspace(arms)) == expected


@settings(max_examples=200)
@given(problems(arms=(1, 130)))
def test_every_score_in_8_bits_is_within_its_margin(problem):
    b, o, z = problem
    for kind in BYTES:
        arms = arms_of(b, o, kind)
        with np.errstate(all="ignore"):
            if np.isnan(margin32(arms, z)):
                return  # too large for single precision: nothing is screened
        tiles = len(arms.tiles)
        maxima, margins = np.empty(tiles, np.float32), np.empty(tiles)
        maxima_and_margins(arms.codes, arms, z, coded_models(1, len(z)), maxima, margins)
        exact = np.full(tiles * TILE, -np.inf)
        exact[: len(b)] = exact_scores(arms, z)
        tops = exact.reshape(tiles, TILE).max(axis=1)
        assert (np.abs(maxima - tops) <= margins).all()


@settings(max_examples=100)
@given(problems(arms=(1, 130)))
def test_codes_and_their_errors_add_up_to_the_rows(problem):
    b, _, z = problem
    r, words = len(z), coding.word_count(len(z))
    for kind in BYTES:
        arms = arms_of(b, None, kind)
        codes = arms.codes
        q = codes.rows.reshape(-1, words, TILE, WORD).transpose(0, 2, 1, 3).astype(float) - ZERO
        q = q.reshape(-1, words * WORD)[: len(b)]
        assert (np.abs(q) <= 127).all()
        assert (q[:, r:] == 0).all()
        tile = np.arange(len(b)) // TILE
        kept = codes.scales[tile, None].astype(float) * q[:, :r]
        for i, part in enumerate([b - kept, kept]):
            norms = np.array([np.sqrt(np.sum(row.astype(np.longdouble) ** 2)) for row in part])
            assert (norms <= codes.errors[tile, i] + 1e-160).all()
        if np.abs(z).max() < 1e28:
            coded = coded_models(1, r)
            encode(codes, z, coded, 0)
            p, u = coded.p[0, :r].astype(float), float(coded.u[0])
            assert (np.abs(p) <= codes.instruction.levels).all()
            assert coded.shift[0] == -ZERO * p.sum()
            left = np.sqrt(np.sum((z - u * p).astype(np.longdouble) ** 2))
            assert left <= coded.error[0] + 1e-160


def compiled_for(bytes_of_vectors, monkeypatch):
    monkeypatch.setattr(tile_product, "_VECTOR_BYTES", bytes_of_vectors)
    return numba.njit(lambda *arguments: largest_of_bytes(*arguments))


def instruction_of(screening):
    with screened_by(screening):
        return instruction()


@pytest.mark.parametrize("width", [64, 32])
@pytest.mark.parametrize("kind", [instruction_of(kind) for kind in BYTES], ids=str)
def test_the_product_is_that_of_integers_even_of_the_largest(kind, width, monkeypatch):
    if width > tile_product._VECTOR_BYTES:
        pytest.skip("this machine has no vectors of 64 bytes")
    product = compiled_for(width, monkeypatch)
    rng = np.random.default_rng(1)
    for words in [1, 2, 5, 30]:
        for low, high, sign in [(1, 255, 0), (255, 255, 1), (255, 255, -1), (1, 1, 1), (1, 1, -1)]:
            rows = rng.integers(low, high + 1, size=(words, WORD * TILE)).astype(np.uint8)
            o = rng.normal(size=TILE).astype(np.float32)
            p = rng.integers(-kind.levels, kind.levels + 1, size=(MODELS, WORD * words))
            p = np.where(sign == 0, p, sign * kind.levels).astype(np.int8)
            shift = (-ZERO * p.sum(axis=1, dtype=int)).astype(np.int32)
            scale = 2.0 ** -np.arange(8, 8 + MODELS).astype(np.float32)
            for models in [slice(None), 0]:
                n = 1 if models == 0 else MODELS
                arguments = kind, rows, o, p[models], shift[:n], scale[:n]
                found, expected = np.empty(n, np.float32), np.empty(n, np.float32)
                product(*arguments, found)
                largest_of_bytes(*arguments, expected)
                assert (found == expected).all()


@pytest.mark.parametrize("kind", BYTES)
def test_a_tile_is_ruled_out_by_the_margins_of_both_tiles(kind):
    # Margins of 0.1 and 0.2: what is seen as 1 may be 0.9, and what is seen as 0.69 at most 0.89.
    arms = arms_of(np.zeros((4 * TILE, 1)), None, kind)
    arms.codes.errors[:] = [[0.1, 0.0], [0.2, 0.0], [0.2, 0.0], [0.1, 0.1]]
    coded = coded_models(1, 1)
    coded.norm[0], coded.error[0] = 1.0, 1.0
    maxima = np.array([1.0, 0.71, 0.69, 0.71], np.float32)
    rule_out(arms.codes, arms, coded, 0, maxima)
    assert (maxima > -np.inf).tolist() == [True, True, False, True]


@pytest.mark.parametrize("kind", BYTES)
def test_most_tiles_are_ruled_out_in_8_bits(kind):
    rng = np.random.default_rng(1)
    b, z = rng.normal(size=(6400, 50)), rng.normal(size=50)
    arms = arms_of(b, None, kind)
    work = workspace(arms)
    scan(greedy_at(z), arms, work)
    assert (work.tile_maxima == -np.inf).sum() > 80


@pytest.mark.parametrize("kind", BYTES)
def test_runs_in_lockstep_are_screened_as_alone_whatever_the_others_models(kind):
    rng = np.random.default_rng(6)
    arms = arms_of(rng.normal(size=(1500, 20)), rng.normal(size=1500), kind)
    sizes = [1e-3, 1.0, 1e3, 30.0, 0.1]
    together = lockstep.lockstep_workspace(arms, len(sizes))
    models = [size * rng.normal(size=20) for size in sizes]
    for i, z in enumerate(models):
        together.z32[i] = z
        encode(arms.codes, z, together.coded, i)
    screen_all(arms.codes, arms, together)
    for i, z in enumerate(models):
        alone = workspace(arms)
        screen(arms, z, alone)
        assert (together.tile_maxima[i] == alone.tile_maxima).all()
        assert together.best[i] == alone.tile_maxima.max()


def test_rows_that_are_stored_piece_by_piece_have_the_same_codes():
    rng = np.random.default_rng(2)
    b = rng.normal(size=(200, 7))
    whole, pieces = arms_of(b), arms_of(np.zeros((200, 7)))
    if PASSES == ["single"]:
        pytest.skip("this machine multiplies no bytes")
    for first, last in [(0, 3), (3, 70), (70, 199), (199, 200)]:
        fastes.kernels.actions.arms.store_rows(pieces, first, b[first:last], np.zeros(last - first))
    assert (whole.codes.rows == pieces.codes.rows).all()
    assert (whole.codes.scales == pieces.codes.scales).all()
    assert (whole.codes.errors == pieces.codes.errors).all()


def test_an_arm_that_is_no_number_does_not_hide_the_best():
    rng = np.random.default_rng(3)
    b = rng.normal(size=(700, 5)) * [1, 3, 3, 3, 3]
    # Under the second and third model, the code of such a coordinate scores more than any arm.
    for z in (rng.normal(size=5), np.array([9.0, 0, 0, 0, 0]), np.array([-9.0, 0, 0, 0, 0])):
        for broken in (np.nan, np.inf, -np.inf):
            for kind in PASSES:
                rows = b.copy()
                rows[np.argmin(b @ z), 0] = broken
                arms = arms_of(rows, None, kind)
                expected = reference.full_scan(exact_scores(arms, z))
                assert scan(greedy_at(z), arms, workspace(arms)) == expected


@pytest.mark.parametrize("kind", BYTES)
def test_the_norm_of_a_model_is_not_rounded_down(kind):
    arms = arms_of(np.ones((1, 3)), None, kind)
    for z in np.random.default_rng(1).normal(size=(20, 3)):
        coded = coded_models(1, 3)
        encode(arms.codes, z, coded, 0)
        assert Fraction(coded.norm[0]) ** 2 >= sum(Fraction(x) ** 2 for x in z)


def test_no_more_memory_than_announced():
    for tiles, r in [(1, 1), (7, 5), (100, 64)]:
        codes = coding.empty_codes(tiles, r)
        arrays = [part for part in codes if isinstance(part, np.ndarray)]
        assert sum(part.nbytes for part in arrays) <= coding.empty_codes.nbytes(tiles, r)


def test_a_screening_pass_that_is_not_there_is_refused():
    with screened_by("sse"), pytest.raises(ValueError, match=r"FASTES_SCREENING .* got 'sse'"):
        instruction()


@pytest.mark.parametrize("mode", [True, False], ids=["lockstep", "alone"])
def test_whole_runs_are_the_same_by_every_pass(mode, monkeypatch):
    monkeypatch.setattr(plan, "runs_in_lockstep", lambda *arguments: mode)
    rng = np.random.default_rng(4)
    actions = rng.normal(size=(400, 12)) * 10.0 ** rng.uniform(-2, 1, size=(400, 1))
    actions[rng.integers(400, size=60)] = actions[7]
    found = []
    for kind in PASSES:
        with screened_by(kind):
            bandit = fastes.LinearBandit(actions, 0.1, prior_cov=2.0)
            found.append(fastes.simulate(bandit, fastes.ThompsonSampling(), T=60, runs=5, seed=1))
    for result in found[1:]:
        assert (result.regret.per_run == found[0].regret.per_run).all()


AVX2 = "+avx,+avx2,+fma,+sse4.2,+popcnt,+bmi,+bmi2"
PROGRAM = """
import sys; sys.path.insert(0, {tests!r})
import numpy as np, reference
from hostile import PASSES, arms_of
from fastes.kernels.actions.arms import arm_values
from fastes.kernels.agents.greedy import greedy
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.jit.boxed import boxed
from fastes.kernels.loop.live import Live, act
from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.search.scan import workspace
from fastes.kernels.streams.philox import source
rng, agent = np.random.default_rng(1), greedy(gaussian.layout(30))
arms = arms_of(rng.normal(size=(1000, 30)))
for t in range(50):
    agent.belief.mu[:] = rng.normal(size=30)
    scores = np.empty(1000)
    arm_values(arms, agent.z, np.empty(64), scores)
    known = source(1), np.zeros(1, np.int64), np.zeros(30)
    live = boxed(Live(agent, FixedActions(arms), workspace(arms), *known))
    assert act(live, t) == scores.argmax()
print(PASSES[0])
"""


@pytest.mark.parametrize(
    ("features", "expected"),
    [(AVX2, "avx2"), (AVX2 + ",+avxvnni", "vnni"), ("+sse4.2", "single")],
)
def test_code_for_other_processors_chooses_the_same_arms(features, expected, tmp_path):
    # AVX-512 has an instruction of its own for it: not every machine with one has the other.
    if expected not in PASSES or ("avxvnni" in features and not has_feature("avxvnni")):
        pytest.skip("this machine cannot run it")
    tests = str(Path(__file__).parents[2])
    environment = {
        "NUMBA_CPU_NAME": "x86-64",
        "NUMBA_CPU_FEATURES": features,
        "XDG_CACHE_HOME": str(tmp_path),
    }
    found = python(PROGRAM.format(tests=tests), check=True, **environment)
    assert found == expected
