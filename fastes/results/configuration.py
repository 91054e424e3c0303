"""What was simulated: each fact is declared once, for files, JSON, figures, tables and reports."""

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
    "T": Parameter("Steps a run.", "integer", 2000, minimum=1, maximum=numbers.MAX_STEPS),
    "runs": Parameter("Independent runs.", "integer", 1, minimum=1),
    "seed": Parameter("Seed of everything random.", "integer", 0, maximum=numbers.MAX_SEED),
    "points": Parameter("Times to record.", "integer", 200, minimum=1),
}
"""What a simulation of any problem is asked for, beside its problem, agents and world."""

TRAJECTORIES = ("actions", "rewards")
"""What can be kept of every step of every run."""


@dataclass(frozen=True)
class Fact:
    """What there is to say about a fact of a simulation.

    Attributes
    ----------
    help : str
        What it is, in a sentence.
    own : bool
        Whether it is an agent's own: results that are compared may differ in it.
    figures : {"never", "chosen", "labelled"}
        Whether figures choose by it and have panels for its values, and whether labels of curves
        that differ in it say it too.
    label : function, optional
        Returns how labels and titles write it; by default its name and value.
    row : (str, function), optional
        Its title in a report, and what returns how the report writes it.
    usual : object
        Its value where there is nothing to say: what files have that were written before it was.
    line : function, optional
        Returns a line for tables where it is not usual.
    outside : (str, str), optional
        Why the paper's bounds do not speak of it where it is not usual, and what tables say then.
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
    """What was simulated. With the problem, and theta if it was fixed, it can be done again."""

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
            "How its steps are computed: deferred or eager for an ensemble, python for a custom "
            "agent, exact for all others.",
            own=True,
            figures="labelled",
        ),
    ]
    parameters: Annotated[dict[str, Any], Fact("The parameters of the agent, by name.", own=True)]
    K: Annotated[
        int | None,
        Fact("Arms on offer at a step; None where they are not counted.", figures="chosen"),
    ]
    d: Annotated[int, Fact("Dimension of theta.", figures="chosen")]
    rank: Annotated[int, Fact("Dimension of what can be learned.")]
    noise: Annotated[
        float | None,
        Fact(
            "Standard deviation of a reward, as the agent believes; None where there is no noise "
            "beside the law of rewards.",
            figures="chosen",
        ),
    ]
    rewards: Annotated[
        str,
        Fact(
            "Law of the rewards: gaussian, bernoulli or poisson.",
            figures="labelled",
            label="{} rewards".format,
            usual="gaussian",
            outside=(
                "rewards were not Gaussian",
                "The bounds are for Gaussian rewards: none for others.",
            ),
        ),
    ]
    actions: Annotated[
        str, Fact('"fixed", or what is on offer in words.', figures="chosen", label=str)
    ]
    T: Annotated[
        int, Fact(PARAMETERS["T"].help, figures="labelled", row=("steps, T", "{:,}".format))
    ]
    runs: Annotated[
        int,
        Fact(
            "Runs that are in the result.",
            own=True,
            figures="labelled",
            label=lambda runs: counted(runs, "run"),
            row=("runs", "{:,}".format),
        ),
    ]
    seed: Annotated[int, Fact(PARAMETERS["seed"].help, figures="labelled", row=("seed", str))]
    points: Annotated[int, Fact("At most how many times are recorded.")]
    theta: Annotated[
        str,
        Fact(
            '"prior": drawn anew for every run; or "fixed" and a hash of what was given.',
            figures="chosen",
            label=lambda theta: "theta from the prior" if theta == "prior" else "theta fixed",
            row=(
                "theta",
                lambda theta: "drawn from the prior in every run" if theta == "prior" else "fixed",
            ),
            usual="prior",
            outside=(
                "theta was fixed",
                "The bounds are on means over the prior: none for a fixed theta.",
            ),
        ),
    ]
    truth: Annotated[
        str,
        Fact(
            '"belief", or how the world differs from what agents believe, in words.',
            figures="labelled",
            label=lambda truth: "as believed" if truth in (None, "belief") else f"truth: {truth}",
            row=(
                "truth",
                lambda truth: "as the agents believe" if truth == "belief" else truth,
            ),
            usual="belief",
            line=lambda truth: f"in truth: {truth}",
            outside=(
                "the world was not what the agent believes",
                "The bounds are for a world as the agent believes it: none for another truth.",
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
                lambda delay: f"late by {counted(delay, 'step')}" if delay else "observed at once",
            ),
            usual=0,
            line=lambda delay: f"rewards are late by {counted(delay, 'step')}",
            outside=(
                "rewards were late",
                "The bounds are for rewards that come at once: none for late ones.",
            ),
        ),
    ]
    problem: Annotated[
        str,
        Fact(
            "A hash of the Bandit.",
            figures="chosen",
            label=lambda problem: f"problem {problem[:6]}",
            row=("problem's fingerprint", str),
        ),
    ]
    versions: Annotated[
        dict[str, str],
        Fact(
            "Versions of fastes, NumPy and numba, and a hash of the compiled code's source.",
            row=(
                "versions",
                lambda versions: ", ".join(f"{name} {value}" for name, value in versions.items()),
            ),
        ),
    ]
    date: Annotated[str, Fact("When it was done, in UTC.", own=True, row=("date", str))]
    threads: Annotated[
        int, Fact("Threads that did the runs.", own=True, row=("threads", "{:,}".format))
    ]
    seconds: Annotated[float, Fact("How long the runs took.", own=True)]

    @classmethod
    def from_description(cls, described: Mapping[str, Any]) -> Self:
        """Return what a file describes, or raise TypeError; what it lacks is as usual."""
        usual = {name: fact.usual for name, fact in FACTS.items() if fact.usual is not None}
        return typed(cls, {**usual, **described})

    @property
    def reward_facts(self) -> dict[str, Any]:
        """What there is to say of the rewards: their noise, or the name of their law."""
        return {"rewards": self.rewards} if self.noise is None else {"noise": self.noise}

    @property
    def reward_text(self) -> str:
        """The same, on a line."""
        return f"{self.rewards} rewards" if self.noise is None else f"noise {self.noise:g}"

    @property
    def outside_theory(self) -> str:
        """Why the paper's bounds do not speak of it; empty where they do."""
        return self._outside()[0]

    @property
    def instead_of_bounds(self) -> str:
        """What tables say where the paper's bounds do not speak of it."""
        return self._outside()[1]

    def _outside(self) -> tuple[str, str]:
        for name, fact in FACTS.items():
            if fact.outside is not None and getattr(self, name) != fact.usual:
                return fact.outside
        return "", ""


_HINTS = get_type_hints(Configuration, include_extras=True)

FACTS: dict[str, Fact] = {name: hint.__metadata__[0] for name, hint in _HINTS.items()}
"""What there is to say about each fact of a `Configuration`."""


def _attributes() -> str:
    """Return the section of the facts for the docstring, which help and documentation show."""
    lines = ["", "", "Attributes", "----------"]
    for name, kind in get_type_hints(Configuration).items():
        shown = getattr(kind, "__origin__", kind)
        lines += [f"{name} : {getattr(shown, '__name__', shown)}"]
        lines += [f"    {line}" for line in textwrap.wrap(FACTS[name].help, 92)]
    return "\n".join(lines)


Configuration.__doc__ = f"{Configuration.__doc__}{_attributes()}\n"
documented(Configuration)


def unusual(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts that are worth a line: the world is not as agents believe, for one."""
    return {
        name: facts[name]
        for name, fact in FACTS.items()
        if fact.line is not None and name in facts and facts[name] != fact.usual
    }


def fact_text(name: str, value: Any) -> str:
    """Return a fact, or an axis of a study, for a title or a label.

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
