"""fastes compile: compile the code of agents in advance."""

import json
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastes.agents import agent_parameters
from fastes.cli.agent_options import COMPILED_AGENT, agents_of, parameter_options
from fastes.cli.errors import user_errors
from fastes.cli.options import INTEGERS, option_of, output_options
from fastes.cli.problem_options import arms_of_file, problem_option
from fastes.cli.sections import Command, section
from fastes.cli.startup import load_numba
from fastes.problem.random_problem import BALL, PARAMETERS, RandomProblem
from fastes.results import configuration

if TYPE_CHECKING:
    from fastes.actions import ActionSet

_CODE = {"discount", "window"} | {
    name
    for name, (declared, _) in agent_parameters().items()
    if declared.kind in ("choice", "flag")
}
"""Parameters of agents on which their code depends."""


def _list(name: str) -> Callable[[Command], Command]:
    meaning = PARAMETERS[name].help.removesuffix(".") + "; a list of the sizes to be used."
    return problem_option(name, type=INTEGERS, help=meaning)


@click.command(name="compile")
@COMPILED_AGENT
@parameter_options(only=_CODE)
@section(
    "Problem",
    problem_option("arms"),
    problem_option("redraw"),
    problem_option("available"),
    click.option("--offered", is_flag=True, help="Live agents whose arms the caller offers."),
    _list("K"),
    _list("d"),
    problem_option("rewards"),
    option_of("T", configuration.PARAMETERS["T"]),
)
@output_options
def compile_(as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Compile the code of agents in advance, and cache it for this machine.

    The first run of an agent compiles its code, which takes ten to thirty seconds. Use this
    before many processes start at the same time, or when building a container. Simulations,
    studies and diagnostics with these options then start at once. So do act, observe, save and load
    of live agents: on fixed arms, with --arms ball, or with --offered; and act(available=...) with
    --available. act_many, slates and probabilities compile when first used.

    \b
    fastes compile
    fastes compile --agent es,ts --K 100,100000 --d 10,50
    fastes compile --agent ts --offered --rewards bernoulli
    """
    with user_errors(debug):
        load_numba()
        from fastes.kernels.jit.cache import cache_folder, cache_is_kept
        from fastes.simulation.bars import Bar, bars
        from fastes.simulation.precompile import compilations

        def require_kept() -> None:
            if not cache_is_kept():
                raise OSError("compiled code cannot be cached: the cache folder is not writable")

        require_kept()
        T = configuration.PARAMETERS["T"].checked("T", options["T"])
        agents = [agent for name in options["agents"] for agent in agents_of(name, options)]
        for agent in agents:
            if not agent.compiled:
                raise ValueError(f"{agent.label} is a Python agent, which is not compiled")
        sets, rewards = _action_sets(options), options["rewards"] or PARAMETERS["rewards"].usual
        jobs = [
            (agent, actions, what, run)
            for agent in agents
            for actions in sets
            for what, run in compilations(agent, actions, T, rewards)
        ]
        rows: list[dict[str, Any]] = []
        with bars() if not (quiet or as_json) else nullcontext() as draw:
            for i, (agent, actions, what, run) in enumerate(jobs):
                K, d = actions.K, actions.d
                if draw is not None:
                    arms = actions.text if K is None else f"K={K:,}"
                    doing = f"{i + 1} of {len(jobs)}: {agent.title}, {arms}, d={d:,}, {what}"
                    draw([Bar("compiling", i, len(jobs), partial(_fixed_text, doing))])
                began = time.perf_counter()
                run()
                seconds = time.perf_counter() - began
                rows.append({"agent": agent.name, "K": K, "d": d, "part": what, "seconds": seconds})
        require_kept()  # the disk may be full
        if as_json:
            click.echo(json.dumps({"folder": str(cache_folder()), "compiled": rows}))
        elif not quiet:
            for name, title in {agent.name: agent.title for agent in agents}.items():
                took = sum(row["seconds"] for row in rows if row["agent"] == name)
                click.echo(f"{title}: {took:.1f} s")
            click.echo(f"The code is in {cache_folder()}")


def _fixed_text(text: str, speed: float) -> str:
    return text


def _action_sets(options: dict[str, Any]) -> "list[ActionSet]":
    """Return the action sets that the options describe; random arms are not drawn."""
    from fastes.actions import Offered

    names = ("arms", "redraw", "available", "K", "d")
    given = {name: options[name] for name in names if options[name] is not None}
    arms = given.get("arms", PARAMETERS["arms"].usual)
    if options["offered"]:
        _refuse(given, ("arms", "redraw", "available", "K"), "the caller offers the arms")
        return [Offered(d) for d in _sizes("d", given)]
    if arms not in PARAMETERS["arms"].choices:
        _refuse(given, ("redraw", "K", "d"), f"{arms} has all arms")
        return [arms_of_file(Path(arms), given.get("available", 0))]
    if arms == BALL:
        _refuse(given, ("K",), "a ball has infinitely many arms")
    usual = {name: parameter.usual for name, parameter in PARAMETERS.items()}
    sizes = [(K, d) for K in _sizes("K", given) for d in _sizes("d", given)]
    if arms == "basis" and not {"K", "d"} <= given.keys():
        sizes = [(n, n) for n in _sizes("d" if "d" in given else "K", given)]
    problems = [RandomProblem(**{**usual, **given, "K": K, "d": d}) for K, d in sizes]
    for problem in problems:
        problem.check()
    return [problem.action_set(0) for problem in problems]


def _refuse(given: dict[str, Any], names: tuple[str, ...], why: str) -> None:
    for name in names:
        if name in given:
            raise click.UsageError(f"{why}: leave out --{name}")


def _sizes(name: str, given: dict[str, Any]) -> list[int]:
    parameter = PARAMETERS[name]
    return [parameter.checked(name, size) for size in given.get(name, [parameter.usual])]
