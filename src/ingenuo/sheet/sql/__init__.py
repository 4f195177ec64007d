"""SQL from a sheet: a query that answers the rows of a table with the model's classes and probabilities.

It adds what Python adds, in the same order, in doubles: log joints that are sums and products alone have the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ingenuo.errors import InputError, KindError, check_choice
from ingenuo.sheet import Sheet
from ingenuo.sheet.sql.dialects import DIALECTS, Dialect, dialect_of
from ingenuo.sheet.sql.query import Query
from ingenuo.sheet.sql.scorers import Answer, answer
from ingenuo.sheet.sql.terms import Writer

STYLES = "select", "tables"


def sql(
    sheet: Sheet,
    *,
    dialect: str = "duckdb",
    style: str = "select",
    table: str | Sequence[str] = "rows",
    key: str | Sequence[str] | None = None,
    joint: bool = False,
) -> str:
    """A query that answers the rows of a table.

    Parameters
    ----------
    sheet : Sheet
        Of the model.
    dialect : str
        "duckdb", "sqlite", "postgres" or "spark", in which the tests run what is written; or "bigquery", "snowflake",
        "clickhouse", "mysql" or "tsql", in which they do not.
    style : {"select", "tables"}
        One SELECT that holds all the numbers; or a script that creates a table of the values of categories and words,
        and a view that joins it.
    table : str or list of str
        The table of the rows, with a column for each column of the model; of several names, such as a schema and a
        table, a list.
    key : str or list of str, optional
        The columns that name a row, which stand beside its answer; by default all the columns that the model reads.
    joint : bool
        Whether to give the log joint of each class as well, where the model has one.

    Examples
    --------
    >>> import ingenuo as ing
    >>> from ingenuo.sheet import sheet
    >>> model = ing.NaiveBayes().fit([["a", 1], ["b", 2], ["b", 3]], ["no", "yes", "yes"])
    >>> print(sql(sheet(model), table="people", key="id").splitlines()[-1])
    FROM step_5 AS s
    """
    if not isinstance(sheet, Sheet):
        raise KindError(f"SQL is written from a sheet, got {type(sheet).__name__}; give sheet(model)")
    d = dialect_of(dialect)
    check_choice("style", style, STYLES)
    names = [str(column["name"]) for column in sheet.columns]
    keys = names if key is None else [key] if isinstance(key, str) else list(key)
    query = Query(d, d.path_of(table), [d.name_of(each, f"the name of column {each[:40]!r}") for each in keys])
    writer = Writer(query, sheet.columns, len(sheet.classes))
    found = answer(sheet.scorer, writer)
    return f"{_head(sheet, d)}\n{query.write(_outputs(sheet, found, d, keys, joint))}\n"


def _head(sheet: Sheet, d: Dialect) -> str:
    run = "" if d.tested else "; not run here: written as the manual of the database has it"
    return f"-- {sheet.kind} {sheet.digest[:12]}, for {d.title}{run}"


def _outputs(sheet: Sheet, found: Answer, d: Dialect, taken: Sequence[str], joint: bool) -> list[tuple[str, str]]:
    """The class, its probability, the probability of each class, and the log joints: expressions and their names."""
    labels = [d.value(label) for label in sheet.classes]
    posteriors = found.posteriors()
    top = d.largest(found.compared)
    ways = [f"WHEN {each} = {top} THEN {label}" for each, label in zip(found.compared, labels)]
    predicted = f"CASE {' '.join(ways[:-1])} ELSE {labels[-1]} END" if len(labels) > 1 else labels[0]
    outputs = [predicted, d.largest(posteriors), *posteriors]
    wanted = ["predicted", "probability", *(f"P({label})" for label in sheet.classes)]
    if joint:
        if found.joints is None:
            raise InputError(f"a {sheet.kind} has no log joint; leave joint out")
        outputs += found.joints
        wanted += [f"joint({label})" for label in sheet.classes]
    return list(zip(outputs, _names(wanted, d, taken)))


def _names(wanted: Sequence[str], d: Dialect, taken: Sequence[str]) -> list[str]:
    """Names in quotes that differ from each other and from those that are taken, whatever the case of their letters."""
    known, found = {each.casefold() for each in taken}, []
    for name in wanted:
        if d.plain_names:
            name = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in name)
        name = _shortened(name, d.longest - 4 if d.longest else 0)
        free, number = name, 1
        while free.casefold() in known:
            free, number = f"{name}{'_' * number}" if number < 3 else f"{name}_{number}", number + 1
        known.add(free.casefold())
        found.append(d.name_of(free, "the name of a class"))
    return found


def _shortened(name: str, most: int) -> str:
    """So many bytes of a name, at most."""
    return name.encode("utf-8", "surrogatepass")[:most].decode("utf-8", "ignore") if most else name
