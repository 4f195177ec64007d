"""Network files: what is written is read again to the last bit, peers agree, and a damaged file says where."""

from __future__ import annotations

import gzip
import os
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.public_data import public_data
from hypothesis import given, settings
from hypothesis import strategies as st

from ingenuo.errors import CycleError, InputError, KindError, NetworkError, NetworkFileError
from ingenuo.networks import files
from ingenuo.networks.build import Definition
from ingenuo.networks.network import Network

KINDS = ["bif", "xmlbif", "yaml"]
SMALL = ["asia", "cancer", "child", "earthquake", "sachs", "survey"]
LARGE = ["alarm", "andes", "barley", "hailfinder", "hepar2", "insurance", "water", "win95pts"]
PUBLIC = ["aima-alarm.xml", "aima-wet-grass.xml", "dog-problem.xml"] + [f"{name}.bif.gz" for name in SMALL + LARGE]

BIF = """\
network weather {
  property made by hand;
}
variable play {
  type discrete [ 2 ] { no, yes };
}
variable outlook { // a comment
  type discrete [ 3 ] { overcast, rainy, sunny };
  property position = (73, 165);
}
probability ( play ) {
  table 0.37, 0.63;
}
probability ( outlook | play ) {
  (yes) 0.43, 0.33, 0.24; /* in any
  order */
  (no) 8e-2, .38, 0.54;
}
"""
XML = """\
<?xml version="1.0"?>
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
  <!ATTLIST BIF VERSION CDATA #REQUIRED>
]>
<BIF VERSION="0.3">
<NETWORK>
<NAME>weather</NAME>
<PROPERTY>made <b>by</b> hand</PROPERTY>
<VARIABLE TYPE="nature"><NAME>play</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>
<VARIABLE>
  <NAME> outlook </NAME>
  <VALUE>overcast</VALUE><VALUE><![CDATA[rainy]]></VALUE><VALUE>s&#117;nny</VALUE>
</VARIABLE>
<DEFINITION><FOR>play</FOR><TABLE>0.37 0.63</TABLE></DEFINITION>
<DEFINITION>
  <FOR>outlook</FOR>
  <GIVEN>play</GIVEN>
  <TABLE>
    <!-- no --> 8e-2 .38 0.54
    <!-- yes --> 0.43 0.33 0.24
  </TABLE>
</DEFINITION>
</NETWORK>
</BIF>
"""
YAML = """\
network: weather
nodes:
  play: {states: [no, yes], table: [0.37, 0.63]}
  outlook:
    states: [overcast, rainy, sunny]
    parents: [play]
    table:
      no: [8e-2, .38, 0.54]
      yes: {rainy: 0.33, sunny: 0.24, overcast: 0.43}
"""
JSON = """\
{
  "network": "weather",
  "nodes": {
    "play": {"states": ["no", "yes"], "table": [0.37, 0.63]},
    "outlook": {
      "states": ["overcast", "rainy", "sunny"],
      "parents": ["play"],
      "table": [[8e-2, 0.38, 0.54], [0.43, 0.33, 0.24]]
    }
  }
}
"""
TEXTS = {"bif": BIF, "json": JSON, "xmlbif": XML, "yaml": YAML}


def same(one: Definition, two: Definition) -> bool:
    return (
        one.name == two.name
        and list(one.nodes) == list(two.nodes)
        and [list(map(repr, s)) for s in one.states] == [list(map(repr, s)) for s in two.states]
        and list(one.parents) == list(two.parents)
        and all(a.shape == b.shape and bool((a == b).all()) for a, b in zip(one.tables, two.tables, strict=True))
    )


def public(name: str) -> Path:
    path = public_data(f"networks/{name}")
    if path is None:
        pytest.skip(f"the network {name} is not here; set INGENUO_DATA to the folder that has networks/{name}")
    return path


def bif(*blocks: str) -> str:
    return "network n {}\n" + "\n".join(blocks) + "\n"


TWO = "variable a { type discrete [ 2 ] { a0, a1 }; }\nvariable b { type discrete [ 3 ] { b0, b1, b2 }; }"
OF_A = "probability ( a ) { table 0.3, 0.7; }"


# Reading


@pytest.mark.parametrize("kind", TEXTS)
def test_all_kinds_of_file_can_say_the_same(kind: str) -> None:
    network = files.from_text(TEXTS[kind], "yaml" if kind == "json" else kind)
    assert network.name == "weather"
    assert list(network.nodes) == ["play", "outlook"]
    assert [list(states) for states in network.states] == [["no", "yes"], ["overcast", "rainy", "sunny"]]
    assert list(network.parents) == [(), (0,)]
    assert network.tables[0].tolist() == [0.37, 0.63]
    assert network.tables[1].tolist() == [[0.08, 0.38, 0.54], [0.43, 0.33, 0.24]]


@pytest.mark.parametrize("name", PUBLIC)
def test_public_networks_survive_every_kind_of_file_to_the_last_bit(name: str) -> None:
    network = files.read(public(name))
    assert all(np.allclose(table.sum(-1), 1, rtol=0, atol=1e-15) for table in network.tables)
    for kind in KINDS:
        assert same(files.from_text(files.to_text(network, kind), kind), network), kind


@pytest.mark.parametrize("name", PUBLIC)
def test_public_networks_are_what_pyagrum_reads(name: str, tmp_path: Path) -> None:
    pyagrum = pytest.importorskip("pyagrum")
    path = public(name)
    network = files.read(path)
    text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
    text = re.sub(r"<!--.*?-->|<!DOCTYPE.*?\]>", "", text, flags=re.DOTALL)  # which pyAgrum does not read
    odd = {state for states in network.states for state in states if not re.fullmatch(r"\w+", state)}
    words = {state: f"state_{place}" for place, state in enumerate(sorted(odd))}  # nor these
    if words:
        text = re.sub(r"(?<=[{(,] )(\S+?)(?=[,)\s])|(?<=\()([^\s,()]+)", lambda m: words.get(m[0], m[0]), text)
    theirs = tmp_path / ("network.bif" if ".bif" in name else "network.bifxml")
    theirs.write_text(text)
    # pyAgrum keeps the numbers of BIF, and only those, in single precision.
    agrees(network, pyagrum.loadBN(str(theirs)), words, 1e-7 if ".bif" in name else 1e-12)
    ours = tmp_path / "ours.bifxml"
    files.write(network, ours)
    agrees(network, pyagrum.loadBN(str(ours)), {}, 1e-12)


def agrees(network: Definition, theirs: Any, words: dict[str, str], within: float) -> None:
    assert sorted(theirs.names()) == sorted(network.nodes)
    for node, name in enumerate(network.nodes):
        assert list(theirs.variable(name).labels()) == [words.get(state, state) for state in network.states[node]]
        table = theirs.cpt(name)
        axes = list(table.names)[::-1]
        family = [network.nodes[parent] for parent in network.parents[node]] + [name]
        assert sorted(axes) == sorted(family)
        values = table.toarray().transpose([axes.index(member) for member in family])
        values = values / values.sum(-1, keepdims=True)
        assert np.abs(values - network.tables[node]).max() <= within


def test_the_numbers_are_those_in_the_file_in_double_precision() -> None:
    path = public("hailfinder.bif.gz")
    network = files.read(path)
    text = gzip.decompress(path.read_bytes()).decode()
    for block in re.finditer(r"probability \( (\w+)(?: \| (.*?))? \) \{(.*?)\}", text, re.DOTALL):
        node = network.nodes.index(block[1])
        for row in re.finditer(r"(?:table|\((.*?)\)) (.*?);", block[3]):
            states = (row[1] or "").split(", ") if row[1] else []
            key = tuple(network.states[p].index(s) for p, s in zip(network.parents[node], states, strict=True))
            assert network.tables[node][key].tolist() == [float(number) for number in row[2].split(", ")]


def test_a_bif_table_with_parents_has_the_node_itself_changing_slowest(tmp_path: Path) -> None:
    text = bif(
        TWO,
        OF_A,
        "probability ( b | a ) { table 0.1, 0.2, 0.3, 0.35, 0.6, 0.45; }",
    )
    network = files.from_text(text, "bif")
    assert network.tables[1].tolist() == [[0.1, 0.3, 0.6], [0.2, 0.35, 0.45]]
    pyagrum = pytest.importorskip("pyagrum")
    (tmp_path / "n.bif").write_text(text)
    agrees(network, pyagrum.loadBN(str(tmp_path / "n.bif")), {}, 1e-7)


def test_javabayes_leaves_out_commas_and_bars() -> None:
    text = """
    network "Dog-Problem" { //5 variables
       property "credal-set constant-density-bounded 1.1" ;
    }
    variable "dog-out" { type discrete[2] {  "true"  "false" }; property "position = (155, 165)" ; }
    variable  "bowel-problem" { type discrete[2] {  "true"  "false" }; }
    variable  "family-out" { type discrete[2] {  "true"  "false" }; }
    probability (  "dog-out"  "bowel-problem"  "family-out" ) { //3 variable(s) and 8 values
        table 0.99 0.97 0.9 0.3 0.01 0.03 0.1 0.7 ;
    }
    probability (  "bowel-problem" ) { table 0.01 0.99 ; }
    probability (  "family-out" ) { table 0.15 0.85 ; }
    """
    network = files.from_text(text, "bif")
    assert list(network.parents) == [(1, 2), (), ()]
    assert network.tables[0].tolist() == [[[0.99, 0.01], [0.97, 0.03]], [[0.9, 0.1], [0.3, 0.7]]]
    path = public_data("networks/dog-problem.xml")
    if path is not None:
        whole = files.read(path)
        assert np.array_equal(whole.tables[whole.nodes.index("dog-out")], network.tables[0])


def test_a_default_row_stands_for_all_that_are_not_given() -> None:
    text = bif(TWO, OF_A, "probability ( b | a ) { default 0.2, 0.3, 0.5; (a1) 1, 0, 0; }")
    assert files.from_text(text, "bif").tables[1].tolist() == [[0.2, 0.3, 0.5], [1, 0, 0]]
    plain = "nodes: {a: {states: [x, y], table: [1, 0]}, b: {states: [x, y], parents: [a], default: [0.2, 0.8]}}"
    assert files.from_text(plain, "yaml").tables[1].tolist() == [[0.2, 0.8], [0.2, 0.8]]


def test_bif_names_may_be_quoted_or_not_and_hold_nearly_anything() -> None:
    text = bif(
        "# a remark",
        r'variable Heart Rate { type discrete [ 3 ] { <5, very low, "a, \"b\" \\ {c}; // no comment" }; }',
        "variable größe { type discrete [ 2 ] { [0-5), 5(a)/b }; }",
        "probability ( Heart Rate ) { table 0.5, 0.25, 0.25; }",
        "probability ( größe | Heart Rate ) {",
        r'  ("a, \"b\" \\ {c}; // no comment") 0.5, 0.5;',
        "  (very low) 0.25, 0.75; (<5) 1, 0; }",
        "variable last { type discrete [ 2 ] { x, y }; }",
        "probability ( last | größe, Heart Rate ) { ([0-5), <5) 0, 1; (5(a)/b, very low) 1, 0; default 0.5, 0.5; }",
    )
    network = files.from_text(text, "bif")
    assert list(network.nodes) == ["Heart Rate", "größe", "last"]
    assert list(network.states[0]) == ["<5", "very low", 'a, "b" \\ {c}; // no comment']
    assert list(network.states[1]) == ["[0-5)", "5(a)/b"]
    assert network.tables[1].tolist() == [[1, 0], [0.25, 0.75], [0.5, 0.5]]
    assert network.tables[2][0, 0].tolist() == [0, 1]
    assert network.tables[2][1, 1].tolist() == [1, 0]
    for kind in KINDS:
        assert same(files.from_text(files.to_text(network, kind), kind), network), kind


def test_yaml_reads_no_and_yes_and_numbers_as_text() -> None:
    text = "nodes: {a: {states: [no, yes, 3, ~, on], table: [0.2, 0.2, 0.2, 0.2, 0.2]}}"
    assert list(files.from_text(text, "yaml").states[0]) == ["no", "yes", "3", "~", "on"]


def test_yaml_states_may_be_named_once_and_used_again() -> None:
    text = "nodes: {a: {states: &both [x, y], table: &even [0.5, 0.5]}, b: {states: *both, table: *even}}"
    assert list(files.from_text(text, "yaml").states) == [["x", "y"], ["x", "y"]]


def test_rows_may_be_named_in_one_line_or_one_below_the_other() -> None:
    rows = {
        "in one line": "{'x, x': [1, 0], 'x,y': [0, 1], 'y , x': [0.5, 0.5], 'y, y': [0.25, 0.75]}",
        "nested": "{x: {x: [1, 0], y: [0, 1]}, y: {x: [0.5, 0.5], y: [0.25, 0.75]}}",
        "without names": "[[[1, 0], [0, 1]], [[0.5, 0.5], [0.25, 0.75]]]",
        "mixed": "{x: [[1, 0], {x: 0, y: 1}], 'y, x': [0.5, 0.5], y: {y: [0.25, 0.75]}}",
    }
    for table in rows.values():
        free = "{states: [x, y], table: [0.5, 0.5]}"
        text = f"nodes: {{a: {free}, b: {free}, c: {{states: [x, y], parents: [a, b], table: {table}}}}}"
        assert files.from_text(text, "yaml").tables[2].tolist() == [[[1, 0], [0, 1]], [[0.5, 0.5], [0.25, 0.75]]]


def test_states_are_text_in_every_kind_of_file() -> None:
    half = np.array([0.5, 0.5])
    network = Definition(["a", "b"], [[True, False], [1, 2.5]], [(), (0,)], [half, np.array([half, half])])
    for kind in KINDS:
        states = files.from_text(files.to_text(network, kind), kind).states
        assert [list(own) for own in states] == [["True", "False"], ["1", "2.5"]]
    text = '{"nodes": {"a": {"states": [true, false], "table": [0.5, 0.5]}, "b": {"states": [1], "parents": ["a"],'
    assert files.from_text(text + '"table": {"true": [1], "false": [1]}}}}', "yaml").tables[1].tolist() == [[1], [1]]


def test_json_is_read_and_not_written(tmp_path: Path) -> None:
    (tmp_path / "weather.json").write_text(JSON, encoding="utf-8")
    network = files.read(tmp_path / "weather.json")
    assert same(network, files.from_text(YAML, "yaml"))
    with pytest.raises(InputError, match=r"read from JSON and not written to it; write \.yaml"):
        files.write(network, tmp_path / "other.json.gz")
    assert os.listdir(tmp_path) == ["weather.json"]


def test_rounded_rows_are_brought_to_1_and_stay_as_they_are_afterwards() -> None:
    text = bif(TWO, OF_A, "probability ( b ) { table 0.3333, 0.3333, 0.3333; }")
    network = files.from_text(text, "bif")
    assert network.tables[1].tolist() == [1 / 3, 1 / 3, 1 / 3]
    assert same(files.from_text(files.to_text(network, "bif"), "bif"), network)


def test_numbers_that_sum_to_1_are_not_touched() -> None:
    numbers = [0.8, 0.06, 0.06, 0.02, 0.06]
    assert sum(numbers) != 1  # but as near as doubles come
    text = f"nodes: {{a: {{states: [u, v, x, y, z], table: {numbers}}}}}"
    assert files.from_text(text, "yaml").tables[0].tolist() == numbers


# Writing

NASTY = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
    st.text(st.sampled_from("ab \"\\'/*#,;:|{}()[]<>&-?!%@`~=\n\t\r.é漢😀\u2028\x85\ufeff"), min_size=1, max_size=6),
    st.sampled_from(
        ["network", "variable", "probability", "property", "type", "discrete", "default", "table", "nodes", "states"]
        + ["parents", "no", "yes", "null", "~", "true", "1", "1.0", "1e3", "0x1", "<<", "-", "--", "?", ":", "#", "//"]
        + ["/*", "*/", "\\", '\\"', "]]>", "&amp;", "<!--", "*a", "&a", "!t", " ", "a b", " a", "a, b", "a,b", "{", "("]
    ),
)


@st.composite
def networks(draw: st.DrawFn) -> Definition:
    nodes = draw(st.lists(NASTY, min_size=1, max_size=4, unique=True))
    states = [draw(st.lists(NASTY, min_size=1, max_size=3, unique=True)) for _ in nodes]
    parents = [tuple(draw(st.sets(st.integers(0, node - 1), max_size=2))) if node else () for node in range(len(nodes))]
    tables = []
    for node, above in enumerate(parents):
        shape = tuple(len(states[place]) for place in (*above, node))
        weights = np.random.default_rng(draw(st.integers(0, 99))).random(shape) + 1e-9
        tables.append(weights / weights.sum(-1, keepdims=True))
    return Definition(nodes, states, parents, tables, draw(NASTY))


def writable_as_xml(network: Definition) -> bool:
    names = [network.name, *network.nodes, *(state for states in network.states for state in states)]
    return not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "".join(names))


@settings(deadline=None, max_examples=150)
@given(networks())
def test_names_of_any_characters_come_back_as_they_were(network: Definition) -> None:
    for kind in KINDS:
        if kind == "xmlbif" and not writable_as_xml(network):
            with pytest.raises(NetworkError, match="character that XML cannot"):
                files.to_text(network, kind)
        else:
            assert same(files.from_text(files.to_text(network, kind), kind), network), files.to_text(network, kind)


def test_very_long_names_come_back() -> None:
    half = np.array([0.5, 0.5])
    long = ["x" * 2000, "y" * 2000]
    network = Definition(["n" * 3000, "b"], [long, ["u", "v"]], [(), (0,)], [half, np.array([half, half])])
    for kind in KINDS:
        assert same(files.from_text(files.to_text(network, kind), kind), network), kind


@pytest.mark.parametrize(
    ("nodes", "states", "said"),
    [
        ([""], [["x"]], "a node has an empty name"),
        (["a"], [["x", ""]], "a state of 'a' has an empty name"),
        (["a"], [[1, "1"]], "the state '1' twice"),
        (["a", "a"], [["x"], ["x"]], "the node 'a' is given twice"),
        (["a\ud800"], [["x"]], "half a character"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(nodes: list[str], states: list[list[Any]], said: str) -> None:
    tables = [np.full(len(own), 1 / len(own)) for own in states]
    with pytest.raises(NetworkError, match=said):
        files.to_text(Definition(nodes, states, [()] * len(nodes), tables), "yaml")


SUFFIXES = [suffix for suffix in files.KINDS if suffix != ".json"]


@pytest.mark.parametrize("suffix", [*SUFFIXES, *(f"{suffix}.gz" for suffix in SUFFIXES), ".BIF", ".Yaml.GZ"])
def test_a_file_is_written_and_read_by_its_name(suffix: str, tmp_path: Path) -> None:
    network = files.from_text(BIF, "bif")
    path = tmp_path / f"weather{suffix}"
    files.write(network, path)
    assert same(files.read(str(path)), network)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == suffix.lower().endswith(".gz")
    assert os.listdir(tmp_path) == [path.name]


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "weather.xml"
    path.write_text(XML)
    bad = Definition(["a\x00"], [["x"]], [()], [np.array([1.0])])
    with pytest.raises(NetworkError, match="XML"):
        files.write(bad, path)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        files.write(files.from_text(BIF, "bif"), path)
    assert path.read_text() == XML
    assert os.listdir(tmp_path) == ["weather.xml"]


# What is no network file


def test_a_name_that_says_no_kind_is_refused_with_those_that_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a file of type '\.net' holds no network; known: \.bif, .*also with \.gz"):
        files.read(tmp_path / "x.net")
    with pytest.raises(InputError, match="'unknown'"):
        files.write(files.from_text(BIF, "bif"), tmp_path / "x")
    with pytest.raises(InputError, match="did you mean 'xmlbif'"):
        files.from_text(XML, "xmlbiff")
    with pytest.raises(KindError, match="path must be the path of a file, got int 3"):
        files.read(3)  # type: ignore[arg-type]
    with pytest.raises(KindError, match="got bytes"):
        files.from_text(b"", "bif")  # type: ignore[arg-type]


def test_files_that_cannot_be_had_say_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        files.read(tmp_path / "x.bif")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        files.write(files.from_text(BIF, "bif"), tmp_path / "none" / "x.bif")
    (tmp_path / "folder.bif").mkdir()
    with pytest.raises(NetworkFileError, match="cannot be read"):
        files.read(tmp_path / "folder.bif")
    packed = gzip.compress(BIF.encode())
    for damaged in (packed[:-20], b"no gzip", packed[:40] + b"\xff\xff\xff" + packed[43:]):
        (tmp_path / "x.bif.gz").write_bytes(damaged)
        with pytest.raises(NetworkFileError, match="compressed file is damaged"):
            files.read(tmp_path / "x.bif.gz")
    (tmp_path / "latin.bif").write_bytes("network n {\n}\nvariable größe {".encode("latin-1"))
    with pytest.raises(NetworkFileError, match=r"latin\.bif, line 3, column 12: the byte 0xf6 is no UTF-8"):
        files.read(tmp_path / "latin.bif")


def test_xml_is_decoded_as_it_says_itself(tmp_path: Path) -> None:
    text = XML.replace('"1.0"', '"1.0" encoding="ISO-8859-1"').replace("weather", "größe")
    (tmp_path / "x.xml").write_bytes(text.encode("latin-1"))
    assert files.read(tmp_path / "x.xml").name == "größe"
    (tmp_path / "x.xml").write_bytes(XML.encode("utf-16"))
    assert files.read(tmp_path / "x.xml").name == "weather"
    (tmp_path / "x.xml").write_bytes(XML.replace('"1.0"', '"1.0" encoding="klingon"').encode())
    with pytest.raises(NetworkFileError, match=r"x\.xml, line 1, column"):
        files.read(tmp_path / "x.xml")


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY a "x">',
        '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">',
        '<!ENTITY a SYSTEM "file:///etc/hostname">',
        '<!ENTITY % a SYSTEM "http://localhost/a.dtd"> %a;',
    ],
)
def test_xml_entities_are_neither_expanded_nor_fetched(declared: str) -> None:
    with pytest.raises(NetworkFileError, match=r"entity '[ab]'; write out"):
        files.from_text(XML.replace("<!ELEMENT BIF ( NETWORK )*>", declared), "xmlbif")


def test_an_external_dtd_is_not_fetched_and_no_hindrance() -> None:
    text = re.sub(r"<!DOCTYPE.*?\]>", '<!DOCTYPE BIF SYSTEM "http://localhost:1/bif.dtd">', XML, flags=re.DOTALL)
    assert list(files.from_text(text, "xmlbif").nodes) == ["play", "outlook"]
    with pytest.raises(NetworkFileError, match="entity 'a'"):
        files.from_text(text.replace("rainy", "]]>&a;<![CDATA["), "xmlbif")


WRONG = [
    # damaged
    ("bif", "", "", r"line 1, column 1: found the end of the file, expected 'network'"),
    (
        "bif",
        "network weather {",
        "netwerk weather {",
        r"line 1, column 1: found 'netwerk weather {', expected 'network'",
    ),
    (
        "bif",
        "  type discrete [ 2 ]",
        "  tipe discrete [ 2 ]",
        r"line 5, column 3: found 'tipe .*expected 'type discrete",
    ),
    ("bif", "discrete [ 2 ]", "continuous [ 2 ]", r"line 5, column 8: found 'continuous.*expected 'discrete'"),
    ("bif", "[ 2 ]", "[ 3 ]", r"line 5, column 3: the variable 'play' has \[ 3 \] states, and 2 are listed"),
    ("bif", "0.37, 0.63;", "0.37, 0.6x3;", r"line 12, column 15: found '0.6x3;', expected a number or ';'"),
    ("bif", "0.37, 0.63;", "0.37, 0.6.3;", r"line 12, column 15: found '0.6.3', expected a number"),
    ("bif", "0.37, 0.63;", "0.37, 0.63", r"line 13, column 1: found '}', expected a number or ';'"),
    ("bif", "(yes) 0.43", "yes 0.43", r"line 15, column 3: found 'yes 0.43.*expected 'table …;', a row"),
    ("bif", "  order */", "  order", r"line 15, column 27: a comment begins with /\* and never ends"),
    ("bif", "variable outlook", "network outlook", r"line 7, column 1: .*expected one network"),
    ("json", '"yes"], "table"', '"yes"] "table"', r"line 4, column \d+: this is no sound YAML"),
    ("json", "0.37", "NaN", r"found 'NaN' in P\(play\), expected a number"),
    ("json", '"table": [0.37, 0.63]', '"table": [1, 0], "table": [0, 1]', r"the name 'table' stands twice"),
    ("json", "0.37", "9" * 5000, r"P\(play\) has inf, which is no probability"),
    ("json", "[0.37, 0.63]", "[" * 100_000, r"too many times"),
    ("yaml", "[0.37, 0.63]}", "[0.37, 0.63}", r"line 3, column \d+: this is no sound YAML"),
    ("yaml", "[0.37, 0.63]", "[" * 10_000, r"line 3, column \d+: lists stand in lists too many times"),
    ("yaml", "      yes:", "      no:", r"line 9, column 7: the name 'no' stands twice in one mapping"),
    ("yaml", "sunny]", "sun\x07ny]", r"line 5: this is no sound YAML \(unacceptable character #x0007"),
    ("yaml", "[play]", "*play", r"line 6, column 14: there is no anchor &play"),
    ("yaml", "nodes:", "---\nnodes:", r"line 2, column 1: found a second document"),
    ("xmlbif", "</NETWORK>", "", r"line 25, column 3: this is no sound XML \(mismatched tag\)"),
    ("xmlbif", "<FOR>play</FOR>", "<FUR>play</FUR>", r"line 15, column 13: found <FUR> in DEFINITION, expected FOR"),
    ("xmlbif", "<FOR>play</FOR>", "", r"line 15, column 1: found 0 FOR in DEFINITION, expected one"),
    ("xmlbif", "<FOR>play</FOR>", "play", r"line 15, column 13: found the text 'play' in DEFINITION, expected a tag"),
    ("xmlbif", 'TYPE="nature"', 'TYPE="utility"', r"line 10, column 1: found a variable of type 'utility'"),
    ("xmlbif", "0.37 0.63", "0.37 x", r"line 15, column 28: found 'x' in the table, expected a number"),
    ("xmlbif", "0.37 0.63", "0.37 6-3", r"line 15, column 28: found '6-3' in the table, expected a number"),
    # sound, and no network
    ("bif", "(yes)", "(yess)", r"line 15, column 3: the node 'play' has no state 'yess'; did you mean 'yes'\?"),
    ("bif", "(yes)", "(no)", r"line 17, column 3: P\(outlook \| play = no\) is given twice"),
    ("bif", "(yes)", "(yes, no)", r"line 15, column 3: the row of 'outlook' names 2 states.*1 parents"),
    ("bif", "(no) 8e-2, .38, 0.54;", "", r"line 14, column 1: P\(outlook \| play = no\) is not given; add"),
    (
        "bif",
        "| play",
        "| pley",
        r"line 14, column 1: there is no node 'pley', which 'outlook' names as a parent; did you mean 'play'\?",
    ),
    ("bif", "( play ) {\n  table 0.37, 0.63", "( outlook ) {\n  table 1 0 0", r"line 14, column 1: the .* given twice"),
    ("bif", "variable outlook", "variable play", r"line 7, column 1: the node 'play' is given twice"),
    ("bif", "{ no, yes }", "{ no, no }", r"line 4, column 1: the node 'play' has the state 'no' twice"),
    (
        "bif",
        "0.43, 0.33, 0.24",
        "0.43, 0.33",
        r"line 15, column 3: P\(outlook \| play = yes\) needs 3 numbers, and has 2",
    ),
    (
        "bif",
        "0.43, 0.33, 0.24",
        "0.43, 0.33, 0.25",
        r"line 15, column 3: P\(outlook \| play = yes\) sums to 1.01 instead",
    ),
    ("bif", "0.43, 0.33, 0.24", "1.43, -0.67, 0.24", r"P\(outlook \| play = yes\) has -0.67, which is no probability"),
    ("bif", "table 0.37, 0.63", "table 1e999, 0.63", r"line 11, column 1: P\(play\) has inf, which is no probability"),
    ("bif", "table 0.37, 0.63", "table 0.37", r"the table of 'play' needs 2 numbers, and has 1"),
    (
        "bif",
        "table 0.37, 0.63;",
        "table 0.4 0.6; table 0.4 0.6;",
        r"line 12, column 18: the probabilities of 'play' are",
    ),
    ("bif", "table 0.37, 0.63;", "", r"line 11, column 1: P\(play\) is not given"),
    ("yaml", "      yes:", "      ja:", r"the node 'play' has no state 'ja'; known: no, yes"),
    ("yaml", "sunny: 0.24, ", "", r"P\(outlook \| play = yes\) sums to 0.76 instead of 1"),
    ("yaml", "sunny: 0.24", "suny: 0.24", r"the node 'outlook' has no state 'suny'; did you mean 'sunny'"),
    ("yaml", "0.37", "a third", r"found 'a third' in P\(play\), expected a number"),
    ("yaml", "0.37", "1_0", r"found '1_0' in P\(play\), expected a number"),
    ("yaml", "table:\n      no", "tabel:\n      no", r"the node 'outlook' has 'tabel', .*did you mean 'table'"),
    ("yaml", "[play]", "play", r"found 'play' as the parents of 'outlook', expected a list of nodes"),
    ("yaml", "      no:", "      no, overcast:", r"the row 'no, overcast' of 'outlook' names 2 states where 1 are"),
    ("yaml", "nodes:", "notes:", r"the file has 'notes', which has no meaning here; did you mean 'nodes'"),
    ("json", "[0.43, 0.33, 0.24]", "[0.43, 0.33]", r"P\(outlook \| play = yes\) needs 3 numbers, and has 2"),
    (
        "json",
        ", [0.43, 0.33, 0.24]",
        "",
        r"found a list of 1 in the table of 'outlook', expected a row for each of the 2",
    ),
    ("json", '["no", "yes"], "table"', '[], "table"', r"the node 'play' has no states"),
    ("json", '["no", "yes"], "table"', '["no", []], "table"', r"as the states of 'play', expected a list of names"),
    ("xmlbif", "<OUTCOME>yes</OUTCOME>", "", r"line 15, column 28: the table of 'play' needs 1 numbers, and has 2"),
    ("xmlbif", "<GIVEN>play</GIVEN>", "", r"line 19, column 3: the table of 'outlook' needs 3 numbers, and has 6"),
    (
        "xmlbif",
        "<FOR>play</FOR>",
        "<FOR>ploy</FOR>",
        r"line 15, column 1: there is no node 'ploy'; did you mean 'play'",
    ),
    ("xmlbif", "0.37 0.63", "0.37 0.64", r"line 15, column 28: P\(play\) sums to 1.01 instead of 1"),
]


@pytest.mark.parametrize(("kind", "right", "wrong", "said"), WRONG)
def test_a_wrong_file_is_told_what_and_where(kind: str, right: str, wrong: str, said: str) -> None:
    text = TEXTS[kind].replace(right, wrong, 1) if right else wrong
    assert text != TEXTS[kind]
    with pytest.raises(NetworkFileError, match=r"^weather(, line|:)") as caught:
        files.from_text(text, "yaml" if kind == "json" else kind, "weather")
    assert re.search(said, str(caught.value)), str(caught.value)


def test_a_node_without_a_table_is_refused_where_it_is_declared() -> None:
    with pytest.raises(NetworkFileError, match=r"line 3, column 1: the node 'b' has no probabilities; add its table"):
        files.from_text(bif(TWO, OF_A), "bif")
    with pytest.raises(NetworkFileError, match="the node 'b' has no table"):
        files.from_text("nodes: {a: {states: [x], table: [1]}, b: {states: [y]}}", "yaml")


def test_arcs_without_tables_are_written_and_read_again(tmp_path: Path) -> None:
    arcs = [("sky", "grass"), ("hose", "grass"), ("a, b: #", "hose")]
    bare = Network.from_arcs(arcs, states={"grass": ["wet", "dry"]}, name="garden")
    bare.target = "grass"
    bare.write(tmp_path / "bare.yaml")
    again = Network.read(tmp_path / "bare.yaml")
    assert (again.nodes, again.parents, again.name, again.target) == (bare.nodes, bare.parents, "garden", "grass")
    rows = pa.table(
        {"sky": ["r", "c", "c"], "hose": ["on", "off", "on"], "a, b: #": ["u", "u", "v"], "grass": ["wet"] * 3}
    )
    assert again.fit(rows).states["grass"] == ["wet", "dry"]  # as declared
    np.testing.assert_array_equal(again.tables["grass"], bare.fit(rows).tables["grass"])
    again.write(tmp_path / "full.yaml")
    assert Network.read(tmp_path / "full.yaml").target == "grass"
    for ending in ("bif", "xml"):
        with pytest.raises(NetworkError, match=r"no tables yet, which \.yaml alone can hold"):
            Network.from_arcs(arcs).write(tmp_path / f"bare.{ending}")
        assert not (tmp_path / f"bare.{ending}").exists()


def test_cut_points_of_arcs_without_tables_are_kept() -> None:
    text = "nodes: {x: {cuts: [1, 2.5]}, y: {parents: [x]}}"
    found = Network.of(files.from_text(text, "yaml"))
    assert found.cuts["x"].points == (1.0, 2.5)
    assert found.fit(pa.table({"x": [0.5, 2.0, 9.0], "y": ["a", "b", "b"]})).states["x"] == list(found.cuts["x"].names)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("target: c\nnodes: {cc: {states: [x]}, b: {parents: [cc]}}", "the target 'c' is no node; did you mean 'cc'"),
        ("nodes: {a: {parents: [bb]}, b: {}}", "there is no node 'bb', which 'a' names as a parent; did you mean 'b'"),
        ("nodes: {a: {parents: [b]}, b: {parents: [a]}}", "a circle: a → b → a|a circle: b → a → b"),
        ("nodes: {a: {cuts: [2, 1]}}", "the cuts of 'a' must ascend"),
        ("nodes: {a: {states: []}}", "the node 'a' has no states"),
    ],
)
def test_arcs_that_cannot_be_are_refused(text: str, said: str) -> None:
    with pytest.raises(NetworkError, match=said):
        files.from_text(text, "yaml")


def test_arcs_in_a_circle_are_refused_with_the_circle() -> None:
    of_a = "probability ( a | b ) { default 0.5, 0.5; }"
    of_b = "probability ( b | a ) { default 0.5, 0.25, 0.25; }"
    with pytest.raises(CycleError, match=r"my file: .*a → b → a"):
        files.from_text(bif(TWO, of_a, of_b), "bif", "my file")


def test_a_small_file_cannot_ask_for_a_huge_table() -> None:
    names = [f"v{i}" for i in range(41)]
    blocks = [f"variable {name} {{ type discrete [ 2 ] {{ x, y }}; }}" for name in names]
    roots = [f"probability ( {name} ) {{ table 0.5, 0.5; }}" for name in names[1:]]
    last = f"probability ( v0 | {', '.join(names[1:])} ) {{ default 0.5, 0.5; }}"
    with pytest.raises(NetworkFileError, match=r"the table of 'v0' would have 2,199,023,255,552 numbers"):
        files.from_text(bif(*blocks, *roots, last), "bif")
    free = "{states: [x, y], table: [0.5, 0.5]}"
    many = "\n".join(f"  {name}: {free}" for name in names[1:])
    below = "\n".join(f"    - &t{i} [*t{i - 1}, *t{i - 1}]" for i in range(1, 41))
    nodes = f"nodes:\n{many}\n  v0:\n    states: [x, y]\n    parents: [{', '.join(names[1:])}]\n    table:\n"
    with pytest.raises(NetworkFileError):
        files.from_text(f"{nodes}    - &t0 [0.5, 0.5]\n{below}\n", "yaml")
    nested = "&t0 [0.5, 0.5]"
    for i in range(1, 41):
        nested = f"&t{i} [{nested}, *t{i - 1}]"
    with pytest.raises(NetworkFileError, match="more rows than it has characters"):
        files.from_text(f"{nodes}      {nested}\n", "yaml")


def test_more_parents_than_a_table_has_axes_are_refused() -> None:
    names = [f"v{i}" for i in range(65)]
    nodes = {
        name: f"{{states: [x], {'parents: [' + ', '.join(names[1:]) + '], ' if name == 'v0' else ''}" for name in names
    }
    text = "nodes:\n" + "\n".join(f"  {name}: {said}default: [1]}}" for name, said in nodes.items())
    with pytest.raises(NetworkFileError, match="'v0' has 64 parents, and a table has at most 63"):
        files.from_text(text, "yaml")


PIECES = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    "|",
    '"',
    "\\",
    "/*",
    "*/",
    "//",
    "<",
    ">",
    "&",
    "&a",
    "*a",
    ":",
    "- ",
]
PIECES += [
    "\n",
    "  ",
    "\x00",
    "\ud800",
    "é",
    "0",
    "-1",
    "1e999",
    "nan",
    "table",
    "default",
    "<TABLE>",
    "]]>",
    "<!--",
    "?",
]


def mutated(text: str, luck: random.Random) -> str:
    for _ in range(luck.randint(1, 3)):
        at, other = luck.randrange(len(text) + 1), luck.randrange(len(text) + 1)
        what = luck.randrange(5)
        if what == 0:
            text = text[:at] + text[at + luck.randint(1, 12) :]
        elif what == 1:
            text = text[:at] + luck.choice(PIECES) + text[at:]
        elif what == 2:
            text = text[:at] + chr(luck.choice([luck.randrange(128), luck.randrange(0xD800)])) + text[at + 1 :]
        elif what == 3:
            text = text[:at] + text[other : other + luck.randint(1, 40)] + text[at:]
        elif luck.random() < 0.3:
            text = text[:at]
    return text


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_a_network_or_a_clear_error_and_nothing_else(kind: str) -> None:
    luck = random.Random(6)
    errors = []
    for _ in range(2000):
        text = mutated(TEXTS[kind], luck)
        try:
            network = files.from_text(text, kind, "damaged")
        except NetworkError as error:
            errors.append(str(error))
        else:
            assert all(np.allclose(table.sum(-1), 1) for table in network.tables)
    assert 0 < len(errors) < 2000
    assert all(error.startswith("damaged") and "\n" not in error for error in errors)
