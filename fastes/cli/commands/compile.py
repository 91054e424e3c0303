"""fastes compile: compile the code of agents in advance."""

import json
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import click

from fastes.agents import agent_parameters
from fastes.cli.agent_options import COMPILED_AGENT, agents_of, parameter_options
from fastes.cli.errors import user_errors
from fastes.cli.options import INTEGERS, option_of, output_options
from fastes.cli.sections import Command
from fastes.cli.startup import load_numba
from fastes.problem.random_problem import PARAMETERS
from fastes.results import configuration

_CHOICES = {
    name
    for name, (declared, _) in agent_parameters().items()
    if declared.kind in ("choice", "flag")
}


def _list(name: str, default: str) -> Callable[[Command], Command]:
    meaning = PARAMETERS[name].help.removesuffix(".") + "; a list of the sizes to be used."
    return option_of(name, PARAMETERS[name], type=INTEGERS, default=default, help=meaning)


@click.command(name="compile")
@COMPILED_AGENT
@parameter_options(only=_CHOICES)
@_list("K", "100")
@_list("d", "10")
@option_of("T", configuration.PARAMETERS["T"])
@output_options
def compile_(as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Compile the code of agents in advance, and cache it for this machine.

    The first run of an agent compiles its code, which takes ten to thirty seconds. Use this
    before many processes start at the same time, or when building a container. Simulations,
    studies, diagnostics and live agents of these sizes, on fixed arms, then start at once. Other
    action sets, and act(available=...), compile when first used.

    \b
    fastes compile
    fastes compile --agent es,ts --K 100,100000 --d 10,50
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
        jobs = [
            (agent, K, d, what, run)
            for agent in agents
            for K in _sizes("K", options)
            for d in _sizes("d", options)
            for what, run in compilations(agent, K, d, T)
        ]
        rows: list[dict[str, Any]] = []
        with bars() if not (quiet or as_json) else nullcontext() as draw:
            for i, (agent, K, d, what, run) in enumerate(jobs):
                if draw is not None:
                    doing = f"{i + 1} of {len(jobs)}: {agent.title}, K={K:,}, d={d:,}, {what}"
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


def _sizes(name: str, options: dict[str, Any]) -> list[int]:
    return [PARAMETERS[name].checked(name, size) for size in options[name]]
