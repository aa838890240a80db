"""Explorers draw what they show, with words for every picture; figures keep one colour for one idea."""

import itertools
import re
from pathlib import Path

import ipywidgets as widgets
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from toolrl_core.explain.explore import MAXIMUM_FRAMES, explore
from toolrl_core.explain.figures import (
    PALETTE,
    ROLES,
    colour,
    line_style,
    show,
    to_svg,
    to_table,
    use_style,
)

STYLE_SHEET = Path(__file__).resolve().parents[1] / "book" / "_assets" / "book.css"


def words(missing, preset="paper"):
    """Draw a frame without a picture."""
    return f"<p>{preset} {missing}</p>"


def sliders(explorer):
    """List the sliders of an explorer."""
    return [child for child in explorer.children if isinstance(child, widgets.SelectionSlider)]


def shown(explorer):
    """Follow the stacks to the frame that a reader sees."""
    widget = explorer.children[-1]
    for slider in sliders(explorer):
        widget = widget.children[slider.index]
    return widget.value


def frames(widget):
    """List the HTML of all frames."""
    if isinstance(widget, widgets.HTML):
        return [widget.value]
    return [value for child in widget.children for value in frames(child)]


class TestWithAKernel:
    def test_only_the_first_frame_is_drawn_at_once(self):
        explorer = explore(words, missing=[0, 1, 2], preset=["paper", "robust"])
        assert [bool(value) for value in frames(explorer.children[-1])] == [True, False, False, False, False, False]

    def test_moving_a_slider_draws_the_frame_of_its_value(self):
        explorer = explore(words, missing=[0, 1, 2], preset=["paper", "robust"])
        sliders(explorer)[0].index = 2
        sliders(explorer)[1].index = 1
        assert "<p>robust 2</p>" in shown(explorer)

    def test_a_frame_is_drawn_once(self):
        drawn = []
        explorer = explore(lambda missing: drawn.append(missing) or words(missing), missing=[0, 1])
        for index in (1, 0, 1, 0):
            sliders(explorer)[0].index = index
        assert drawn == [0, 1]

    def test_it_starts_at_the_asked_values(self):
        explorer = explore(
            words, missing=[0, 0.5, 1], preset=["paper", "robust"], start={"missing": 0.5, "preset": "robust"}
        )
        assert [slider.label for slider in sliders(explorer)] == ["0.5", "robust"]
        assert "<p>robust 0.5</p>" in shown(explorer)

    def test_the_stacks_follow_the_sliders_without_a_kernel(self, monkeypatch):
        links = []
        monkeypatch.setattr(widgets, "jslink", lambda source, target: links.append((source, target)))
        explorer = explore(words, missing=[0, 1, 2], preset=["paper", "robust"])
        (missing, preset), outer = sliders(explorer), explorer.children[-1]
        assert links == [
            *(((preset, "index"), (inner, "selected_index")) for inner in outer.children),
            ((missing, "index"), (outer, "selected_index")),
        ]


class TestInTheBook:
    @pytest.fixture(autouse=True)
    def _bake(self, monkeypatch):
        monkeypatch.setenv("TOOLRL_BAKE", "1")

    def test_every_frame_is_drawn(self):
        explorer = explore(words, missing=[0, 1, 2], preset=["paper", "robust"])
        assert [re.findall(r"<p>(.*)</p>", value) for value in frames(explorer.children[-1])] == [
            [f"{preset} {missing}"] for missing in (0, 1, 2) for preset in ("paper", "robust")
        ]

    def test_every_picture_has_words_of_its_own_and_the_table_of_its_values(self):
        def draw(missing):
            figure, axes = plt.subplots()
            axes.plot([0, missing])
            return figure, pd.DataFrame({"credit": [3 - missing]})

        explorer = explore(draw, missing=[0, 1], alt="Credit with {missing} missing.")
        first, second = frames(explorer.children[-1])
        assert 'role="img" aria-label="Credit with 0 missing."' in first
        assert "<td>3</td>" in first
        assert 'role="img" aria-label="Credit with 1 missing."' in second
        assert "<td>2</td>" in second
        assert plt.get_fignums() == []

    def test_every_frame_says_which_values_it_belongs_to(self):
        explorer = explore(words, missing=[0, 1], preset=["<a>", "b"])
        assert [re.search(r'data-frame="(.*?)"', value)[1] for value in frames(explorer.children[-1])] == [
            "0; &lt;a&gt;", "0; b", "1; &lt;a&gt;", "1; b",
        ]  # fmt: skip

    def test_alt_may_be_a_function_of_the_values(self):
        explorer = explore(lambda x: plt.figure(), x=[0, 1], alt=lambda x: f"Twice is {2 * x}.")
        assert ["Twice is 0." in value for value in frames(explorer.children[-1])] == [True, False]

    def test_an_error_names_the_frame_that_could_not_be_drawn(self):
        with pytest.raises(ZeroDivisionError) as caught:
            explore(lambda x: f"{1 / x}", x=[1, 0])
        assert caught.value.__notes__ == ["while drawing the frame x = 0"]


class TestUnusableArguments:
    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({}, ValueError, "at least one axis"),
            ({"missing": [1]}, ValueError, "axis 'missing' has 1 value"),
            ({"missing": "012"}, TypeError, "axis 'missing' is the text '012'"),
            ({"missing": [1, 1.0]}, ValueError, "axis 'missing' shows '1' twice"),
            ({"missing": range(MAXIMUM_FRAMES + 1)}, ValueError, f"{MAXIMUM_FRAMES + 1} missing are"),
            (
                {"missing": [0, 1], "labels": {"mising": "x"}},
                ValueError,
                "names 'mising', which is no axis; axes: missing",
            ),
            (
                {"missing": [0, 1], "start": {"missing": 2}},
                ValueError,
                r"\['missing'\] = 2 is not on its axis; values: 0, 1",
            ),
            ({"mising": [0, 1]}, TypeError, "draw cannot be called with the axes mising"),
        ],
    )
    def test_the_message_names_the_argument_and_what_is_valid(self, options, error, message):
        with pytest.raises(error, match=message):
            explore(words, **options)

    def test_a_figure_without_alternative_text_is_refused(self):
        with pytest.raises(ValueError, match="say what it shows with alt"):
            explore(lambda x: plt.figure(), x=[0, 1])

    @pytest.mark.parametrize("drawn", [None, 3, (), ("<p></p>", [1]), ("<p></p>", None, None)])
    def test_what_is_neither_figure_nor_html_is_refused(self, drawn):
        with pytest.raises(TypeError, match="expected a figure, HTML, or"):
            explore(lambda x: drawn, x=[0, 1])


class TestValues:
    def test_numbers_are_shown_short_and_other_values_by_the_labels_of_a_mapping(self):
        explorer = explore(
            lambda x, y, z: f"{x}{y}{z}", x=np.linspace(0, 1, 3), y={"none": None, "all": [1]}, z=[False, True]
        )
        assert [[label for label, _ in slider.options] for slider in sliders(explorer)] == [
            ["0", "0.5", "1"],
            ["none", "all"],
            ["False", "True"],
        ]

    def test_a_slider_is_named_by_its_axis_unless_a_label_is_given(self):
        explorer = explore(lambda a_b, c: "x", a_b=[0, 1], c=[0, 1], labels={"c": "third (points)"})
        assert [slider.description for slider in sliders(explorer)] == ["a b", "third (points)"]


class TestFigures:
    def test_numbers_in_labels_are_never_rounded_and_coordinates_are(self):
        figure, axes = plt.subplots()
        axes.plot([0, 1 / 3], [0, 1 / 7])
        axes.set_title("0.123456")
        svg = to_svg(figure, alt="A line.")
        assert ">0.123456</text>" in svg
        assert not re.search(r'[ "(]-?\d+\.\d{3,}[^<>]*>', svg)

    def test_black_white_and_the_palette_follow_the_page(self):
        figure, axes = plt.subplots()
        axes.bar([0], [1], color=colour("robust"), edgecolor="white")
        svg = to_svg(figure, alt="A bar.")
        assert f"fill: var(--toolrl-green, {PALETTE['green']})" in svg
        assert "stroke: var(--pst-color-background" in svg
        assert "#000000" not in svg

    def test_a_quote_in_the_words_cannot_end_the_attribute(self):
        assert 'aria-label="&lt;b&gt; &quot;x&quot;"' in to_svg(plt.figure(), alt='<b> "x"')

    def test_the_same_figure_gives_the_same_text(self):
        def draw():
            figure, axes = plt.subplots()
            axes.plot([0, 1], marker="o")
            return to_svg(figure, alt="A line.")

        assert draw() == draw()

    def test_two_figures_share_no_ids(self):
        def ids(alt):
            figure, axes = plt.subplots()
            axes.plot([0, 1], marker="o")
            return set(re.findall(r'id="([^"]+)"', to_svg(figure, alt=alt)))

        assert ids("One.")
        assert not ids("One.") & ids("Two.")

    def test_a_figure_needs_words(self):
        with pytest.raises(ValueError, match="alt is empty"):
            show(plt.figure(), alt=" ")

    def test_a_shown_figure_carries_anchor_caption_and_folded_values(self):
        picture = show("<svg></svg>", alt="A bar.", name="credit", caption="a < b", table=pd.DataFrame({"x": [1]}))
        assert picture._repr_html_() == (
            '<figure class="toolrl-figure" id="credit"><svg></svg><figcaption>a &lt; b</figcaption>'
            '<details><summary>Values</summary><table class="toolrl-table"><thead><tr>'
            '<th scope="col">x</th></tr></thead>'
            "<tbody><tr><td>1</td></tr></tbody></table></details></figure>"
        )
        assert repr(picture) == "[figure: A bar.]"

    def test_a_table_writes_missing_values_as_a_dash_and_escapes_the_rest(self):
        table = to_table(pd.DataFrame({"a": [float("nan"), None, "<b>"]}, index=["x", "y", "z"]), caption="c")
        assert re.findall(r"<td>(.*?)</td>", table) == ["x", "–", "y", "–", "z", "&lt;b&gt;"]
        assert "<caption>c</caption>" in table

    def test_unknown_names_are_refused_with_the_valid_ones(self):
        with pytest.raises(ValueError, match="unknown colour 'papre'; roles: paper, released"):
            colour("papre")
        with pytest.raises(ValueError, match="unknown role 'blue'; roles: paper, released"):
            line_style("blue")

    def test_the_style_makes_figures_small(self):
        with mpl.rc_context():
            use_style()
            assert tuple(mpl.rcParams["figure.figsize"]) == (5.0, 3.0)


def linear(code):
    """Linear light of a colour code."""
    channel = np.array([int(code[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(channel <= 0.04045, channel / 12.92, ((channel + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """Contrast ratio as WCAG 2 defines it."""
    darker, lighter = sorted(linear(code) @ [0.2126, 0.7152, 0.0722] for code in (one, other))
    return (lighter + 0.05) / (darker + 0.05)


def lab(light):
    """CIELAB coordinates under D65."""
    to_xyz = np.array(
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
    )
    scaled = to_xyz @ np.clip(light, 0, 1) / [0.95047, 1.0, 1.08883]
    root = np.where(scaled > 0.008856, np.cbrt(scaled), 7.787 * scaled + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


# How the two common kinds of colour blindness mix linear light (Machado, Oliveira and Fernandes 2009, severity 1).
SIGHT = {
    "full": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
}
FAMILIES = {
    "presets": ["paper", "released", "robust"],
    "tiers": ["original", "finegrained", "intermediate", "coarse"],
    "scales": ["original", "equal_max", "two_stage", "dynamic"],
    "switch": ["early", "late", "two_stage"],
    "length rewards": ["none", "fixed", "growing"],
    "policies": [
        "naive", "low_probability", "high_ratio", "stop_generation", "void_veto", "mask", "filter", "drop_group",
    ],
}  # fmt: skip


def dark_palette():
    """Read the colours of the dark theme from the style sheet."""
    return dict(re.findall(r"--toolrl-(\w+): (#[0-9a-f]{6})", STYLE_SHEET.read_text()))


class TestColours:
    def test_the_dark_theme_has_every_hue(self):
        assert set(dark_palette()) == set(PALETTE)

    @pytest.mark.parametrize(("palette", "ground"), [(dict(PALETTE), "#ffffff"), (dark_palette(), "#121212")])
    def test_every_hue_stands_out_from_its_ground(self, palette, ground):
        assert {
            name: round(contrast(code, ground), 1) for name, code in palette.items() if contrast(code, ground) < 3
        } == {}

    @pytest.mark.parametrize("palette", [dict(PALETTE), dark_palette()], ids=["light", "dark"])
    @pytest.mark.parametrize("sight", SIGHT)
    @pytest.mark.parametrize("family", FAMILIES)
    def test_the_colours_of_one_family_stay_apart_for_colour_blind_readers(self, family, sight, palette):
        seen = {name: lab(SIGHT[sight] @ linear(palette[ROLES[name].hue])) for name in FAMILIES[family]}
        near = [(a, b) for a, b in itertools.combinations(seen, 2) if np.linalg.norm(seen[a] - seen[b]) < 15]
        assert near == []

    @pytest.mark.parametrize("family", FAMILIES)
    def test_no_two_ideas_of_one_family_differ_by_colour_alone(self, family):
        assert len({ROLES[name].marker for name in FAMILIES[family]}) == len(FAMILIES[family])

    def test_every_role_belongs_to_a_family(self):
        assert {name for names in FAMILIES.values() for name in names} == set(ROLES)
