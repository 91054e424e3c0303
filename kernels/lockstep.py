"""Several runs in step, so that the arms are read from memory once for all of them.

Each run is at the same step. The first look at the arms (argmax.py) is then a matrix product;
all else is done one run after the other, as if it were alone, and every number is the same.
The states of the runs are stacked: a named tuple of arrays with one axis more.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np import arrayobj

from .agent import aim, learn
from .argmax import Workspace, break_tie, largest_of, margin32, second_look, workspace
from .arms import Arms
from .jit import entry, kernel
from .loop import advance, pay, write_down
from .tile_product import MODELS, TILE, score_tile


class Together(NamedTuple):
    """What runs in step write to."""

    one: Workspace
    z32: np.ndarray  # (runs, r) float32: their models; runs rounded up to a multiple of MODELS
    scores: np.ndarray  # (MODELS, TILE) float32
    tops: np.ndarray  # (runs, tiles) float32: the best score of each tile, at a first look
    best: np.ndarray  # (runs,): the best of them


def together(arms: Arms, runs: int) -> Together:
    """Return the workspace of so many runs in step."""
    tiles, r, _ = arms.tiles.shape
    rows = -(-runs // MODELS) * MODELS
    return Together(
        one=workspace(arms),
        z32=np.zeros((rows, r), np.float32),
        scores=np.zeros((MODELS, TILE), np.float32),
        tops=np.zeros((runs, tiles), np.float32),
        best=np.zeros(runs),
    )


def stack_of(state: Any, n: int) -> Any:
    """Return room for n states like this one: a named tuple of arrays with one axis more.

    An array that stands in two places of the state does so in the stack. The system gives memory
    where it is written to, so the stack takes what its states come to use.
    """
    return _stack_of(state, n, {})


def _stack_of(part: Any, n: int, done: dict[int, np.ndarray]) -> Any:
    if isinstance(part, tuple):
        return type(part)(*(_stack_of(field, n, done) for field in part))
    if id(part) not in done or not isinstance(part, np.ndarray):
        given = np.asarray(part)
        done[id(part)] = np.zeros((n, *given.shape), given.dtype)
    return done[id(part)]


def put(stack: Any, i: int, state: Any) -> None:
    """Make the i-th state of a stack, zero so far, a copy of a state."""
    for room, part in zip(stack, state, strict=True):
        if isinstance(part, tuple):
            put(room, i, part)
        elif np.any(part):
            room[i] = part


def member(stack, i):
    """Return the i-th state of a stack; its arrays are views."""
    if isinstance(stack, tuple):
        return type(stack)(*(member(field, i) for field in stack))
    return stack[i]


@overload(member)
def _member_compiled(stack, i):
    return lambda stack, i: _member(stack, i)


@intrinsic
def _member(typingctx, stack, i):
    # Numba lets no function without its runtime return an array; this is code in its caller.
    def codegen(context, builder, signature, args):
        return _view(context, builder, stack, *args)

    return _kind_of_view(stack)(stack, i), codegen


def _kind_of_view(stack):
    if isinstance(stack, types.BaseNamedTuple):
        fields = [_kind_of_view(field) for field in stack]
        return types.BaseTuple.from_types(fields, stack.instance_class)
    return stack.copy(ndim=stack.ndim - 1) if stack.ndim > 1 else stack.dtype


def _view(context, builder, stack, value, i):
    """Emit code for the i-th state of a stack."""
    kind = _kind_of_view(stack)
    if isinstance(stack, types.BaseNamedTuple):
        fields = enumerate(stack)
        views = [
            _view(context, builder, field, builder.extract_value(value, position), i)
            for position, field in fields
        ]
        return context.make_tuple(builder, kind, views)
    array = context.make_array(stack)(context, builder, value)
    shape, strides = (cgutils.unpack_tuple(builder, part) for part in (array.shape, array.strides))
    data = cgutils.pointer_add(builder, array.data, builder.mul(i, strides[0]))
    if stack.ndim == 1:
        return arrayobj.load_item(context, builder, stack, data)
    view = context.make_array(kind)(context, builder)
    arrayobj.populate_array(view, data, shape[1:], strides[1:], array.itemsize, None)
    return view._getvalue()


@kernel
def _first_look(arms, work):
    """Score all arms under all models in single precision: set `tops` and `best`."""
    runs = work.best.shape[0]
    for i in range(runs):
        work.best[i] = -np.inf
    for tile in range(arms.tiles.shape[0]):
        for first in range(0, runs, MODELS):
            models = work.z32[first : first + MODELS]
            score_tile(arms.tiles32[tile], arms.offsets32[tile], models, work.scores)
            for i in range(first, min(first + MODELS, runs)):
                top = largest_of(work.scores[i - first])
                work.tops[i, tile] = top
                work.best[i] = max(work.best[i], np.float64(top))


@entry
def advance_together(agents, arms, environments, records, sources, work, lost, start, stop):
    """Do as `loop.advance` for runs in step. Return the step reached.

    It is below stop where a run, whose number is then lost[0], finds no score to be a number. No
    agent may come to be full.
    """
    for t in range(start, stop):
        for i in range(work.best.shape[0]):
            agent = member(agents, i)
            aim(agent, member(sources, i), t)
            for j in range(agent.z.shape[0]):
                work.z32[i, j] = agent.z[j]
        _first_look(arms, work)
        for i in range(work.best.shape[0]):
            agent, source = member(agents, i), member(sources, i)
            environment = member(environments, i)
            one = Workspace(work.one.scores, work.one.first, work.tops[i])
            floor = work.best[i] - 2.0 * margin32(arms, agent.z)
            best, ties, arm = second_look(agent, arms, floor, one)
            arm = break_tie(agent, arms, source, t, best, ties, arm, one)
            if arm < 0:
                lost[0] = i
                return t
            learn(agent, arms, source, t, arm, pay(environment, source, t, arm))
            write_down(member(records, i), environment, t, arm)
    return stop


@entry
def advance_each(agents, arms, environments, records, sources, work, lost, start, stop):
    """Do as `loop.advance` for one run after the other. Return the step that all reached.

    One call for many short runs: each would hand the interpreter's lock from thread to thread.
    Where one does not reach stop, lost[0] is its number.
    """
    for i in range(records.total.shape[0]):
        agent, environment = member(agents, i), member(environments, i)
        record, source = member(records, i), member(sources, i)
        reached = advance(agent, arms, environment, record, source, work, start, stop)
        if reached < stop:
            lost[0] = i
            return reached
    return stop
