"""SQL from a sheet: a query that answers the rows of a table with the model's classes and probabilities.

It adds what Python adds, in the same order, in doubles: log joints that are sums and products alone have the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ingenuo.errors import InputError, KindError, check_choice
from ingenuo.sheet import Sheet
from ingenuo.sheet.sql import features, numbers, scorers, terms
from ingenuo.sheet.sql.dialects import Dialect, dialect_of
from ingenuo.sheet.sql.query import Query
from ingenuo.sheet.sql.scorers import Answer, answer
from ingenuo.sheet.sql.tables import Store
from ingenuo.sheet.sql.terms import Writer

TERMS = {**numbers.TERMS, **terms.TERMS, **features.TERMS}
SCORERS = {**scorers.SCORERS, **features.SCORERS}
STYLES = "select", "tables"


def sql(
    sheet: Sheet,
    *,
    dialect: str = "duckdb",
    style: str = "select",
    table: str | Sequence[str] = "rows",
    key: str | Sequence[str] | None = None,
    words: str | Sequence[str] = "words",
    name: str = "ingenuo",
    joint: bool = False,
) -> str:
    """SQL that answers the rows of a table: a query, or a script that makes a table and a view.

    Parameters
    ----------
    sheet : Sheet
        Of the model.
    dialect : str
        "duckdb", "sqlite", "postgres" or "spark", in which the tests run what is written; or "bigquery", "snowflake",
        "clickhouse", "mysql" or "tsql", in which they do not.
    style : {"select", "tables"}
        One SELECT that holds all the numbers; or a script that creates a table of what the values of categories and the
        words of texts add, and a view that joins it.
    table : str or list of str
        The table of the rows, with a column for each column of the model; of several names, such as a schema and a
        table, a list.
    key : str or list of str, optional
        The columns that name a row, which stand beside its answer; by default all the columns that the model reads.
    words : str or list of str
        With style="tables", the table of the words of texts: the columns of the key, and `word`, a row for each
        occurrence; of several texts also `text`, the name of the column.
    name : str
        With style="tables", the beginning of the names of what is created: name_terms and name_predictions.
    joint : bool
        Whether to give the log joint of each class as well, where the model has one.

    Examples
    --------
    >>> import ingenuo as ing
    >>> from ingenuo.sheet import sheet
    >>> model = ing.NaiveBayes().fit([["a", 1], ["b", 2], ["b", 3]], ["no", "yes", "yes"])
    >>> print(sql(sheet(model), table="people", key="id").splitlines()[-1])
    FROM step_6 AS s;
    """
    own = statements(sheet, dialect=dialect, style=style, table=table, key=key, words=words, name=name, joint=joint)
    return ";\n".join(own) + ";\n"


def statements(
    sheet: Sheet,
    *,
    dialect: str = "duckdb",
    style: str = "select",
    table: str | Sequence[str] = "rows",
    key: str | Sequence[str] | None = None,
    words: str | Sequence[str] = "words",
    name: str = "ingenuo",
    joint: bool = False,
) -> list[str]:
    """The same as `sql`, a statement each: the last one is the query, or makes the view."""
    if not isinstance(sheet, Sheet):
        raise KindError(f"SQL is written from a sheet, got {type(sheet).__name__}; give sheet(model)")
    d = dialect_of(dialect)
    check_choice("style", style, STYLES)
    names, texts = ([str(column["name"]) for column in some] for some in (sheet.columns, _texts(sheet)))
    keys = names if key is None else [key] if isinstance(key, str) else list(key)
    labels = [str(label) for label in sheet.classes]
    store = None
    if style == "tables":
        if texts and key is None:
            raise InputError(
                "words are joined to their row by a key; name the columns that have it: key='id'"
            ).typed_as("key='id'", "--key id")
        store = Store(d, d.name_of(f"{name}_terms"), d.path_of(words), keys, texts)
    kept = [d.name_of(each, f"the name of column {each[:40]!r}") for each in keys]
    query = Query(d, d.path_of(table), kept, [] if store is None else [store.table, store.words])
    writer = Writer(query, sheet.columns, len(labels), labels, TERMS, SCORERS, store)
    found = answer(sheet.scorer, writer)
    body, head = query.write(_outputs(sheet, found, query, keys, joint)), _head(sheet, d, writer.notes)
    if store is None:
        return [f"{head}\n{body}"]
    first, *others = store.statements()
    return [f"{head}\n{first}", *others, f"CREATE VIEW {d.name_of(f'{name}_predictions')} AS\n{body}"]


def _texts(sheet: Sheet) -> list[dict[str, Any]]:
    return [column for column in sheet.columns if column["kind"] == "text"]


def _head(sheet: Sheet, d: Dialect, notes: Sequence[str]) -> str:
    run = "" if d.tested else "; not run here: written as the manual of the database has it"
    said = [f"{note[:1].upper()}{note[1:]}." for note in notes]
    lines = [f"{sheet.kind} {sheet.digest[:12]}, for {d.title}{run}", *said]
    return "\n".join("-- " + " ".join(line.split()) for line in lines)  # one line each, whatever columns are called


def _outputs(sheet: Sheet, found: Answer, query: Query, taken: Sequence[str], joint: bool) -> list[tuple[str, str]]:
    """The class, its probability, the probability of each class, and the log joints: expressions and their names."""
    d = query.dialect
    labels, posteriors = [d.value(label) for label in sheet.classes], found.posteriors()
    top, most = (query.let(d.largest(each), "top") for each in (found.compared, found.shares))
    ways = [f"WHEN {each} = {top} THEN {label}" for each, label in zip(found.compared, labels)]
    predicted = f"CASE {' '.join(ways)} END"  # nothing where there is no answer
    outputs = [predicted, most if found.total is None else f"{most} / {found.total}", *posteriors]
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
        name = name.replace(d.replaced[0], d.replaced[0][1:]) if d.replaced[0] else name
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
