"""Layouts: the arrays that a state will have, their memory, and states made of them."""

from typing import NamedTuple

import numpy as np
import pytest
from every_agent import AGENTS
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.states.layout import (
    allocate,
    allocated,
    filled,
    full,
    identity,
    layout_bytes,
    saved_fields,
    zeros,
)
from fastes.kernels.states.stack import stacked, state_at


class Scratch(NamedTuple):
    row: np.ndarray


class Part(NamedTuple):
    table: np.ndarray
    scale: float


class State(NamedTuple):
    mean: np.ndarray
    part: Part
    z: np.ndarray
    scratch: Scratch


@allocated
def state(r, scale=2.0):
    mean = full(r, 1.5)
    return State(mean, Part(identity(r), scale), mean, Scratch(zeros((2, r), np.int64)))


@pytest.mark.parametrize("r", [0, 1, 4])
def test_a_state_has_the_arrays_of_its_layout(r):
    made = state(r)
    assert made.mean is made.z
    assert made.mean.tolist() == [1.5] * r
    assert made.part.table.tolist() == np.eye(r).tolist()
    assert (made.part.scale, made.scratch.row.dtype) == (2.0, np.int64)
    assert state.nbytes(r) == 8 * (r + r * r + 2 * r)
    assert len(state.layout(r).mean) == len(made.mean)


def test_no_array_is_shared_by_two_states():
    layout = state.layout(3)
    first, second = allocate(layout), allocate(layout)
    first.mean[0] = 7.0
    assert second.mean[0] == 1.5


def test_a_stack_holds_equal_states():
    stack = stacked(state.layout(3), 4)
    assert stack.part.scale.tolist() == [2.0] * 4
    for i in range(4):
        one = state_at(stack, i)
        assert one.mean.tolist() == [1.5] * 3
        assert one.part.table.tolist() == np.eye(3).tolist()


def test_what_is_scratch_is_not_saved():
    names = ["mean", "part_table"]
    assert [name for name, _ in saved_fields(state(2))] == names
    saved = {name: part + 1.0 for name, part in saved_fields(state(2))}
    again = filled(state.layout(2), saved)
    assert again.part.table.tolist() == [[2.0, 1.0], [1.0, 2.0]]
    for wrong in ({}, {**saved, "mean": np.ones(3)}, {**saved, "mean": np.ones(2, np.float32)}):
        with pytest.raises(ValueError, match="a saved agent's 'mean' is missing or does not fit"):
            filled(state.layout(2), wrong)
    with pytest.raises(ValueError, match="'part_table' must be finite"):
        filled(state.layout(2), {**saved, "part_table": np.full((2, 2), np.nan)})


@pytest.mark.parametrize("agent", AGENTS, ids=str)
@pytest.mark.parametrize("K", [7, None])
def test_layouts_hold_no_arrays(agent, K):
    """A layout is made again for every run: an array in it would be shared by all of them."""

    def leaves(part):
        for field in part:
            yield from leaves(field) if isinstance(field, tuple) else (field,)

    layout = agent.layout(K, gaussian.layout(3, rooted=agent.rooted), 50)
    assert not any(isinstance(leaf, np.ndarray) for leaf in leaves(layout))
    assert layout_bytes(layout) == agent.state_bytes(K, 3, 50)
