import itertools

import numpy as np
import pytest

from fastes.results.curve_styles import MOST, colour_scale, curve_styles


def lightness(colour):
    """Return CIE lightness, from 0 to 100: what is left of a colour in grey print."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    return 116 * np.cbrt(luminance) - 16


MIXTURES = [
    ["es"] * 9 + ["ts", "greedy"],
    ["es"] * 12,
    ["linucb"] * 6 + ["ts"] * 6,
    ["es", "ts", "greedy", "linucb", "uniform", "ids", "phe", "es++", "bayes-ucb", "a", "b", "c"],
]


@pytest.mark.parametrize("agents", MIXTURES)
def test_no_two_of_twelve_curves_share_colour_lightness_dashes_or_marker(agents):
    looks = [style.line() for style in curve_styles(agents)]
    for name in ("color", "linestyle", "marker"):
        assert len({str(look[name]) for look in looks}) == len(agents)
    shades = [lightness(look["color"]) for look in looks]
    assert min(abs(x - y) for x, y in itertools.combinations(shades, 2)) > 0.1
    assert max(shades) < 80  # seen on white


def test_the_usual_agents_differ_clearly_in_grey():
    usual = curve_styles(["es", "linucb", "ts", "uniform", "greedy"])
    assert (np.diff([lightness(style.colour) for style in usual]) > 5).all()


@pytest.mark.parametrize("agent", ["es", "ts", "greedy", "linucb", "uniform", "yet-to-come"])
def test_an_agent_looks_the_same_whatever_is_beside_it(agent):
    (alone,) = curve_styles([agent])
    for others in (["es", "ts"], ["greedy"] * 3, ["uniform", "linucb"]):
        beside = [other for other in others if other != agent]
        assert curve_styles([*beside, agent])[-1] == alone
        assert curve_styles([agent, *beside])[0] == alone


def hue(colour):
    r, g, b = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return np.degrees(np.arctan2(np.sqrt(3) * (g - b), 2 * r - g - b)) % 360


def test_several_of_one_agent_are_shades_of_its_colour():
    (alone,) = curve_styles(["es"])
    shades = curve_styles(["es"] * 9)
    assert all(abs(hue(style.colour) - hue(alone.colour)) < 20 for style in shades)
    assert (np.diff([lightness(style.colour) for style in shades]) > 3).all()


def test_what_is_drawn_already_is_not_drawn_again():
    drawn = curve_styles(["es", "ts"])
    more = curve_styles(["es", "es"], taken=drawn)
    looks = [style.line() for style in (*drawn, *more)]
    for name in ("color", "linestyle", "marker"):
        assert len({str(look[name]) for look in looks}) == 4


def test_more_than_can_be_told_apart_are_refused():
    with pytest.raises(ValueError, match="at most 12 curves can be told apart, got 13"):
        curve_styles(["es"] * (MOST + 1))
    with pytest.raises(ValueError, match="got 13"):
        curve_styles(["es"] * MOST, taken=curve_styles(["ts"]))


def test_a_scale_goes_from_dark_to_light():
    shades = [lightness(colour) for colour in colour_scale("es", np.linspace(0, 1, 20))]
    assert (np.diff(shades) > 1.5).all()
