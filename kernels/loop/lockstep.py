"""Several runs in lockstep, so that the arms are read from memory once for all of them.

All runs are at the same step. The screening pass over the arms (search/screening.py) is then a
matrix product; all else is done one run after the other, as if it were alone, and every number is
the same. The states of the runs are stacked: a named tuple of arrays with one axis more.
"""

from typing import NamedTuple

import numpy as np

from ..actions.arms import Arms
from ..agents.interface import prepare, random_arm
from ..arithmetic.tile_product import MODELS, TILE, score_tile
from ..jit.decorators import entry, generic
from ..search.codes import CodedModels, Codes, coded_models, encode_model
from ..search.scan import Workspace, break_tie, rescore, workspace
from ..search.screening import margin32, rule_out, score_bytes, screen_single
from ..search.tile_scores import largest_of
from ..states.layout import allocated, zeros
from ..states.stack import state_at
from .advance import run_steps
from .environment import draw_reward, move_theta
from .late import observe_in_turn
from .record import record_step


class LockstepWorkspace(NamedTuple):
    """Scratch memory of runs in lockstep."""

    one: Workspace
    z32: np.ndarray  # (runs, r) float32: their models; runs rounded up to a multiple of MODELS
    coded: CodedModels  # and in 8 bits
    scores: np.ndarray  # (MODELS, TILE) float32
    tile_maxima: np.ndarray  # (runs, tiles) float32: the best screened score of each tile
    best: np.ndarray  # (runs,): the best of them


@allocated
def lockstep_workspace(arms: Arms, runs: int) -> LockstepWorkspace:
    """Return the workspace of a batch of runs in lockstep."""
    tiles, r, _ = arms.tiles.shape
    rows = -(-runs // MODELS) * MODELS
    return LockstepWorkspace(
        one=workspace.layout(arms),
        z32=zeros((rows, r), np.float32),
        coded=coded_models.layout(rows, r),
        scores=zeros((MODELS, TILE), np.float32),
        tile_maxima=zeros((runs, tiles), np.float32),
        best=zeros(runs),
    )


@generic
def _screen_all(codes, arms, work):
    """Screen all arms under all models: set `tile_maxima` and `best`.

    In single precision; with codes, in 8 bits first, and a run's own tiles that are left in single.
    """
    runs = work.best.shape[0]
    for i in range(runs):
        work.best[i] = -np.inf
    for tile in range(arms.tiles.shape[0]):
        for first in range(0, runs, MODELS):
            models = work.z32[first : first + MODELS]
            score_tile(arms.tiles32[tile], arms.offsets32[tile], models, work.scores)
            for i in range(first, min(first + MODELS, runs)):
                top = largest_of(work.scores[i - first])
                work.tile_maxima[i, tile] = top
                work.best[i] = max(work.best[i], np.float64(top))


@_screen_all.body(Codes)
def _screen_all_by_codes(codes, arms, work):
    runs, coded, tops = work.best.shape[0], work.coded, work.scores[0]
    for tile in range(arms.tiles.shape[0]):
        for first in range(0, runs, MODELS):
            p = coded.p[first : first + MODELS]
            score_bytes(codes, arms, tile, p, coded, first, tops)
            for i in range(first, min(first + MODELS, runs)):
                work.tile_maxima[i, tile] = tops[i - first]
    for i in range(runs):
        rule_out(codes, arms, coded, i, work.tile_maxima[i])
        work.best[i] = screen_single(arms, True, work.z32[i], tops, work.tile_maxima[i])


@entry
def advance_lockstep(
    agents, actions, environments, records, sources, work, failed_run, start, stop
):
    """Do as `advance` for a batch of runs in lockstep. Return the step reached.

    It is below stop if all scores of a run are nan; its number is then in failed_run[0]. Scores are
    linear, and no agent may need capacity.
    """
    arms = actions.arms
    for t in range(start, stop):
        for i in range(work.best.shape[0]):
            agent = state_at(agents, i)
            prepare(agent, state_at(sources, i), t)
            for j in range(agent.z.shape[0]):
                work.z32[i, j] = agent.z[j]
            encode_model(arms.codes, agent.z, work.coded, i)
        _screen_all(arms.codes, arms, work)
        for i in range(work.best.shape[0]):
            agent, source = state_at(agents, i), state_at(sources, i)
            environment = state_at(environments, i)
            arm = random_arm(agent, arms.K, source, t)
            if arm < 0:
                w = work.one
                one = Workspace(w.scores, w.screened, w.z32, w.coded, work.tile_maxima[i])
                floor = work.best[i] - 2.0 * margin32(arms, agent.z)
                best, ties, first = rescore(agent, arms, floor, one)
                arm = break_tie(agent, arms, source, t, best, ties, first, one)
            if arm < 0:
                failed_run[0] = i
                return t
            move_theta(environment, source, t)
            reward = draw_reward(environment, source, t, arm)
            observe_in_turn(agent, actions, environment, arm, reward, source, t)
            record_step(state_at(records, i), environment, t, arm, reward)
    return stop


@entry
def advance_sequence(
    agents, actions, environments, records, sources, work, failed_run, start, stop
):
    """Do as `advance` for one run of a batch after the other. Return the step that all reached.

    One call for many short runs: each would hand the interpreter's lock from thread to thread.
    Where one does not reach stop, failed_run[0] is its number.
    """
    for i in range(records.total.shape[0]):
        agent, environment = state_at(agents, i), state_at(environments, i)
        record, source = state_at(records, i), state_at(sources, i)
        reached = run_steps(agent, actions, environment, record, source, work, start, stop)
        if reached < stop:
            failed_run[0] = i
            return reached
    return stop
