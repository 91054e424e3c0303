import itertools

import numpy as np
import pytest

from fastes.results.curve_styles import curve_styles

AGENTS = [
    *("es", "ts", "greedy", "linucb", "uniform", "es++", "phe", "bayes-ucb", "eps-greedy", "ids"),
    *("one", "two"),
]
SIGHT = {  # Machado, Oliveira and Fernandes (2009), of linear red, green and blue
    "full": np.eye(3),
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def lab(colour, sight="full"):
    """Return a colour as CIELAB: lightness, which is left in grey print, and two hues."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(SIGHT[sight]) @ linear, 0, 1)
    xyz = [[0.434, 0.376, 0.190], [0.213, 0.715, 0.072], [0.018, 0.109, 0.873]] @ seen
    x, y, z = np.cbrt(xyz)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def lightness(colours):
    return np.array([lab(colour)[0] for colour in colours])


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_of_twelve_agents_differ_to_all_eyes(sight):
    seen = [lab(style.colour, sight) for style in curve_styles(AGENTS)]
    assert min(np.linalg.norm(x - y) for x, y in itertools.combinations(seen, 2)) > 10


@pytest.mark.parametrize(
    "agents", [AGENTS, ["es"] * 9 + ["ts", "a"], ["linucb"] * 6 + ["ts"] * 6, ["a", "b"] * 6]
)
def test_no_two_curves_share_dashes_or_marker(agents):
    styles = curve_styles(agents)
    assert len({str(style.dashes) for style in styles}) == len(agents)
    assert len({style.marker for style in styles}) == len(agents)
    assert lightness(style.colour for style in styles).max() < 85  # seen on white


@pytest.mark.parametrize("agent", AGENTS[:-1])
def test_an_agent_looks_the_same_whatever_is_beside_it(agent):
    (alone,) = curve_styles([agent])
    for others in (["es", "ts"], ["greedy"] * 3, ["uniform", "linucb"]):
        beside = [other for other in others if other != agent]
        assert curve_styles([*beside, agent])[-1] == alone
        assert curve_styles([agent, *beside])[0] == alone


@pytest.mark.parametrize("agent", AGENTS)
def test_several_of_one_agent_go_from_dark_to_light(agent):
    shades = [style.colour for style in curve_styles([agent] * 6)]
    assert (np.diff(lightness(shades)) > 5).all()


@pytest.mark.parametrize("agents", [["es"] * 60, ["es", "ts"] * 30, ["linucb"] * 13])
def test_beyond_twelve_no_two_curves_share_dashes_and_colour(agents):
    styles = curve_styles(agents)
    assert len({(style.colour, str(style.dashes)) for style in styles}) == len(agents)


def test_more_agents_than_there_are_colours_have_styles():
    assert len(curve_styles([f"agent {i}" for i in range(30)])) == 30
