"""Help by section, with the common options first."""

from collections.abc import Callable
from typing import Any

import click

Command = Callable[..., Any]

_COMMON = ("agents", "agent", "M", "K", "d", "T", "runs", "seed", "out", "plot")


def section(title: str, *options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return a decorator that adds options to a command, in a section of its help."""

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
            command.__click_params__[-1].section = title
        return command

    return add


class SectionedCommand(click.Command):
    """A command whose help shows options by section."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the common options, then each section in the order of declaration."""
        sections: dict[str, list[tuple[str, str]]] = {"Common options": []}
        for option in self.get_params(context):
            record = option.get_help_record(context)
            if record is None or not isinstance(option, click.Option):
                continue
            common = option.name in _COMMON
            title = "Common options" if common else getattr(option, "section", "Output")
            sections.setdefault(title, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)
