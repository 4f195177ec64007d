"""Rows that are posted are answered as `predict_proba` answers them, to the bit, whatever they come as."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ingenuo.datasets import diabetes
from ingenuo.errors import IngenuoError
from ingenuo.serve import bodies
from ingenuo.serve.models import Served

from .asker import Asker, error

SUNNY = {"Outlook": "Sunny", "Temperature": "Hot", "Humidity": "High", "Wind": "Weak"}
NDJSON, CSV, ARROW = bodies.NDJSON, bodies.CSV, bodies.ARROW
ROWS: dict[str, list[dict[str, Any]]] = {
    "tennis": [SUNNY, {"Outlook": None, "Wind": "Strong"}, {"Outlook": "Snow"}, {}],
    "numbers": [{"x0": 0.5, "x1": -1, "x2": 2.5e-3}, {"x1": None}, {"x2": 1e6}],
    "counts": [{"a": 3, "b": 0}, {"b": 2.0}, {"a": None, "b": 7}],
    "codes": [{"code": 1, "flag": True}, {"code": "2", "flag": "False"}, {"code": 9}],
    "texts": [{"text": "a warm story"}, {"text": "dull, and dull"}, {"text": ""}],
    "network": [SUNNY, {"Wind": "Weak"}],
    "sequences": [{"text": "a warm story"}, {"text": "cold"}],
}


def expected(served: Served, rows: list[dict[str, Any]]) -> Any:
    """What the model itself says of rows that are spelled as it knows them."""
    columns = served.now.columns
    return served.now.model.predict_proba(columns.table([columns.row(row, 0) for row in rows])).tolist()


def stream(table: pa.Table, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def read(data: bytes) -> pa.Table:
    return pa.ipc.open_stream(data).read_all()


@pytest.mark.parametrize("name", list(ROWS))
def test_few_rows_and_many_are_answered_alike_and_to_the_bit(ask: Asker, loaded: dict[str, Served], name: str) -> None:
    rows, path = ROWS[name], f"/v1/models/{name}/predict"
    found = ask.post(path, {"rows": rows}).json()
    assert found["posterior"] == expected(loaded[name], rows)
    classes = loaded[name].now.model.classes_.tolist()
    assert found["classes"] == classes
    assert found["predicted"] == [classes[int(np.argmax(row))] for row in found["posterior"]]
    assert found["probability"] == [max(row) for row in found["posterior"]]
    times = 70 // len(rows) + 1
    many = ask.post(path, {"rows": rows * times}).json()
    assert many["posterior"] == found["posterior"] * times


ODD: list[Any] = [
    True, False, 0, 1, -1, 2.0, 0.5, -0.5, 1e308, 5e-324, 2**53 + 1, 2**63, 2**70, 10**400, "", " ", "x", "Sunny", "1",
    "1.0", " 2 ", "true", "True", "nan", "?", "inf", "1e999", "1e2", "é", "\0", "50s", [], {}, [1], "NA", "None",
]  # fmt: skip


@pytest.mark.parametrize("name", list(ROWS))
def test_any_value_is_taken_or_refused_alike_in_few_rows_and_in_many(loaded: dict[str, Served], name: str) -> None:
    version = loaded[name].now
    taken, refused = 0, 0

    def answer(rows: list[Any]) -> Any:
        try:
            return np.asarray(version.answer(version.columns.rows(rows))[0]).tolist()[0]
        except IngenuoError as problem:
            return str(problem)

    for value in ODD:
        for column in version.columns.names[:2]:
            few, many = answer([{column: value}]), answer([{column: value}] + [{}] * 70)
            assert few == many, value
            taken, refused = taken + isinstance(few, list), refused + isinstance(few, str)
    assert taken
    assert refused


ARRAYS: dict[str, Any] = {
    "infinite": lambda n: pa.array([float("inf")] * n), "nan": lambda n: pa.array([float("nan")] * n),
    "real": lambda n: pa.array([1.5] * n), "true": lambda n: pa.array([True] * n), "large": lambda n: pa.array(
        [2**64 - 1] * n, pa.uint64()), "spelled": lambda n: pa.array(["1.5"] * n), "nothing": pa.nulls,
    "small": lambda n: pa.array([3] * n, pa.int8()), "negative": lambda n: pa.array([-1] * n),
    "coded": lambda n: pa.array(["Sunny", None] * (n // 2)).dictionary_encode(),
    "coded numbers": lambda n: pa.array([1.5, None] * (n // 2)).dictionary_encode(),
    "view": lambda n: pa.array(["x"] * n, pa.string_view()), "half": lambda n: pa.array(np.ones(n, np.float16)),
    "long": lambda n: pa.array(["x"] * n, pa.large_string()), "bytes": lambda n: pa.array([b"x"] * n),
    "time": lambda n: pa.array([0] * n, pa.timestamp("s")), "decimal": lambda n: pa.array([1] * n, pa.decimal128(5, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", list(ROWS))
def test_any_column_of_arrow_is_taken_or_refused_alike_in_few_rows_and_in_many(
    loaded: dict[str, Served], name: str
) -> None:
    version = loaded[name].now
    column, taken = version.columns.names[0], 0

    def answer(make: Any, n: int) -> Any:
        table = pa.table({each: make(n) if each == column else pa.nulls(n) for each in version.columns.names})
        try:
            return np.asarray(version.answer(version.columns.arrow(table))[0]).tolist()[:2]
        except IngenuoError as problem:
            return str(problem)

    for what, make in ARRAYS.items():
        few = answer(make, 2)
        assert few == answer(make, 80), what
        taken += isinstance(few, list)
    assert taken


def test_rows_of_real_patients_are_answered_as_by_the_model(ask: Asker, loaded: dict[str, Served]) -> None:
    table = diabetes().drop_columns(["progression"])
    model = loaded["patients"].now.model
    every = ask.post("/v1/models/patients/predict", {"rows": table.to_pylist()}).json()["posterior"]
    assert every == model.predict_proba(table).tolist()
    few = ask.post("/v1/models/patients/predict", {"rows": table.slice(0, 60).to_pylist()}).json()["posterior"]
    assert few == every[:60]


def test_the_first_model_is_asked_without_a_name(ask: Asker) -> None:
    assert (
        ask.post("/v1/predict", {"rows": [SUNNY]}).json()
        == ask.post("/v1/models/tennis/predict", {"rows": [SUNNY]}).json()
    )


def test_the_class_may_stand_in_a_row_and_is_not_read(ask: Asker) -> None:
    found = [ask.post("/v1/predict", {"rows": [SUNNY | more]}).json()["posterior"] for more in ({}, {"Play": "Yes"})]
    assert found[0] == found[1]


def test_texts_are_rows_where_the_model_reads_texts(ask: Asker) -> None:
    path = "/v1/models/texts/predict"
    assert (
        ask.post(path, {"rows": ["a warm story"]}).json() == ask.post(path, {"rows": [{"text": "a warm story"}]}).json()
    )
    assert "an object from column" in error(ask.post("/v1/predict", {"rows": ["Sunny"]}), 400)


@pytest.mark.parametrize("n", [3, 90])
def test_every_kind_of_body_says_the_same(ask: Asker, n: int) -> None:
    rows = [{"age": "50s", "bmi": 32.125}, {"age": None, "bmi": None, "bp": 101.5}, {"age": "nineties", "bmi": 20}] * (
        n // 3
    )
    path = "/v1/models/patients/predict"
    posterior = ask.post(path, {"rows": rows}).json()["posterior"]
    lines = "".join(json.dumps(row) + "\n\n" for row in rows).encode()
    cells = "age,bmi,bp,id\n" + "".join(
        ",".join("" if row.get(name) is None else str(row[name]) for name in ("age", "bmi", "bp")) + ",7\n"
        for row in rows
    )
    table = pa.Table.from_pylist([{"age": None, "bmi": None, "bp": None} | row for row in rows])
    coded = table.set_column(0, "age", table["age"].dictionary_encode())
    wide = "age,bmi,bp,sex,s1,s2,s3,s4,s5,s6,id\n" + "".join(
        ",".join("" if row.get(name) is None else str(row[name]) for name in ("age", "bmi", "bp")) + ",,,,,,,,7\n"
        for row in rows
    )
    assert "does not know" in error(ask.send(path, cells.encode(), CSV), 400)
    bodies_ = [(lines, NDJSON), (wide.encode(), CSV), (stream(table), ARROW), (stream(coded), ARROW)]
    for data, kind in bodies_:
        got = ask.send(path, data, kind, accept="application/json")
        assert got.json()["posterior"] == posterior, kind


def test_answers_come_as_they_are_accepted(ask: Asker) -> None:
    path, body = "/v1/predict", json.dumps({"rows": [SUNNY, {}]}).encode()
    plain = ask.send(path, body, "application/json").json()
    table = read(ask.send(path, body, "application/json", accept=ARROW).content)
    assert table.column_names == ["predicted", "probability", "P(No)", "P(Yes)"]
    assert table["predicted"].to_pylist() == plain["predicted"]
    assert [list(row) for row in zip(table["P(No)"].to_pylist(), table["P(Yes)"].to_pylist())] == plain["posterior"]
    lines = [json.loads(line) for line in ask.send(path, body, "application/json", accept=NDJSON).text.splitlines()]
    assert lines == table.to_pylist()
    cells = ask.send(path, body, "application/json", accept=f"text/html;q=0.9, {CSV}")
    assert cells.headers["content-type"] == CSV
    assert cells.text.splitlines()[0] == "predicted,probability,P(No),P(Yes)"
    assert float(cells.text.splitlines()[1].split(",")[1]) == plain["probability"][0]
    assert "accept" in error(ask.send(path, body, "application/json", accept="image/png"), 406)
    same = ask.send(path, b"Outlook,Temperature,Humidity,Wind\nSunny,Hot,High,Weak\n", CSV)
    assert same.headers["content-type"] == CSV


def test_answers_are_the_same_bits_in_every_form(ask: Asker) -> None:
    rows = diabetes().drop_columns(["progression"]).slice(0, 5)
    path = "/v1/models/patients/predict"
    plain = ask.post(path, {"rows": rows.to_pylist()}).json()["posterior"]
    found = read(ask.send(path, stream(rows), ARROW).content)
    assert [list(row) for row in zip(found["P(fast)"].to_pylist(), found["P(slow)"].to_pylist())] == plain
    text = ask.send(path, stream(rows), ARROW, accept=CSV).text.splitlines()[1:]
    assert [list(map(float, line.split(",")[2:])) for line in text] == plain


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "no rows"),
        ("x", '"rows", a list'),
        ([1], "row 0 is a number"),
        ([SUNNY, None], "row 1 is null"),
        ([{"Outlok": "Sunny"}], "did you mean 'Outlook'"),
        ([{"Outlook": ["Sunny"]}], "column 'Outlook': a list is no category"),
        ([{"Outlook": {}}], "an object is no category"),
    ],
)
def test_rows_that_cannot_be_read_are_said(ask: Asker, rows: Any, said: str) -> None:
    assert said in error(ask.post("/v1/predict", {"rows": rows}), 400)


@pytest.mark.parametrize("value", [True, "tall", "1,5", "inf", [1], {}])
@pytest.mark.parametrize("n", [2, 80])
def test_what_is_no_number_is_said_with_its_place(ask: Asker, value: Any, n: int) -> None:
    rows = [{"bmi": 20.0}] * (n - 1) + [{"bmi": value}]
    said = error(ask.post("/v1/models/patients/predict", {"rows": rows}), 400)
    assert f"row {n - 1}, column 'bmi'" in said
    assert "no number" in said


def test_numbers_may_be_spelled_and_missing_values_too(ask: Asker) -> None:
    path = "/v1/models/patients/predict"
    for spelled, plain in ((" 32.5 ", 32.5), ("?", None), ("", None), ("1e2", 100), ("nan", None)):
        asked = [ask.post(path, {"rows": [{"bmi": value}]}).json()["posterior"] for value in (spelled, plain)]
        assert asked[0] == asked[1]


@pytest.mark.parametrize(
    "body",
    [
        b'{"rows": [{"bmi": 1e999}]}', b'{"rows": [{"bmi": NaN}]}', b'{"rows": [{"bmi": Infinity}]}',
        b'{"rows": [{"bmi": 1' + b"0" * 400 + b"}]}", b'{"rows": [{"bmi": ' + b"1" * 5000 + b"}]}",
        b'{"rows": [{"bmi": 1, "bmi": 2}]}', b'{"rows": [], "rows": [{}]}', b'{"rows": [{"bmi": 1}]',
        b'{"rows": [{"bmi": 1}], "more": 1}', b"\xff\xfe{}", b"", b"[" * 100_000, b'{"rows":' * 3000, b"null", b'"x"',
        b'{"rows": [{"age": "\xed\xa0\x80"}]}', "{\"rows\": [{}]}".encode("utf-16"),
    ],
)  # fmt: skip
def test_bodies_that_are_no_rows_are_refused(ask: Asker, body: bytes) -> None:
    error(ask.send("/v1/models/patients/predict", body, "application/json"), 400)


def test_half_a_character_is_refused_and_control_characters_are_not(ask: Asker) -> None:
    for n in (1, 80):
        body = b'{"rows": [' + b",".join([b'{"text": "\\ud800 warm"}'] * n) + b"]}"
        assert "half a character" in error(ask.send("/v1/models/texts/predict", body, "application/json"), 400)
    body = b'{"rows": [{"text": "warm \\u0000 \\u202e story"}]}'
    assert ask.send("/v1/models/texts/predict", body, "application/json").status_code == 200


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no CSV"),
        (b"bmi\n1,2\n", "no CSV"),
        (b"bmi,bmi\n1,2\n", "two columns 'bmi'"),
        (b"weight\n1\n", "did you mean"),
        (b"bmi\ntall\n", "no number"),
        (b"age\n\xff\xff\n", "no CSV"),
        (b"bmi\n", "no rows"),
    ],
)
def test_csv_that_cannot_be_read_is_said(ask: Asker, data: bytes, said: str) -> None:
    assert said in error(ask.send("/v1/models/patients/predict", data, CSV), 400).replace(
        "does not know", "did you mean"
    )


def test_lines_of_json_are_counted(ask: Asker) -> None:
    assert error(ask.send("/v1/predict", b'{}\n{"Outlook": \n', NDJSON), 400).startswith("line 2: ")


def test_arrow_is_checked_before_it_is_believed(ask: Asker) -> None:
    path = "/v1/models/patients/predict"
    table = pa.table({"bmi": [20.0, 30.0], "age": ["50s", None]})
    whole = stream(table)
    for damaged in (b"", b"ARROW1", whole[:60], whole[: len(whole) // 2], b"\xff" * 200):
        assert "no Arrow stream" in error(ask.send(path, damaged, ARROW), 400)
    packed = stream(pa.table({"bmi": [0.0] * 1000}), compression="zstd")
    assert "packed" in error(ask.send(path, packed, ARROW), 400)
    nested = stream(pa.table({"bmi": [[1.0]]}))
    assert "is of type list" in error(ask.send(path, nested, ARROW), 400)
    many = stream(pa.table({"bmi": pa.nulls(100_001)}))
    assert "100,000" in error(ask.send(path, many, ARROW), 413)


def test_more_rows_than_are_taken_are_refused(ask: Asker) -> None:
    data = b"Outlook\n" + b"Sunny\n" * 100_001
    assert "100,001 rows" in error(ask.send("/v1/predict", data, CSV), 413)
    assert "100,001 rows" in error(ask.send("/v1/predict", b"{}\n" * 100_001, NDJSON), 413)


# What callers of other servers send.


@pytest.mark.parametrize(
    "body",
    [
        {
            "dataframe_split": {
                "columns": ["Outlook", "Wind"],
                "index": [0, 1],
                "data": [["Sunny", "Weak"], [None, "Strong"]],
            }
        },
        {"dataframe_records": [{"Outlook": "Sunny", "Wind": "Weak"}, {"Wind": "Strong"}]},
        {"instances": [{"Outlook": "Sunny", "Wind": "Weak"}, {"Outlook": None, "Wind": "Strong"}]},
        {"inputs": {"Outlook": ["Sunny", None], "Wind": ["Weak", "Strong"]}},
        {"inputs": {"Outlook": [["Sunny"], [None]], "Wind": [["Weak"], ["Strong"]]}},
        {"instances": [["Sunny", None, None, "Weak"], [None, None, None, "Strong"]]},
    ],
)
def test_invocations_are_answered_in_every_form(ask: Asker, body: dict[str, Any]) -> None:
    plain = ask.post("/v1/predict", {"rows": [{"Outlook": "Sunny", "Wind": "Weak"}, {"Wind": "Strong"}]}).json()
    assert ask.post("/invocations", body).json() == {"predictions": plain["predicted"]}
    shares = ask.post("/invocations", body | {"params": {"method": "predict_proba"}}).json()["predictions"]
    assert [list(each.values()) for each in shares] == plain["posterior"]
    assert list(shares[0]) == ["No", "Yes"]


def test_invocations_take_csv(ask: Asker) -> None:
    data = b"Outlook,Temperature,Humidity,Wind\nSunny,Hot,High,Weak\nOvercast,,,\n"
    assert ask.send("/invocations", data, CSV).json() == {"predictions": ["No", "Yes"]}
    found = ask.send("/invocations", data, CSV, accept=CSV)
    assert (found.text, found.headers["content-type"]) == ("No\nYes\n", CSV)


@pytest.mark.parametrize(
    "body",
    [
        {}, {"instances": [], "inputs": []}, {"instances": []}, {"instances": 3}, {"dataframe_split": []},
        {"dataframe_split": {"columns": ["Wind", "Wind"], "data": [["Weak", "Weak"]]}},
        {"dataframe_split": {"columns": ["Wind"], "data": [["Weak", "Weak"]]}}, {"dataframe_records": [1]},
        {"inputs": {"Wind": ["Weak"], "Outlook": []}}, {"inputs": {"Wnd": ["Weak"]}}, {"instances": [{}], "params": 3},
        {"instances": [{}], "params": {"method": "transform"}},
    ],
)  # fmt: skip
def test_invocations_that_are_none_are_refused(ask: Asker, body: Any) -> None:
    error(ask.post("/invocations", body), 400)
