"""The command line: a thin layer on the library, which never imports it."""

import difflib
import importlib
from typing import Any

import click

import fastes
from fastes.checks.numbers import printable

_COMMANDS = {
    "simulate": "Simulate agents and measure their regret.",
    "sweep": "Simulate all settings of a grid, here or on a cluster.",
    "resume": "Continue a simulation from its checkpoint.",
    "bound": "Print regret bounds for a problem, the paper's and ours.",
    "diagnose": "Measure the quantities of the paper's theory, beside its bounds.",
    "replay": "Estimate the values of agents from logged plays.",
    "plot": "Draw saved results.",
    "report": "Write an HTML report of results and studies.",
    "show": "Print the content and origin of a file.",
    "rerun": "Repeat a saved result, and compare every bit.",
    "compile": "Compile the code of agents in advance.",
}


class _LazyGroup(click.Group):
    """Commands whose modules are imported when they run, not when help lists them."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module = importlib.import_module(f"fastes.cli.commands.{name}")
        command = getattr(module, "compile_" if name == "compile" else name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(self, context: click.Context, arguments: list[str]) -> Any:
        near = difflib.get_close_matches(arguments[0], _COMMANDS, 1)
        if arguments[0] not in _COMMANDS and near:
            context.fail(f"no command {arguments[0]!r}; did you mean {near[0]!r}?")
        return super().resolve_command(context, arguments)

    def make_context(self, *given: Any, **options: Any) -> click.Context:
        from fastes.cli.errors import closed_stdout

        with closed_stdout():  # --help and --version print here
            return super().make_context(*given, **options)
        raise click.exceptions.Exit(0)

    def invoke(self, context: click.Context) -> Any:
        from fastes.cli.errors import Failure, closed_stdout, one_line_warnings

        try:
            with closed_stdout(), one_line_warnings():
                return super().invoke(context)
        except click.ClickException as error:
            # It may quote a file.
            error.message = printable(error.message)  # type: ignore[misc]
            raise
        except KeyboardInterrupt:  # outside a command's own work
            raise Failure("stopped") from None

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.command(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(fastes.__version__, prog_name="fastes")
def main(**_: Any) -> None:
    """Ensemble sampling and Thompson sampling on linear, logistic and Poisson bandits.

    \b
    fastes simulate --M 10000
    fastes simulate --agent es,ts --M 30 --plot regret.png
    """
