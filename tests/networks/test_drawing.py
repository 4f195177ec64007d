"""A picture of a network can be read: nothing overlaps, arcs go down and around boxes, texts fit."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from benchmarks.public_data import public_data
from hypothesis import given, settings
from hypothesis import strategies as st

from ingenuo.errors import InputError
from ingenuo.networks.drawing import (
    BAR,
    BAR_HEIGHT,
    HEAD,
    MARGIN,
    MOST_STATES,
    Layout,
    Route,
    box_size,
    choose_layers,
    crossings,
    layout,
    picture,
    points_on,
    reduce_crossings,
    shortest_layers,
    with_stops,
)
from ingenuo.show.svg import percentage, shorten, text_width

SVG = "{http://www.w3.org/2000/svg}"
Graph = list[tuple[int, ...]]


@st.composite
def graphs(draw: st.DrawFn, most: int = 12) -> Graph:
    """Any graph without cycles: a node's parents come before it in an order that is then shuffled."""
    n = draw(st.integers(0, most))
    order = draw(st.permutations(range(n)))
    parents: Graph = [()] * n
    for k, node in enumerate(order):
        above = draw(st.lists(st.sampled_from(order[:k]), unique=True, max_size=4)) if k else []
        parents[node] = tuple(above)
    return parents


def random_graph(n: int, seed: int, mean_parents: float = 1.6) -> Graph:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(mean_parents, n)
    return [tuple(int(p) for p in rng.choice(k, min(k, c), replace=False)) if k else () for k, c in enumerate(counts)]


def sizes_of(parents: Graph) -> list[tuple[float, float]]:
    return [(60.0 + 17 * (v % 5), 28.0 + 15 * (v % 4)) for v in range(len(parents))]


def boxes_of(found: Layout, sizes: list[tuple[float, float]]) -> np.ndarray:
    corners = [(x - w / 2, y - h / 2, x + w / 2, y + h / 2) for (x, y), (w, h) in zip(found.centres, sizes)]
    return np.array(corners).reshape(-1, 4)


def curves_of(route: Route) -> list[Route]:
    assert len(route) % 3 == 1
    return [route[k : k + 4] for k in range(0, len(route) - 1, 3)]


def check(parents: Graph, found: Layout, sizes: list[tuple[float, float]]) -> None:
    """All that every layout must keep to."""
    boxes = boxes_of(found, sizes)
    if len(boxes):
        assert boxes[:, :2].min() >= -1e-6
        assert boxes[:, 2].max() <= found.width + 1e-6
        assert boxes[:, 3].max() <= found.height + 1e-6
    for a, b in combinations(boxes, 2):
        assert a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1], "two boxes overlap"
    assert set(found.routes) == {(p, c) for c, above in enumerate(parents) for p in above}
    for (parent, child), route in found.routes.items():
        assert found.layers[parent] < found.layers[child]
        assert route[0][1] == pytest.approx(boxes[parent, 3])
        assert route[-1][1] == pytest.approx(boxes[child, 1] - HEAD)
        assert boxes[parent, 0] < route[0][0] < boxes[parent, 2]
        assert boxes[child, 0] < route[-1][0] < boxes[child, 2]
        points = np.concatenate([points_on(curve, 60) for curve in curves_of(route)])
        assert (np.diff(points[:, 1]) >= -1e-6).all(), "an arc goes up"
        for v, (left, top, right, bottom) in enumerate(boxes):
            across = (points[:, 0] > left + 1e-6) & (points[:, 0] < right - 1e-6)
            inside = across & (points[:, 1] > top + 1e-6) & (points[:, 1] < bottom - 1e-6)
            assert not inside.any(), f"the arc {parent} → {child} runs through the box of {v}"


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_boxes_do_not_overlap_and_arcs_go_down_around_them(parents: Graph) -> None:
    sizes = sizes_of(parents)
    check(parents, layout(parents, sizes), sizes)


@pytest.mark.parametrize(
    "parents",
    [
        [],
        [()],
        [()] * 7,
        random_graph(60, seed=1),
        random_graph(60, seed=2, mean_parents=0.8),
        random_graph(40, seed=3, mean_parents=3.0),
        [(), *[(0,)] * 59],
        [(), (0,), *[(0, k) for k in range(1, 40)]],
        [tuple(range(k)) for k in range(9)],
    ],
    ids=["empty", "one", "no arcs", "sixty", "sparse", "dense", "naive", "chain under a class", "complete"],
)
def test_large_and_strange_graphs_keep_the_same_rules(parents: Graph) -> None:
    sizes = sizes_of(parents)
    found = layout(parents, sizes)
    check(parents, found, sizes)
    assert layout(parents, sizes) == found


def structure(name: str) -> tuple[list[str], Graph]:
    """The names and parents in a public BIF file; the rest of the file is of no matter here."""
    path = public_data(f"networks/{name}.bif.gz")
    if path is None:
        pytest.skip(f"the public network {name} is not here; set INGENUO_DATA to the folder that has it")
    found = re.findall(r"probability \( *(\w+) *(?:\|([^)]*))?\)", gzip.decompress(path.read_bytes()).decode())
    place = {node: k for k, (node, _) in enumerate(found)}
    return list(place), [tuple(place[p.strip()] for p in above.split(",") if p.strip()) for _, above in found]


@pytest.mark.parametrize("name", ["asia", "child", "insurance", "alarm", "hailfinder", "win95pts"])
def test_well_known_networks_come_out_in_sensible_proportions(name: str) -> None:
    nodes, parents = structure(name)
    sizes = [box_size(node, ["low", "normal", "high"], with_bars=True) for node in nodes]
    found = layout(parents, sizes)
    check(parents, found, sizes)
    assert 0.4 < found.width / found.height < 2.5


@pytest.mark.parametrize(("name", "most"), [("asia", 0), ("alarm", 10), ("insurance", 45)])
def test_few_arcs_cross_in_well_known_networks(name: str, most: int) -> None:
    _, parents = structure(name)
    graph = with_stops(parents, shortest_layers(parents))
    assert crossings(reduce_crossings(graph)[0]) <= most


@settings(max_examples=40, deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_found_never_has_more_crossings_than_the_one_given(parents: Graph, chance) -> None:
    if not parents:
        return
    graph = with_stops(parents, shortest_layers(parents))
    graph = replace(graph, rows=[chance.sample(row, len(row)) for row in graph.rows])
    before = [list(row) for row in graph.rows]
    orders = reduce_crossings(graph)
    assert graph.rows == before
    assert len({crossings(order) for order in orders}) == 1
    assert crossings(orders[0]) <= crossings(graph)
    for order in orders:
        assert [sorted(row) for row in order.rows] == [sorted(row) for row in before]


@settings(max_examples=40, deadline=None)
@given(graphs(8))
def test_crossings_are_counted_as_by_looking_at_each_pair_of_edges(parents: Graph) -> None:
    if not parents:
        return
    graph = with_stops(parents, shortest_layers(parents))
    place = {v: k for row in graph.rows for k, v in enumerate(row)}
    total = 0
    for row in graph.rows:
        edges = [(place[u], place[w]) for u in row for w in graph.below[u]]
        total += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(edges, 2))
    assert crossings(graph) == total


@given(st.integers(1, 30), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_a_tree_is_drawn_without_crossings(n: int, chance) -> None:
    parents: Graph = [(), *[(chance.randrange(k),) for k in range(1, n)]]
    graph = with_stops(parents, choose_layers(parents, sizes_of(parents)))
    assert crossings(reduce_crossings(graph)[0]) == 0


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_no_layers_have_shorter_arcs_than_those_found(parents: Graph) -> None:
    def length(layers: list[int]) -> int:
        return sum(layers[c] - layers[p] for c, above in enumerate(parents) for p in above)

    found = shortest_layers(parents)
    deepest = [0] * len(parents)  # the layers of the longest paths
    for _ in parents:
        deepest = [max((deepest[p] + 1 for p in above), default=0) for above in parents]
    assert length(found) <= length(deepest)
    assert all(found[p] < found[c] for c, above in enumerate(parents) for p in above)
    for v in range(len(parents)):  # nor does moving one node make them shorter
        for step in (-1, 1):
            moved = [layer + step * (k == v) for k, layer in enumerate(found)]
            if all(moved[p] < moved[c] for c, above in enumerate(parents) for p in above):
                assert length(moved) >= length(found)


def test_a_class_above_many_columns_breaks_their_row() -> None:
    parents: Graph = [(), *[(0,)] * 30]
    found = layout(parents, [(110.0, 59.0)] * 31)
    assert max(found.layers) > 2
    assert found.width < 2.5 * found.height


def weather(**changes) -> str:
    given_: dict = {
        "nodes": ["play", "outlook", "wind"],
        "states": [["yes", "no"], ["sunny", "overcast", "rain"], ["true", "false"]],
        "parents": [(), (0,), (0, 1)],
        "beliefs": [np.array(p) for p in ([0.625, 0.375], [0.4, 0.25, 0.35], [0.0, 1.0])],
        "title": "weather",
    }
    return picture(**{**given_, **changes})


def groups(text: str, kind: str) -> list[ElementTree.Element]:
    return [group for group in ElementTree.fromstring(text).iter(f"{SVG}g") if group.get("class") == kind]


def texts(group: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in group.iter(f"{SVG}text")]


def tooltip(group: ElementTree.Element) -> str:
    title = group.find(f"{SVG}title")
    return "" if title is None else title.text or ""


names = st.text(st.characters(codec="utf-8"), max_size=40)


@settings(max_examples=50, deadline=None)
@given(st.lists(names, min_size=3, max_size=3), st.lists(names, min_size=1, max_size=12), names)
def test_any_name_gives_well_formed_svg_whose_texts_fit_their_boxes(
    nodes: list[str], states: list[str], title: str
) -> None:
    n = len(states)
    text = picture(
        nodes,
        [states] * 3,
        [(), (0,), (0, 1)],
        beliefs=[np.full(n, 1 / n), np.full(n, 1 / n), np.eye(n)[0]],
        strengths={(0, 1): 0.5, (1, 2): 0.1},
        marks={2: "observed", 1: "set"},
        target=0,
        title=title,
    )
    assert_fits(text)


def span(words: ElementTree.Element) -> tuple[float, float]:
    width = text_width(words.text or "", float(words.attrib["font-size"]), words.get("font-weight") == "bold")
    start = (
        float(words.attrib["x"]) - {"start": 0.0, "middle": 0.5, "end": 1.0}[words.get("text-anchor", "start")] * width
    )
    return start, start + width


def assert_fits(text: str) -> None:
    """Texts lie within their boxes, those of a line beside each other, and all within the picture."""
    for group in groups(text, "node"):
        rectangles = [
            {k: float(v) for k, v in each.attrib.items() if k in ("x", "y", "width", "height")}
            for each in group.iter(f"{SVG}rect")
        ]
        box = rectangles[0]
        bars = [each for each in rectangles if each["height"] == BAR_HEIGHT]
        for number, words in enumerate(each for each in group.iter(f"{SVG}text") if each.text != "do"):
            (start, end), y = span(words), float(words.attrib["y"])
            assert box["x"] < start + 0.02
            assert end < box["x"] + box["width"] + 0.02
            assert box["y"] < y - 0.7 * float(words.attrib["font-size"])
            assert y < box["y"] + box["height"]
            for bar in bars if number else ():
                if bar["y"] < y < bar["y"] + bar["height"] + 3:
                    assert end <= bar["x"] + 0.02 or start >= bar["x"] + bar["width"] - 0.02
    root = ElementTree.fromstring(text)
    for each in (*groups(text, "legend"), *groups(text, "title")):
        left = MARGIN if each.get("class") == "legend" else 0.0
        assert all(
            left + span(words)[1] <= float(root.attrib["width"]) - MARGIN + 0.1
            for words in each.iter(f"{SVG}text")
            if words.text != "do"
        )


def test_no_usual_letter_is_wider_than_the_table_says() -> None:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    def real(text: str, weight: str) -> float:
        font = FontProperties(family="DejaVu Sans", weight=weight, size=100)
        return text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]

    for letter in map(chr, [*range(33, 127), *range(0xC0, 0x17F)]):
        assert real(letter * 10, "normal") <= 1.04 * text_width(letter * 10, 100), letter
    for name in [
        "MINVOLSET",
        "catecholamine",
        "GoodStudent",
        "SNode_151",
        "HYPOVOLEMIA",
        "will it rain?",
        "Ärger & Öl",
    ]:
        assert real(name, "bold") <= 1.01 * text_width(name, 100, bold=True)


def test_a_long_name_is_cut_and_whole_in_the_tooltip() -> None:
    name = "the time that has passed since the last of all examinations"
    group = groups(weather(nodes=[name, "outlook", "wind"]), "node")[0]
    shown = texts(group)[0]
    assert shown.endswith("…")
    assert name.startswith(shown[:-1])
    assert tooltip(group) == f"{name}\nyes: 0.625\nno: 0.375"
    assert shorten("short", 100, 10) == "short"
    assert shorten("anything", 0, 10) == "…"


def test_of_many_states_the_most_probable_are_shown_and_the_rest_is_counted() -> None:
    p = np.arange(1, 21) / 210
    (group,) = groups(picture(["x"], [list(range(20))], [()], beliefs=[p]), "node")
    shown = texts(group)
    assert shown[1::2] == ["13", "14", "15", "16", "17", "18", "19", "… 13 more"]
    assert shown[-1] == percentage(float(p[:13].sum()))
    assert len(shown) == 1 + 2 * MOST_STATES
    assert "19: 0.0952380952381" in tooltip(group)


def test_bars_are_as_long_as_the_beliefs() -> None:
    group = groups(weather(), "node")[1]
    bars = [float(each.attrib["width"]) for each in group.iter(f"{SVG}rect") if each.get("height") == f"{BAR_HEIGHT:g}"]
    assert bars[::2] == [BAR] * 3
    assert [bar / BAR for bar in bars[1::2]] == pytest.approx([0.4, 0.25, 0.35], abs=1e-3)


def test_only_certainty_is_shown_as_certainty() -> None:
    assert [percentage(p) for p in (0.0, 1e-300, 0.0005, 0.5, 0.9994, 1 - 1e-12, 1.0)] == [
        *("0%", "<0.1%", "0.1%", "50.0%", "99.9%", ">99.9%", "100%")
    ]


def test_the_network_keeps_its_shape_when_evidence_is_entered() -> None:
    beliefs = [np.array(p) for p in ([1.0, 0.0], [0.2, 0.8, 0.0], [0.1, 0.9])]
    before, after = (
        [each.attrib["d"] for arc in groups(text, "arc") for each in arc.iter(f"{SVG}path")]
        for text in (weather(), weather(beliefs=beliefs, marks={0: "observed"}, strengths={(0, 1): 0.2}))
    )
    assert before == after


def test_stronger_arcs_are_thicker_and_a_legend_says_how_strong() -> None:
    text = weather(strengths={(0, 1): 0.3, (0, 2): 0.1})
    widths = {}
    for group in groups(text, "arc"):
        path = group.find(f"{SVG}path")
        assert path is not None
        widths[tooltip(group).split("\n")[0]] = float(path.attrib["stroke-width"])
    assert widths["play → outlook"] > widths["play → wind"] > widths["outlook → wind"]
    (legend,) = groups(text, "legend")
    assert texts(legend) == ["mutual information given the other parents:", "0.3 bits", "0.15 bits", "0"]
    assert not groups(weather(), "legend")


def test_observed_set_and_class_nodes_are_marked_and_explained() -> None:
    plain, marked = weather(), weather(marks={1: "observed", 2: "set"}, target=0)
    assert [tooltip(group).split("\n")[0] for group in groups(marked, "node")] == [
        *("play (class)", "outlook (observed)", "wind (set)")
    ]

    def edge(text: str, node: int) -> str | None:
        box = groups(text, "node")[node].find(f"{SVG}rect")
        return None if box is None else box.get("stroke")

    assert edge(marked, 0) not in (edge(plain, 0), edge(marked, 1))
    assert edge(marked, 1) == edge(marked, 2) != edge(plain, 1)
    assert texts(groups(marked, "legend")[0]) == ["class", "observed", "do", "set (do)"]


def test_without_beliefs_boxes_are_small_and_hold_names_only() -> None:
    small = weather(beliefs=None)
    assert float(ElementTree.fromstring(small).attrib["height"]) < float(
        ElementTree.fromstring(weather()).attrib["height"]
    )
    assert all(len(texts(group)) == 1 for group in groups(small, "node"))
    assert_fits(small)


def test_svg_is_the_same_each_time_and_needs_nothing_from_elsewhere() -> None:
    text = weather(marks={1: "observed"}, strengths={(0, 1): 0.3})
    assert text == weather(marks={1: "observed"}, strengths={(0, 1): 0.3})
    assert "viewBox" in text
    for refused in ("<script", "href", "url(", " id=", "<style"):
        assert refused not in text
    assert text.count("http") == 1  # the name of the format itself


def test_names_that_look_like_markup_are_text() -> None:
    text = weather(nodes=['<b>"a" & b</b>', "</svg>", "x\x00\ny"], title="<script>alert('x')</script>")
    root = ElementTree.fromstring(text)
    assert {element.tag.split("}")[1] for element in root.iter()} <= {
        *("svg", "g", "title", "rect", "text", "path", "polygon", "circle")
    }
    assert "x? y" in "".join(root.itertext())


def table_rows(group: ElementTree.Element) -> list[list[str]]:
    """The texts of a box by their lines, from left to right."""
    lines: dict[float, list[ElementTree.Element]] = {}
    for each in group.iter(f"{SVG}text"):
        lines.setdefault(float(each.attrib["y"]), []).append(each)
    ordered = (sorted(lines[y], key=lambda each: span(each)[0]) for y in sorted(lines))
    return [[each.text or "" for each in line] for line in ordered]


TABLES = [
    np.array([0.625, 0.375]),
    np.array([[0.2, 0.5, 0.3], [0.6, 0.0, 0.4]]),
    np.linspace(0.05, 0.6, 12).reshape(2, 3, 2) * [[[1, 0]]]
    + [[[0, 1]]] * (1 - np.linspace(0.05, 0.6, 12)[::2].reshape(2, 3, 1)),
]


def test_tables_stand_in_the_boxes_with_the_parents_states_at_the_left() -> None:
    text = weather(tables=TABLES, beliefs=None)
    play, outlook, wind = (table_rows(group) for group in groups(text, "node"))
    assert play == [["play"], ["yes", "no"], ["0.625", "0.375"]]
    assert outlook == [["outlook"], ["play", "sunny", "overcast", "rain"], ["yes", "0.200", "0.500", "0.300"],
                       ["no", "0.600", "0.000", "0.400"]]  # fmt: skip
    assert wind[1] == ["play", "outlook", "true", "false"]
    assert wind[2] == ["yes", "sunny", "0.050", "0.950"]
    assert len(wind) == 2 + 6
    assert_fits(text)


def test_with_evidence_tables_and_bars_show_what_was_believed_before() -> None:
    after = [np.array(p) for p in ([1.0, 0.0], [0.2, 0.5, 0.3], [0.1, 0.9])]
    before = [np.array(p) for p in ([0.625, 0.375], [0.35, 0.3125, 0.3375], [0.3, 0.7])]
    text = weather(tables=TABLES, beliefs=after, before=before, marks={0: "observed"})
    assert table_rows(groups(text, "node")[0])[2:] == [
        ["before", "0.625", "0.375"],
        ["given the evidence", "1.000", "0.000"],
    ]
    assert table_rows(groups(text, "node")[1])[-2:] == [
        ["before", "0.350", "0.312", "0.338"],
        ["given the evidence", "0.200", "0.500", "0.300"],
    ]
    assert_fits(text)
    bars = weather(beliefs=after, before=before, marks={0: "observed"})
    group = groups(bars, "node")[2]
    strokes = [each for each in group.iter(f"{SVG}rect") if each.get("fill") == "#1f2933"]
    left = min(float(each.attrib["x"]) for each in group.iter(f"{SVG}rect") if each.get("height") == f"{BAR_HEIGHT:g}")
    middles = [float(each.attrib["x"]) + float(each.attrib["width"]) / 2 for each in strokes]
    assert [(middle - left) / BAR for middle in middles] == pytest.approx([0.3, 0.7], abs=0.01)
    assert "true: 0.1 (before: 0.3)" in tooltip(group)
    assert "before the evidence" in texts(groups(bars, "legend")[0])
    assert_fits(bars)


def test_of_a_large_table_the_first_rows_and_states_are_shown() -> None:
    many = [str(k) for k in range(40)]
    text = picture(["a", "b"], [many, many], [(), (0,)], tables=[np.full(40, 1 / 40), np.full((40, 40), 1 / 40)])
    rows = table_rows(groups(text, "node")[1])
    assert rows[1] == ["a", *many[:8], "… 32 more"]
    assert rows[-1] == ["… 22 more rows"]
    assert len(rows) == 2 + 18 + 1
    assert_fits(text)


@settings(max_examples=30, deadline=None)
@given(st.lists(names, min_size=3, max_size=3), st.lists(names, min_size=1, max_size=12))
def test_tables_of_any_names_fit_their_boxes(nodes: list[str], states: list[str]) -> None:
    n = len(states)
    tables = [np.full((n,) * k, 1 / n) for k in (1, 2, 3)]
    given_ = [np.full(n, 1 / n)] * 3
    assert_fits(
        picture(nodes, [states] * 3, [(), (0,), (0, 1)], tables=tables, beliefs=given_, before=given_, target=0)
    )


@pytest.mark.parametrize("ending", [".png", ".pdf", ".svg", ".html"])
def test_a_picture_is_written_as_its_ending_says(ending: str, tmp_path: Path) -> None:
    weather(tables=TABLES, marks={1: "observed", 2: "set"}, strengths={(0, 1): 0.3}).write(tmp_path / f"x{ending}")
    data = (tmp_path / f"x{ending}").read_bytes()
    begins = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<svg", ".html": b"<!do"}[ending]
    assert data[:4].lower() == begins.lower()
    with pytest.raises(InputError, match=r"ends with \.svg, \.html, \.png, \.pdf"):
        weather().write(tmp_path / "x.gif")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        weather().write(tmp_path / "nowhere" / f"x{ending}")


def test_a_painted_picture_has_the_same_boxes_and_texts_as_the_svg() -> None:
    from ingenuo.show.plots import paint

    text = weather(tables=TABLES, marks={1: "observed"}, strengths={(0, 1): 0.3}, target=0)
    (ax,) = paint(text).axes
    root = ElementTree.fromstring(text)
    assert [each.get_text() for each in ax.texts] == [each.text for each in root.iter(f"{SVG}text")]
    shapes = [each for each in root.iter() if each.tag.removeprefix(SVG) in ("rect", "circle", "polygon", "path")]
    assert len(ax.patches) == len(shapes)
    moved = groups(text, "network")[0].attrib["transform"]
    x, y = map(float, re.findall(r"[\d.]+", moved))
    box = groups(text, "node")[0].find(f"{SVG}rect")
    assert box is not None
    corners = [(patch.get_x(), patch.get_y()) for patch in ax.patches if hasattr(patch, "get_x")]
    assert (pytest.approx(x + float(box.attrib["x"])), pytest.approx(y + float(box.attrib["y"]))) in corners
