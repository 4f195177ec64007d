"""How databases spell what a query of a model needs: names, strings, doubles, and what they do beyond the doubles.

DuckDB, SQLite, PostgreSQL and Spark are run by the tests; the others are written as their manuals have it, and not run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from ingenuo.errors import InputError, check_choice

# What a text must look like to be a number.
_NUMBER = r"^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]{1,3})?$"
_FIGURES = 15  # decimals of so many figures are read exactly by any reader, if a double can be exact
_MOST = float(np.finfo(float).max)
_STEP = 53  # powers of two that are multiplied by at once: as decimals they are exact


@dataclass(frozen=True)
class Dialect:
    """How a database spells things. `{x}` in a template is an expression."""

    name: str
    title: str
    tested: bool = False
    quotes: tuple[str, str] = ('"', '"')  # around a name
    escapes: bool = False  # whether a backslash has a meaning in strings,
    name_escapes: bool = False  # and in names
    prefix: str = ""  # of strings
    double: str = "DOUBLE"
    own_double: str = ""  # what the doubles of columns are cast to, if that is another type
    text: str = "VARCHAR"
    integer: str = "INTEGER"
    same: str = "{x}"  # a text that is compared letter by letter
    infinity: str = "infinity"  # nothing where there is none
    is_nan: str = ""  # nothing where there is none
    number: str = "CAST({x} AS {double})"  # of a column
    maybe: str = "TRY_CAST({x} AS {double})"  # the same, nothing where it is no number
    most: str = "GREATEST"
    least: str = "LEAST"
    log: str = "LN"
    whole: str = "FLOOR"  # gives a double
    fence: str = ""  # keeps what has a name from being computed wherever the name stands
    after: str = ""  # the same, at the end of a query
    ending: str = ""  # of the whole query
    strict: bool = False  # whether products that are too small for a double are errors
    bare: bool = False  # whether 1e0 is a double as it stands, so that tables of constants are short
    rows: str = "VALUES"  # how a table is written; "SELECT": as selects that are put together
    booleans: tuple[str, str] = ("FALSE", "TRUE")
    spelled: tuple[str, ...] = ("false", "true")  # how those are spelled as texts
    replaced: tuple[str, str] = ("", "")  # what is replaced in strings before a query is read, and how to write it
    plain_names: bool = False  # whether names have letters, digits and _ alone
    longest: int = 0  # bytes of a name; 0: as many as one likes
    column_text: str = ""  # the type of a column of texts, if that is another
    table_end: str = ""  # of CREATE TABLE
    joins: int = 40  # tables in one join
    arrays: bool = False  # whether values are looked up in arrays, for each table of a join takes a page of memory

    # Names and strings.

    def name_of(self, given: str, what: str = "a name") -> str:
        """A name in quotes."""
        _refuse_odd(given, what)
        if not given:
            raise InputError(f"{what} is empty; SQL has no such name")
        if self.replaced[0] and self.replaced[0] in given:
            raise InputError(
                f"{what} has {self.replaced[0]!r} ({given[:40]!r}), which {self.title} replaces by a setting before it "
                "reads a query; rename it"
            )
        first, last = self.quotes
        escaped = (
            given.replace("\\", "\\\\").replace("`", "\\`") if self.name_escapes else given.replace(last, last * 2)
        )
        return f"{first}{escaped}{last}"

    def path_of(self, given: str | Sequence[str]) -> str:
        """The name of a table: a text is one name, several are joined by dots."""
        parts = [given] if isinstance(given, str) else list(given)
        return ".".join(self.name_of(each, "the name of a table") for each in parts)

    def string(self, given: str, what: str = "a value") -> str:
        """A string in quotes."""
        _refuse_odd(given, what)
        prefix = self.prefix
        if self.escapes:
            given = given.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
            given = given.replace("'", "\\'" if self.name in ("spark", "bigquery") else "''")
        else:
            given = given.replace("'", "''")
            if self.name == "postgres" and "\\" in given:  # safe whatever standard_conforming_strings is
                given, prefix = given.replace("\\", "\\\\"), "E"
        given = given.replace(*self.replaced) if self.replaced[0] else given
        return f"{prefix}'{given}'"

    # Numbers.

    def literal(self, x: float) -> str:
        """A double that is read back to the same bits."""
        x = float(x)
        if math.isnan(x):
            raise InputError("the sheet holds a number that is no number, for which SQL has no constant")
        if math.isinf(x):
            if not self.infinity:
                raise InputError(
                    f"the model holds something impossible, and {self.title} has no infinity to say so; "
                    "fit it with a prior such as 'laplace', or choose another dialect"
                )
            if self.name == "sqlite":
                return "-9e999" if x < 0 else "9e999"
            return f"CAST('{'-' if x < 0 else ''}{self.infinity}' AS {self.double})"
        if self.name == "sqlite" and not _is_short(x):
            return _as_fraction(x)
        text = repr(x).removesuffix(".0")
        return f"CAST({text if 'e' in text else text + 'e0'} AS {self.double})"

    def cell_of(self, literal: str) -> str:
        """A literal in a table of constants: thousands of casts take a database seconds."""
        if not self.bare or not literal.startswith("CAST(") or "'" in literal:
            return literal
        return literal.removeprefix("CAST(").removesuffix(f" AS {self.double})")

    def times(self, x: str, factor: float) -> str:
        """x times a constant; where the database stops at products beyond the doubles, these are written apart."""
        plain = f"{x} * {self.literal(factor)}"
        if not self.strict:
            return plain
        size = abs(factor)
        if size == 0 or math.isinf(size):
            return plain
        if size < 1:
            least = min(float(np.finfo(float).tiny) / size, 1e-150)  # what is less adds nothing to a number
            return f"CASE WHEN ABS({x}) < {self.literal(least)} THEN {self.literal(0.0)} ELSE {plain} END"
        if size == 1:
            return plain
        most = _MOST / size * (1 - 1e-15)
        end = math.inf if self.infinity else _MOST
        far = self.literal(math.copysign(end, factor)), self.literal(-math.copysign(end, factor))
        high, low = self.literal(most), self.literal(-most)
        return f"CASE WHEN {x} > {high} THEN {far[0]} WHEN {x} < {low} THEN {far[1]} ELSE {plain} END"

    def over(self, x: str, divisor: float) -> str:
        """x divided by a constant; of what is hardly more than 0 nothing is left."""
        plain = f"{x} / {self.literal(divisor)}"
        if not self.strict or divisor <= 1:
            return plain
        least = self.literal(min(float(np.finfo(float).tiny) * divisor, 1e-150))
        return f"CASE WHEN ABS({x}) < {least} THEN {self.literal(0.0)} ELSE {plain} END"

    def largest(self, values: Sequence[str]) -> str:
        """The largest of some numbers."""
        if len(values) == 1:
            return values[0]
        return f"{self.most}({', '.join(values)})"

    def exp(self, x: str) -> str:
        """The exponential, without the ones that are too small for some databases."""
        return f"CASE WHEN {x} < {self.literal(-700.0)} THEN {self.literal(0.0)} ELSE EXP({x}) END"

    def cell(self, x: str) -> str:
        """A number of a table; no number is missing."""
        found = self.number.format(x=x, double=self.own_double or self.double)
        return self._without_nan(found)

    def try_cell(self, x: str) -> str:
        """The same of a column that may hold anything; what is no number is missing."""
        return self._without_nan(self.maybe.format(x=x, double=self.own_double or self.double))

    def _without_nan(self, x: str) -> str:
        return f"CASE WHEN {self.is_nan.format(x=x)} THEN NULL ELSE {x} END" if self.is_nan else x

    def as_text(self, x: str) -> str:
        """A value of a table as text."""
        return self.same.format(x=f"CAST({x} AS {self.text})")

    def value(self, label: object) -> str:
        """A class as a constant."""
        if isinstance(label, bool):
            return self.booleans[label]
        if isinstance(label, int):
            return str(label)
        if isinstance(label, float):
            return self.literal(label)
        return self.string(str(label), f"the class {label!r}")

    def table(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """A table of constants, for WITH."""
        if self.rows == "VALUES":
            lines = ",\n".join(f"    ({', '.join(map(self.cell_of, row))})" for row in rows)
            return f"{name}({', '.join(columns)}) AS (\n  VALUES\n{lines}\n)"
        first = ", ".join(f"{value} AS {column}" for value, column in zip(rows[0], columns))
        lines = " UNION ALL\n".join(f"  SELECT {each}" for each in [first, *(", ".join(row) for row in rows[1:])])
        return f"{name} AS (\n{lines}\n)"


def _refuse_odd(given: str, what: str) -> None:
    """Raise for a text that no database holds."""
    if "\0" in given:
        raise InputError(f"{what} has the character NUL ({given[:40]!r}), which SQL does not take; rename it")
    if any("\ud800" <= letter <= "\udfff" for letter in given):
        raise InputError(f"{what} has half a character ({given[:40]!r}), which SQL does not take; correct it")


def _is_short(x: float) -> bool:
    """Whether its decimals are few and the double itself, so that no reader has to round them."""
    text = Decimal(repr(x))
    return text == Decimal(x) and len(text.normalize().as_tuple().digits) <= _FIGURES and abs(x) < 1 << _STEP


def _as_fraction(x: float) -> str:
    """A double as a whole number times powers of two, which are exact where a reader of decimals is not: SQLite's."""
    mantissa, exponent = math.frexp(x)
    whole, exponent = int(math.ldexp(mantissa, 53)), exponent - 53
    while whole % 2 == 0:
        whole, exponent = whole // 2, exponent + 1
    sign, left, factors = "/" if exponent < 0 else "*", abs(exponent), ""
    while left or not factors:
        step = min(left, _STEP)
        factors += f" {sign} {1 << step}e0"
        left -= step
    return f"({whole}{factors})"


_FIGURES_ONLY = _NUMBER.replace("{", "{{").replace("}", "}}")  # within a template
_SQLITE = (
    "CASE WHEN TYPEOF({x}) IN ('integer', 'real') OR (TYPEOF({x}) = 'text' AND {x} GLOB '*[0-9]*' "
    "AND {x} NOT GLOB '*[^-0-9.eE+]*') THEN CAST({x} AS REAL) END"
)
DIALECTS = {
    each.name: each
    for each in (
        Dialect("duckdb", "DuckDB", tested=True, bare=True, is_nan="isnan({x})", fence="NOT MATERIALIZED "),
        Dialect(
            "sqlite", "SQLite", tested=True, double="REAL", text="TEXT", same="{x} COLLATE BINARY", most="MAX",
            least="MIN", fence="MATERIALIZED ", booleans=("0", "1"), spelled=("0", "1"), number=_SQLITE, maybe=_SQLITE,
        ),
        Dialect(
            "postgres", "PostgreSQL", tested=True, double="double precision", text="text",
            is_nan="{x} = CAST('NaN' AS double precision)", strict=True, after="OFFSET 0", longest=63,
            maybe=f"CASE WHEN CAST({{x}} AS text) ~ '{_FIGURES_ONLY}' THEN CAST(CAST({{x}} AS text) AS {{double}}) END",
        ),
        Dialect(
            "spark", "Spark", tested=True, quotes=("`", "`"), escapes=True, text="STRING", is_nan="isnan({x})",
            whole="RINT", bare=True, replaced=("${", "\\u0024{"), arrays=True,
        ),
        Dialect(
            "bigquery", "BigQuery", quotes=("`", "`"), escapes=True, name_escapes=True, double="FLOAT64",
            text="STRING", integer="INT64", infinity="inf", is_nan="IS_NAN({x})", maybe="SAFE_CAST({x} AS {double})",
            rows="SELECT", plain_names=True,
        ),
        Dialect(
            "snowflake", "Snowflake", escapes=True, is_nan="{x} = CAST('NaN' AS DOUBLE)", infinity="inf",
            maybe="TRY_TO_DOUBLE(CAST({x} AS VARCHAR))", rows="SELECT", longest=255,
        ),
        Dialect(
            "clickhouse", "ClickHouse", quotes=("`", "`"), escapes=True, name_escapes=True, double="Float64",
            own_double="Nullable(Float64)", text="Nullable(String)", column_text="String", integer="Int32",
            infinity="inf", is_nan="isNaN({x})", maybe="toFloat64OrNull(toString({x}))", rows="SELECT",
            table_end=" ENGINE = MergeTree ORDER BY tuple()", ending="SETTINGS join_use_nulls = 1",
        ),
        Dialect(
            "mysql", "MySQL", quotes=("`", "`"), text="CHAR", column_text="VARCHAR(500)", integer="SIGNED",
            escapes=True, infinity="", strict=True, same="{x} COLLATE utf8mb4_0900_bin", spelled=("0", "1"),
            after="LIMIT 18446744073709551615", longest=64, rows="SELECT",
            maybe=f"CASE WHEN CAST({{x}} AS CHAR) REGEXP '{_FIGURES_ONLY}' THEN CAST({{x}} AS {{double}}) END",
        ),
        Dialect(
            "tsql", "SQL Server", quotes=("[", "]"), prefix="N", double="FLOAT", text="NVARCHAR(4000)", log="LOG",
            integer="INT", infinity="", strict=True, same="{x} COLLATE Latin1_General_100_BIN2", rows="SELECT",
            replaced=("$(", "$' + N'("), booleans=("CAST(0 AS BIT)", "CAST(1 AS BIT)"), spelled=("0", "1"), longest=128,
        ),
    )
}  # fmt: skip


def dialect_of(name: str) -> Dialect:
    """The dialect of a name."""
    check_choice("dialect", name, list(DIALECTS))
    return DIALECTS[name]
