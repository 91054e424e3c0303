"""What was simulated, fact by fact."""

import json
from pathlib import Path

import pytest
from made_results import made

import fastes
from fastes.results.configuration import FACTS, PARAMETERS, Configuration, unusual

MADE = made().configuration
SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "reference" / "json-schema.json").read_text()
)
TYPES = {"str": "string", "int": "integer", "float": "number", "dict": "object"}


@pytest.mark.parametrize("name", FACTS)
def test_a_fact_is_explained_wherever_it_is_met(name):
    assert FACTS[name].help.endswith(".")
    assert getattr(Configuration, name).__doc__ == FACTS[name].help
    assert f"\n{name} : " in Configuration.__doc__
    schema = SCHEMA["$defs"]["agent" if FACTS[name].own else "simulate"]["properties"][name]
    if FACTS[name].usual is not None:
        assert schema["description"] == FACTS[name].help
    if "type" in schema:
        kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
        assert kind == TYPES[type(getattr(MADE, name)).__name__]


def test_what_a_file_of_before_lacks_is_as_usual():
    described = MADE._asdict()
    del described["truth"], described["delay"]
    assert Configuration.from_description(described) == MADE
    for wrong in ({"delay": "late"}, {"seconds": 1}, {"more": 1}):
        with pytest.raises(TypeError):
            Configuration.from_description({**described, **wrong})
    del described["T"]
    with pytest.raises(TypeError):
        Configuration.from_description(described)


def test_only_what_is_unusual_is_worth_a_line():
    assert unusual(MADE._asdict()) == {}
    assert unusual({"T": 5, "delay": 2, "theta": "fixed, 1"}) == {"delay": 2}


def test_what_is_asked_of_a_simulation_is_an_argument_and_a_fact():
    usual = {"T": 5, **{name: each.usual for name, each in PARAMETERS.items() if name != "T"}}
    bandit = fastes.LinearBandit.random(4, 2)
    given = fastes.simulate(bandit, fastes.Greedy(), **usual).configuration
    plain = fastes.simulate(bandit, fastes.Greedy(), 5).configuration
    for name in PARAMETERS:
        assert getattr(given, name) == getattr(plain, name) == usual[name]
