"""A model as one module of JavaScript: the engine of the page and the sheet of the model, for node and browsers."""

from __future__ import annotations

from ingenuo import __version__
from ingenuo.errors import KindError
from ingenuo.page.link import link
from ingenuo.sheet import Sheet

_MODULE = """\
// A model that answers rows with the same bits as Python: %(kind)s of ingenuo %(version)s, SHA-256 %(digest)s.
//
//   import { predict, explain } from "./model.mjs";
//   predict({ column: value, … })   // { class, probability, posterior: { class: p } }
//   explain({ column: value, … })   // the same, and what each column adds to the log of each class
//
// A column that is left out, null or undefined is missing. `check()` answers 32 rows that Python has answered.
%(engine)s
const model = open(%(sheet)s);
const asked = (row) => {
  const wrong = model.mistake(row);
  if (wrong) throw new TypeError(wrong);
  return row;
};
const by_class = (numbers) => Object.fromEntries(model.classes.map((label, k) => [String(label), numbers[k]]));
const answer = ({ best, posterior }) => {
  return { class: model.classes[best], probability: posterior[best], posterior: by_class(posterior) };
};

export const classes = model.classes, columns = model.columns;
export const check = () => model.check();
export const predict = (row) => answer(model.score(asked(row)));
export const explain = (row) => {
  const found = model.explain(asked(row));
  const called = (place) => (place === null ? null : columns[place].name);
  const factors = found.factors.map(({ column, of, name, value, logs, note }) => {
    return { column: called(column), text: called(of), name, value, note, logs: logs && by_class(logs) };
  });
  const more = { joint: found.joint && by_class(found.joint), before: found.before && by_class(found.before) };
  return { ...answer(found), factors, ...more };
};
"""


def javascript(sheet: Sheet) -> str:
    """A module of JavaScript that answers rows as the model of a sheet does, with the same bits.

    It runs in node 18 and later, and in browsers, and needs nothing beside it. It has `predict(row)`, `explain(row)`,
    `check()`, `classes` and `columns`.

    >>> import ingenuo as ing
    >>> from ingenuo.sheet import sheet
    >>> text = javascript(sheet(ing.NaiveBayes().fit([["a", 1], ["b", 2]], ["no", "yes"])))
    >>> [line.split(" = ")[0] for line in text.splitlines() if line.startswith("export")]
    ['export const classes', 'export const check', 'export const predict', 'export const explain']
    """
    if not isinstance(sheet, Sheet):
        raise KindError(f"JavaScript is written from a sheet, got {type(sheet).__name__}; give sheet(model)")
    document = sheet.to_json().replace("</", "<\\/")  # so that it may stand in a page
    parts = {"kind": sheet.kind, "version": __version__, "digest": sheet.digest, "engine": link("sheet.mjs")}
    return _MODULE % {**parts, "sheet": document}
