"""The facts of a simulation, each declared once for files, JSON, figures, tables and reports."""

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self, get_type_hints

from fastes.agents import agent_label
from fastes.checks import numbers
from fastes.checks.documented import documented
from fastes.checks.numbers import counted
from fastes.checks.parameters import FLAGS, Parameter
from fastes.files.guard import typed
from fastes.problem import world

PARAMETERS = {
    "T": Parameter("Steps of each run.", "integer", 2000, minimum=1, maximum=numbers.MAX_STEPS),
    "runs": Parameter("Independent runs.", "integer", 1, minimum=1),
    "seed": Parameter("Random seed.", "integer", 0, maximum=numbers.MAX_SEED),
    "points": Parameter("Number of recorded times, at most.", "integer", 200, minimum=1),
}
"""Parameters of a simulation, beside its problem, agents and world."""

TRAJECTORIES = ("actions", "rewards")
"""What can be recorded at every step of every run."""


@dataclass(frozen=True)
class Fact:
    """The declaration of a fact of a simulation.

    Attributes
    ----------
    help : str
        A sentence that describes it.
    own : bool
        Whether it belongs to one agent: results in a comparison may differ in it.
    figures : {"never", "chosen", "labelled"}
        Whether figures can select and facet by it ("chosen"), and also label curves by it.
    label : function, optional
        Returns its text in labels and titles; by default name=value.
    row : (str, function), optional
        Its title in a report, and a function that returns its text there.
    usual : object
        Its usual value; also that of files written before the fact was added.
    line : function, optional
        Returns a line for tables if it is not usual.
    outside : (str, str), optional
        Why the paper's bounds do not apply if it is not usual, and the note in tables.
    """

    help: str
    own: bool = False
    figures: str = "never"
    label: Callable[[Any], str] | None = None
    row: tuple[str, Callable[[Any], str]] | None = None
    usual: Any = None
    line: Callable[[Any], str] | None = None
    outside: tuple[str, str] | None = None


class Configuration(NamedTuple):
    """What was simulated. With the problem, and theta if fixed, it can be repeated."""

    agent: Annotated[
        str,
        Fact(
            "The short name of the agent, such as es.",
            own=True,
            figures="chosen",
            label=lambda name: agent_label(name, {}),
        ),
    ]
    engine: Annotated[
        str,
        Fact(
            "How steps are computed: deferred or eager for an ensemble, python for a custom "
            "agent, exact for all others.",
            own=True,
            figures="labelled",
        ),
    ]
    parameters: Annotated[dict[str, Any], Fact("The parameters of the agent, by name.", own=True)]
    K: Annotated[
        int | None,
        Fact("Arms on offer at a step; None if infinitely many.", figures="chosen"),
    ]
    d: Annotated[int, Fact("Dimension of theta.", figures="chosen")]
    rank: Annotated[int, Fact("Dimension of what can be learned.")]
    noise: Annotated[
        float | None,
        Fact(
            "Standard deviation of a reward, as the agent believes; None unless rewards are "
            "gaussian.",
            figures="chosen",
        ),
    ]
    rewards: Annotated[
        str,
        Fact(
            "Reward law: gaussian, bernoulli or poisson.",
            figures="labelled",
            label="{} rewards".format,
            usual="gaussian",
            outside=(
                "rewards were not Gaussian",
                "No bounds: they hold for Gaussian rewards only.",
            ),
        ),
    ]
    actions: Annotated[
        str, Fact('"fixed", or a description of the action set.', figures="chosen", label=str)
    ]
    T: Annotated[
        int, Fact(PARAMETERS["T"].help, figures="labelled", row=("steps, T", "{:,}".format))
    ]
    runs: Annotated[
        int,
        Fact(
            "Runs in the result.",
            own=True,
            figures="labelled",
            label=lambda runs: counted(runs, "run"),
            row=("runs", "{:,}".format),
        ),
    ]
    seed: Annotated[int, Fact(PARAMETERS["seed"].help, figures="labelled", row=("seed", str))]
    points: Annotated[int, Fact(PARAMETERS["points"].help)]
    theta: Annotated[
        str,
        Fact(
            '"prior": drawn for every run; or "fixed" and a hash of theta.',
            figures="chosen",
            label=lambda theta: "theta from the prior" if theta == "prior" else "theta fixed",
            row=(
                "theta",
                lambda theta: "drawn from the prior for every run" if theta == "prior" else "fixed",
            ),
            usual="prior",
            outside=(
                "theta was fixed",
                "No bounds: they hold for means over the prior, not for a fixed theta.",
            ),
        ),
    ]
    truth: Annotated[
        str,
        Fact(
            '"belief", or how the world differs from what agents believe.',
            figures="labelled",
            label=lambda truth: "as believed" if truth in (None, "belief") else f"truth: {truth}",
            row=(
                "truth",
                lambda truth: "as the agents believe" if truth == "belief" else truth,
            ),
            usual="belief",
            line=lambda truth: f"truth: {truth}",
            outside=(
                "the truth differed from the belief",
                "No bounds: they hold only if the truth is as the agent believes.",
            ),
        ),
    ]
    delay: Annotated[
        int,
        Fact(
            world.PARAMETERS["delay"].help,
            figures="labelled",
            label=lambda delay: f"delay={delay or 0:,}",
            row=(
                "rewards",
                lambda delay: f"delayed by {counted(delay, 'step')}" if delay else "not delayed",
            ),
            usual=0,
            line=lambda delay: f"rewards are delayed by {counted(delay, 'step')}",
            outside=(
                "rewards were delayed",
                "No bounds: they hold for rewards without delay only.",
            ),
        ),
    ]
    problem: Annotated[
        str,
        Fact(
            "Hash of the Bandit.",
            figures="chosen",
            label=lambda problem: f"problem {problem[:6]}",
            row=("problem's fingerprint", str),
        ),
    ]
    versions: Annotated[
        dict[str, str],
        Fact(
            "Versions of fastes, NumPy and numba, and a hash of the kernels' source.",
            row=(
                "versions",
                lambda versions: ", ".join(f"{name} {value}" for name, value in versions.items()),
            ),
        ),
    ]
    date: Annotated[str, Fact("Date and time, in UTC.", own=True, row=("date", str))]
    threads: Annotated[int, Fact("Number of threads.", own=True, row=("threads", "{:,}".format))]
    seconds: Annotated[float, Fact("Duration of the runs.", own=True)]

    @classmethod
    def from_description(cls, described: Mapping[str, Any]) -> Self:
        """Return the configuration in a file, or raise TypeError; missing facts are as usual."""
        usual = {name: fact.usual for name, fact in FACTS.items() if fact.usual is not None}
        return typed(cls, {**usual, **described})

    @property
    def reward_facts(self) -> dict[str, Any]:
        """The noise of the rewards, or the name of their law."""
        return {"rewards": self.rewards} if self.noise is None else {"noise": self.noise}

    @property
    def reward_text(self) -> str:
        """The same, on a line."""
        return f"{self.rewards} rewards" if self.noise is None else f"noise {self.noise:g}"

    @property
    def outside_theory(self) -> str:
        """Why the paper's bounds do not apply; empty if they do."""
        return self._outside()[0]

    @property
    def instead_of_bounds(self) -> str:
        """The note in tables if the paper's bounds do not apply."""
        return self._outside()[1]

    def _outside(self) -> tuple[str, str]:
        for name, fact in FACTS.items():
            if fact.outside is not None and getattr(self, name) != fact.usual:
                return fact.outside
        return "", ""


_HINTS = get_type_hints(Configuration, include_extras=True)

FACTS: dict[str, Fact] = {name: hint.__metadata__[0] for name, hint in _HINTS.items()}
"""The declaration of each fact of a `Configuration`."""


def _attributes() -> str:
    """Return the Attributes section of the docstring."""
    lines = ["", "", "Attributes", "----------"]
    for name, kind in get_type_hints(Configuration).items():
        shown = getattr(kind, "__origin__", kind)
        lines += [f"{name} : {getattr(shown, '__name__', shown)}"]
        lines += [f"    {line}" for line in textwrap.wrap(FACTS[name].help, 92)]
    return "\n".join(lines)


Configuration.__doc__ = f"{Configuration.__doc__}{_attributes()}\n"
documented(Configuration)


def unusual(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts with a line in tables, because they are not usual."""
    return {
        name: facts[name]
        for name, fact in FACTS.items()
        if fact.line is not None and name in facts and facts[name] != fact.usual
    }


def fact_text(name: str, value: Any) -> str:
    """Return the text of a fact, or of an axis of a study, for a title or a label.

    >>> fact_text("K", 1000), fact_text("noise", 0.5), fact_text("runs", 1)
    ('K=1,000', 'noise=0.5', '1 run')
    """
    label = FACTS[name].label if name in FACTS else None
    if label is not None:
        return label(value)
    if isinstance(value, bool):
        return f"{name}={FLAGS[value]}"
    if isinstance(value, float):
        return f"{name}={value:g}"
    return f"{name}={value:,}" if isinstance(value, int) else f"{name}={value}"
