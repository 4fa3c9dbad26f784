"""The colours of topics as people with each kind of colour vision see them."""

import re
from importlib.resources import files
from itertools import combinations

import numpy as np
import pytest

from topicvec.pictures.palette import COLOURS, NULL_COLOUR, PAPER

# Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision
# deficiency" (2009), severity 1, for linear RGB.
KINDS = {
    "usual": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
# Distances in CIE Lab; about 2.3 can just be seen.
NEIGHBOURS, ANY_TWO = 20, 10
READABLE, VISIBLE = 4.5, 3.0  # contrast of small text, and of dots and bars, by WCAG AA

TO_XYZ = np.array(  # of sRGB, white D65
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
TO_CONES = np.array(  # of Ottosson's Oklab
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def linear(colour):
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def style(name):
    return (files("topicvec.explore") / "static" / name).read_text(encoding="utf-8")


def tone(colour):
    """What the page draws in the dark, by the formula in its style."""
    formula = (
        r"oklch\(from var\(--topic\) calc\(([\d.]+) \+ ([\d.]+) \* l\) calc\(([\d.]+) \+ c\) h"
    )
    base, slope, more = map(float, re.search(formula, style("parts.css")).groups())
    lightness, *hue = TO_OKLAB @ np.cbrt(TO_CONES @ linear(colour))
    chroma = np.hypot(*hue)
    wanted = [base + slope * lightness, *np.multiply(hue, 1 + more / chroma)]
    return np.clip(np.linalg.solve(TO_CONES, np.linalg.solve(TO_OKLAB, wanted) ** 3), 0, 1)


def lab(light):
    ratios = (TO_XYZ @ light) / TO_XYZ.sum(axis=1)
    f = np.where(ratios > (6 / 29) ** 3, np.cbrt(ratios), ratios / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distances(light_of, kind):
    """Distances of all pairs of colours as one kind of eyes sees them, by their places."""
    seen = [lab(np.clip(KINDS[kind] @ light_of(colour), 0, 1)) for colour in COLOURS]
    return {
        (i, j): np.linalg.norm(seen[i] - seen[j]) for i, j in combinations(range(len(COLOURS)), 2)
    }


def ground(name):
    """What the page's style lays under its text, in the light and in the dark."""
    given = re.search(rf"--{name}: light-dark\((#\w{{6}}), (#\w{{6}})\)", style("base.css"))
    return tuple(map(linear, given.groups()))


def contrast(light, background):
    dark, bright = sorted((TO_XYZ @ each)[1] for each in (light, background))
    return (bright + 0.05) / (dark + 0.05)


grounds = pytest.mark.parametrize("light_of", [linear, tone], ids=["light", "dark"])
kinds = pytest.mark.parametrize("kind", KINDS)


@kinds
def test_grey_is_grey_to_all_eyes(kind):
    grey = linear(NULL_COLOUR)
    np.testing.assert_allclose(KINDS[kind] @ grey, grey, atol=1e-5)


def test_distances_are_those_of_cie_lab():
    np.testing.assert_allclose(lab(linear("#ffffff")), [100, 0, 0], atol=0.01)
    np.testing.assert_allclose(lab(linear("#ff0000")), [53.24, 80.09, 67.20], atol=0.01)


def test_red_and_green_of_one_lightness_are_alike_to_deuteranopes_only():
    red, green = linear("#b35900"), linear("#757500")
    there = np.linalg.norm(lab(red) - lab(green))
    matrix = np.array(KINDS["deuteranopia"])
    seen = np.linalg.norm(lab(matrix @ red) - lab(matrix @ green))
    assert there > 30
    assert seen < 10


@grounds
@kinds
def test_colours_of_neighbours_are_far_apart_to_all_eyes(light_of, kind):
    last = len(COLOURS) - 1
    found = distances(light_of, kind)
    near = {pair: d for pair, d in found.items() if pair[1] - pair[0] == 1 or pair == (0, last)}
    assert len(near) == len(COLOURS)
    assert min(near.values()) >= NEIGHBOURS


@grounds
@kinds
def test_any_two_colours_can_be_told_apart_by_all_eyes(light_of, kind):
    assert min(distances(light_of, kind).values()) >= ANY_TWO


@kinds
def test_colours_are_readable_on_light_and_dark_grounds_to_all_eyes(kind):
    (light, dark), paper = ground("card"), linear(PAPER)
    for colour in COLOURS:
        on_light, on_dark = (np.clip(KINDS[kind] @ of(colour), 0, 1) for of in (linear, tone))
        assert contrast(on_light, paper) >= READABLE
        assert contrast(on_light, light) >= READABLE
        assert contrast(on_dark, dark) >= READABLE
        for shown, around in zip((on_light, on_dark), ground("paper"), strict=True):
            assert contrast(shown, around) >= VISIBLE
