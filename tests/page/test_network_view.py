"""The view of a network: what a question says of each node; in Chromium evidence, interventions, soft evidence."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ingenuo import Network, NetworkClassifier
from ingenuo.datasets import diabetes
from ingenuo.page import page
from ingenuo.sheet.packing import plain

PAGE = Path(__file__).parents[2] / "src" / "ingenuo" / "page"

YES_NO = ["yes", "no"]


def garden() -> Network:
    """Rain wets the grass, and so does the sprinkler, which is seldom on in the rain."""
    return Network.from_arcs(
        [("rain", "sprinkler"), ("rain", "grass"), ("sprinkler", "grass")],
        states={"rain": YES_NO, "sprinkler": ["on", "off"], "grass": ["wet", "dry"]},
        tables={
            "rain": [0.2, 0.8],
            "sprinkler": {"yes": [0.01, 0.99], "no": [0.4, 0.6]},
            "grass": {
                ("yes", "on"): [0.99, 0.01],
                ("yes", "off"): [0.8, 0.2],
                ("no", "on"): [0.9, 0.1],
                ("no", "off"): [0.0, 1.0],
            },
        },
        name="garden",
    )


def crowd() -> Network:
    """A node with seven parents of six states: too many cells for a page."""
    states, rng = [f"s{k}" for k in range(6)], np.random.default_rng(0)
    parents = [f"parent {k}" for k in range(7)]
    child = np.where(rng.random((6,) * 7 + (1,)) < 0.5, [0.1, 0.9], [0.6, 0.4])
    tables = {name: [0.05, 0.1, 0.15, 0.2, 0.25, 0.25] for name in parents} | {"child": child}
    known = dict.fromkeys(parents, states) | {"child": YES_NO}
    return Network.from_arcs([(name, "child") for name in parents], states=known, tables=tables)


def in_node(script: str, given: Any) -> Any:
    """What a script makes of `given`, with what the view exports."""
    if shutil.which("node") is None:
        pytest.skip("there is no node on this machine, so no JavaScript can be run")
    names = "number_within, question_columns, read_question, soft_for"
    head = f'import {{ {names} }} from "{(PAGE / "views" / "network.mjs").as_uri()}";\n'
    head += f'import {{ unpack }} from "{(PAGE / "sheet.mjs").as_uri()}";\nimport {{ readFileSync }} from "node:fs";\n'
    head += 'const given = unpack(JSON.parse(readFileSync(0, "utf8")));\n'
    call = ["node", "--input-type=module", "-e", f"{head}console.log(JSON.stringify({script}));"]
    done = subprocess.run(call, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_a_question_says_what_is_seen_set_and_likely() -> None:
    rows = [
        {},
        {"grass": "wet", "sprinkler": "no such state"},
        {"given:rain": "no", "do:sprinkler": "on", "soft:grass": "1 0.25"},
        {"do:sprinkler": "no such state", "soft:grass": "1"},
        {"soft:grass": "0 0", "soft:sprinkler": "1 -1", "soft:rain": "__proto__"},
    ]
    given = {"network": plain(garden().sheet_network()), "rows": rows}
    found = in_node("given.rows.map((row) => read_question(given.network, row))", given)
    nothing = {"evidence": [-1, -1, -1], "interventions": [], "soft": [], "strange": []}
    place = garden().nodes.index
    assert found[0] == nothing
    evidence = [-1, -1, -1]
    evidence[place("grass")] = 0
    assert found[1] == nothing | {"evidence": evidence, "strange": [place("sprinkler")]}
    evidence = [-1, -1, -1]
    evidence[place("rain")] = 1
    assert found[2] == nothing | {
        "evidence": evidence, "interventions": [[place("sprinkler"), 0]], "soft": [[place("grass"), [1, 0.25]]]
    }  # fmt: skip
    assert found[3:] == [nothing, nothing]


def test_the_address_can_have_what_is_set() -> None:
    found = in_node("question_columns(given)", {"network": plain(garden().sheet_network())})
    assert {"name": "given:rain", "kind": "category", "values": YES_NO} in found
    assert {"name": "do:grass", "kind": "category", "values": ["wet", "dry"]} in found
    assert not any(column["name"] == "given:grass" for column in found)


def test_the_number_of_an_interval_lies_within_it() -> None:
    cases = [[0.5], [23.65, 27.1], [-1e-9, 1e-9, 5.0], [1e15, 1e15 + 2], [10.0, 11.0], []]
    columns = [{}, {"low": 18.0, "high": 42.0}, {"low": -3, "high": 7}, {}, {"low": 8, "high": 13, "whole": True}, {}]
    every = "Array.from({length: points.length + 1}, (_, k) => number_within(points, k, column))"
    found = in_node(f"given.map(([points, column]) => {every})", list(zip(cases, columns)))
    for points, values in zip(cases, found):
        for k, value in enumerate(values):
            assert sum(point < value for point in points) == k, (points, k, value)
    assert found[1] == [20.0, 25.0, 35.0]
    assert found[4] == [9, 11, 12]


def test_soft_evidence_brings_a_state_to_its_share() -> None:
    given = [[[0.2, 0.3, 0.5], [1, 1, 1], 1, 0.6], [[0.2, 0.8], [1, 0.5], 0, 0.9], [[0.0, 1.0], [1, 1], 0, 0.5]]
    first, second, third = in_node("given.map((each) => soft_for(...each))", given)
    for (beliefs, _, state, share), weights in zip(given, (first, second)):
        joint = [p * weight for p, weight in zip(beliefs, weights)]
        assert joint[state] / sum(joint) == pytest.approx(share, abs=1e-3)
        assert max(weights) == 1
    assert third is None


# In a browser.


@pytest.fixture
def shown(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """A function that opens a page of a model; what runs against its rules fails the test."""
    pages: list[Any] = []
    faults: list[str] = []

    def show(model: Any, width: int = 1280, **more: Any) -> Any:
        file = tmp_path / f"{len(pages)}.html"
        file.write_text(page(model, **more), encoding="utf-8")
        tab = browser.new_page(viewport={"width": width, "height": 900}, reduced_motion="reduce")
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        tab.goto(file.as_uri())
        tab.locator("html[data-ready]").wait_for(state="attached")
        tab.locator("#network").scroll_into_view_if_needed()
        tab.locator(".net-state").first.wait_for()
        pages.append(tab)
        return tab

    yield show
    for tab in pages:
        tab.close()
    assert faults == []


def state(tab: Any, node: str, name: str) -> Any:
    box = tab.get_by_role("group", name=re.compile(f"^{node}(,|$)"))
    return box.get_by_role("button", name=re.compile(f"^{re.escape(name)}:"))


def settle(tab: Any) -> None:
    """Wait until the page has drawn what was asked."""
    tab.evaluate("() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => setTimeout(done, 40)), 40))")


def cuts(tab: Any) -> int:
    settle(tab)
    return int(tab.locator(".net-cut").count())


def pressed(tab: Any, node: str, name: str) -> bool:
    settle(tab)
    return bool(state(tab, node, name).get_attribute("aria-pressed") == "true")


def share(tab: Any, node: str, name: str) -> str:
    settle(tab)
    return str(state(tab, node, name).locator(".net-figure").inner_text())


def probability(tab: Any) -> str:
    settle(tab)
    return str(tab.locator(".net-probability output").inner_text())


def percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def test_a_click_is_evidence_and_another_takes_it_back(shown: Any) -> None:
    network = garden()
    tab = shown(network)
    assert share(tab, "rain", "yes") == "20.0%"
    state(tab, "grass", "wet").click()
    assert share(tab, "rain", "yes") == percent(network.posterior("rain", {"grass": "wet"})["yes"])
    assert share(tab, "sprinkler", "on") == percent(network.posterior("sprinkler", {"grass": "wet"})["on"])
    assert float(probability(tab)) == pytest.approx(network.probability({"grass": "wet"}), abs=1e-4)
    assert pressed(tab, "grass", "wet")
    state(tab, "grass", "wet").click()
    assert (share(tab, "rain", "yes"), probability(tab)) == ("20.0%", "1")


def test_the_class_can_be_given_too(shown: Any) -> None:
    network = garden()
    tab = shown(network)
    state(tab, "rain", "yes").click()
    assert share(tab, "grass", "wet") == percent(network.posterior("grass", {"rain": "yes"})["wet"])


def test_to_set_a_node_cuts_it_off_from_its_causes(shown: Any) -> None:
    network = garden()
    tab = shown(network)
    state(tab, "sprinkler", "on").click(modifiers=["Shift"])
    assert share(tab, "rain", "yes") == "20.0%"
    assert share(tab, "grass", "wet") == percent(network.intervene(sprinkler="on").posterior("grass")["wet"])
    assert cuts(tab) == 1
    tab.get_by_role("button", name="Reset").last.click()
    assert cuts(tab) == 0
    tab.get_by_role("button", name="Intervene").click()
    state(tab, "sprinkler", "on").click()
    assert cuts(tab) == 1
    tab.get_by_role("button", name="do(sprinkler = on)").click()
    assert cuts(tab) == 0


def test_to_drag_a_bar_is_soft_evidence(shown: Any) -> None:
    network = garden()
    tab = shown(network)
    track = state(tab, "grass", "wet").locator(".net-track").bounding_box()
    tab.mouse.move(track["x"] + 5, track["y"] + 5)
    tab.mouse.down()
    for part in (0.4, 0.6, 0.75):
        tab.mouse.move(track["x"] + part * track["width"], track["y"] + 5)
    tab.mouse.up()
    assert float(share(tab, "grass", "wet").rstrip("%")) == pytest.approx(75, abs=1)
    base = network.posterior("grass")["wet"]
    odds = 3 * (1 - base) / base
    own = network.posterior("rain", {"grass": {"wet": 1.0, "dry": 1 / odds}})["yes"]
    assert float(share(tab, "rain", "yes").rstrip("%")) == pytest.approx(100 * own, abs=1)
    assert not pressed(tab, "grass", "wet")


def test_the_keyboard_does_it_all(shown: Any) -> None:
    tab = shown(garden())
    box = "document.activeElement.closest('.net-box').getAttribute('aria-label')"
    focused = f"{box} + ' ' + document.activeElement.getAttribute('aria-label')"
    assert tab.locator(".net-state[tabindex='0']").count() == 1
    state(tab, "rain", "yes").focus()
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate(focused).startswith("rain no")
    tab.keyboard.press("ArrowDown")
    assert not tab.evaluate(focused).startswith("rain")
    state(tab, "sprinkler", "on").focus()
    tab.keyboard.press("Enter")
    assert pressed(tab, "sprinkler", "on")
    tab.keyboard.press("d")
    assert cuts(tab) == 1
    tab.keyboard.press("Delete")
    assert cuts(tab) == 0
    before = share(tab, "sprinkler", "on")
    tab.keyboard.press("Shift+ArrowRight")
    settle(tab)
    assert float(share(tab, "sprinkler", "on").rstrip("%")) == pytest.approx(float(before.rstrip("%")) + 5, abs=0.2)


def test_impossible_evidence_is_said(shown: Any) -> None:
    tab = shown(garden())
    for node, name in (("rain", "no"), ("sprinkler", "off"), ("grass", "wet")):
        state(tab, node, name).click()
        settle(tab)
    assert "impossible" in tab.locator("#network [role=alert]").inner_text()
    assert probability(tab) == "0"


def test_the_values_of_a_question_are_evidence_and_a_click_is_a_value(shown: Any) -> None:
    model = NetworkClassifier("tan").fit(diabetes(), "progression")
    tab = shown(model, question={"bmi": 30.0})
    network = model.network_
    own = network.posterior("progression", {"bmi": 30.0})
    assert share(tab, "progression", "fast") == percent(own["fast"])
    state(tab, "bmi", network.states["bmi"][0]).click()
    own = network.posterior("progression", {"bmi": 1.0})
    assert share(tab, "progression", "fast") == percent(own["fast"])


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_is_no_wider_than_the_window(shown: Any, width: int) -> None:
    tab = shown(garden(), width=width)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_a_network_too_wide_for_the_page_is_asked_of_the_server(browser: Any) -> None:
    network = crowd()
    node = network.nodes[0]
    first = "s0"

    def answer(route: Any) -> None:
        if route.request.method == "POST":
            asked = json.loads(route.request.post_data)
            found = network.intervene(asked["do"]) if asked["do"] else network
            given = asked["evidence"]
            beliefs = {name: list(own.values()) for name, own in found.posteriors(given).items()}
            log = found.log_probability(given)
            route.fulfill(json={"beliefs": beliefs, "probability": found.probability(given), "log_probability": log})
        else:
            route.fulfill(body=text, content_type="text/html")

    at_home = {"url": "", "state": {"cannot": {"forget": "no", "partial_fit": "no"}}}
    for server in (None, at_home):
        text = page(network, server=server)
        tab = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        tab.route("http://page.test/**", answer)
        tab.goto("http://page.test/")
        tab.locator("html[data-ready]").wait_for(state="attached")
        tab.locator("#network").scroll_into_view_if_needed()
        button = state(tab, node, first)
        if server is None:
            assert "too wide" in tab.locator("#network .warning").inner_text()
            assert button.is_disabled()
        else:
            tab.locator(".net-state:enabled").first.wait_for(timeout=60_000)
            assert share(tab, node, first) == percent(network.posterior(node)[first])
            button.click()
            tab.locator(".net-seen").wait_for()
            tab.locator(".net-waiting").wait_for(state="detached", timeout=60_000)
            assert float(probability(tab)) == pytest.approx(network.probability({node: first}), rel=1e-3)
        tab.close()


def test_hostile_names_are_text(shown: Any) -> None:
    name, other = "<img src=x onerror=document.title='run'>", "</script><script>document.title='run'</script>"
    network = Network.from_arcs([(name, other)], tables={name: {"<b>": 0.5, "\u202e": 0.5}, other: {
        "<b>": {"x" * 3000: 0.5, " ": 0.5}, "\u202e": {"x" * 3000: 0.1, " ": 0.9}}})  # fmt: skip
    tab = shown(network, title="names")
    assert tab.title() != "run"
    assert tab.locator(".net-name").first.inner_text().startswith("<img")
