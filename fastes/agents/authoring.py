"""Everything that the author of a compiled agent imports.

A compiled custom agent, as fast as the built-in ones, is a named tuple (its state), bodies for some
of the generic kernels below, and a subclass of `Agent`. The how-to "Compile a custom agent" has a
complete example, a skeleton and a checklist.

The class and its parameters:

- `Agent`: the base class; a subclass is a frozen dataclass
- `parameter`: declares a field of it
- `ActionLaw`: the return type of its method `action_law`

Generic kernels, with a body for a state by ``@prepare.body(State)``:

- `prepare`, `score`, `random_arm`, `learn`: the parts of a step
- `has_linear_scores`, `optimism`, `variance_drift`: assumptions of a search
- `needs_capacity`: whether the state must grow

Decorators of helpers that bodies call:

- `kernel`: compiled as a function
- `inlined`: compiled into each caller

The layout of a state (kernels/states/layout.py):

- `allocated`: decorator of a function that returns a layout
- `zeros`, `full`, `identity`: its arrays

The belief:

- `mean_of`: the array of its mean, whose length is the number of coordinates
- `update`: take in a reward
- `sample`: a draw from the belief, for agents with ``rooted = True``

Scores:

- `TILE`, `score_tile`: arms are stored in tiles of TILE columns; o + b'z of each arm in a tile
- `arm_values`: o + b'z of all arms, callable from Python
- `fma`: a fused multiply-add

Random numbers, each a function of (seed, run, stream, lane, counter):

- `Source`: the seed and the run
- `FIRST_OWN`: the first stream for custom agents; the last is 255
- `random_pair`, `normal_pair`: two 64-bit integers, or two N(0, 1)
- `normal`, `integer`: a N(0, 1), or an integer below n, at a step
- `fill_normals_from`: many N(0, 1) at a step
- `fill_uniform_rows`: uniforms of many steps, for a reference version in Python
- `Block`, `no_block`, `draw_vector`, `STEPS`: the same for several steps at a time, which is faster
"""

from fastes.agents.action_law import ActionLaw
from fastes.agents.agent import Agent
from fastes.checks.parameters import parameter
from fastes.kernels.actions.arms import arm_values
from fastes.kernels.agents.interface import (
    has_linear_scores,
    learn,
    needs_capacity,
    optimism,
    prepare,
    random_arm,
    score,
    variance_drift,
)
from fastes.kernels.arithmetic.floats import fma
from fastes.kernels.arithmetic.tile_product import TILE, score_tile
from fastes.kernels.beliefs.interface import Belief, mean_of, sample, update
from fastes.kernels.jit.decorators import inlined, kernel
from fastes.kernels.states.layout import allocated, full, identity, zeros
from fastes.kernels.streams.blocks import STEPS, Block, draw_vector, no_block
from fastes.kernels.streams.draws import fill_uniform_rows, integer
from fastes.kernels.streams.layout import FIRST_OWN
from fastes.kernels.streams.normals import fill_normals_from, normal, normal_pair
from fastes.kernels.streams.philox import Source, random_pair

__all__ = [
    "FIRST_OWN",
    "STEPS",
    "TILE",
    "ActionLaw",
    "Agent",
    "Belief",
    "Block",
    "Source",
    "allocated",
    "arm_values",
    "draw_vector",
    "fill_normals_from",
    "fill_uniform_rows",
    "fma",
    "full",
    "has_linear_scores",
    "identity",
    "inlined",
    "integer",
    "kernel",
    "learn",
    "mean_of",
    "needs_capacity",
    "no_block",
    "normal",
    "normal_pair",
    "optimism",
    "parameter",
    "prepare",
    "random_arm",
    "random_pair",
    "sample",
    "score",
    "score_tile",
    "update",
    "variance_drift",
    "zeros",
]
