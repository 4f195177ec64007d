"""Numbers and names are shortened without saying what is not so."""

from __future__ import annotations

import datetime
import math

import numpy as np

from ingenuo.show.format import latex, listed, percent, plain, quoted, shortened
from ingenuo.show.plots import short


def test_what_is_not_quite_all_or_nothing_is_not_called_so() -> None:
    assert [percent(p) for p in (0.7461, 0.99996, 1.0, 0.0001, 0.0)] == [
        "74.6%",
        "more than 99.9%",
        "100.0%",
        "less than 0.1%",
        "0.0%",
    ]


def test_plain_data_is_what_json_holds() -> None:
    data = {np.int64(3): [np.float64(0.5), -math.inf, math.nan], datetime.date(2020, 1, 2): True, ("a", 1): None}
    assert plain(data) == {3: [0.5, "-inf", None], "2020-01-02": True, "('a', 1)": None}


def test_names_are_shortened_where_they_say_least() -> None:
    assert shortened("a b" * 30, 10) == "a ba ba b…"
    assert short("comp.sys.ibm.pc.hardware") == "comp.sys.…hardware"
    assert (listed(["a", "b", "c"], 2), listed(["a"])) == ("a, b and 1 more", "a")
    assert (quoted("rows.csv"), quoted('say "no"')) == ('"rows.csv"', "'say \"no\"'")


def test_latex_shows_backticks_as_they_are() -> None:
    assert latex("``code` of a_b") == r"\textasciigrave{}\textasciigrave{}code\textasciigrave{} of a\_b"
