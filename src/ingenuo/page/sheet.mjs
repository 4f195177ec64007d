// The engine: a sheet (a document of a fitted model) is opened, and answers rows with the same bits as Python.
//
// The log joint is a start and then one term for each column, from left to right; then the posterior. Here are the terms of
// categories and counts and the scorer that adds terms up; the other modules bring theirs.
import { exp, power } from "./math.mjs";
import { answer_by, first_maximum, is_missing, place, within } from "./posterior.mjs";
import { terms as of_numbers } from "./numbers.mjs";
import { terms as of_words } from "./words.mjs";
import { terms as of_lines, scorers as by_lines } from "./linear.mjs";
import { terms as of_trees } from "./trees.mjs";
import { scorers as by_networks } from "./networks.mjs";
import { scorers as by_vote } from "./vote.mjs";
import { calibrator } from "./calibration.mjs";
import { seal } from "./seal.mjs";

const NOT_FINITE = { "-inf": -Infinity, inf: Infinity, nan: NaN };

function bytes_of(text) {
  const decoded = atob(text), bytes = new Uint8Array(decoded.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = decoded.charCodeAt(i);
  return bytes;
}

// Undoes sheet/packing.py: arrays are rows of doubles.
export function unpack(value) {
  if (Array.isArray(value)) return value.map(unpack);
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  if ("$number" in value) return NOT_FINITE[value.$number];
  if (!("$array" in value)) return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unpack(each)]));
  const shape = value.$array, size = shape.reduce((a, b) => a * b, 1);
  const numbers = Float64Array.from(value.values, (each) => (typeof each === "string" ? NOT_FINITE[each] : each));
  let flat = numbers;
  if ("at" in value) {
    const bytes = bytes_of(value.at), width = size ? bytes.length / size : 1;
    flat = new Float64Array(size);
    for (let i = 0; i < size; i++) {
      let place = 0;
      for (let b = width - 1; b >= 0; b--) place = place * 256 + bytes[i * width + b];
      flat[i] = numbers[place];
    }
  }
  return cut(flat, shape, 0, size);
}

function cut(flat, shape, first, size) {
  if (shape.length < 2) return flat.subarray(first, first + size);
  const step = shape[0] ? size / shape[0] : 0;
  return Array.from({ length: shape[0] }, (_, i) => cut(flat, shape.slice(1), first + i * step, step));
}

// Terms.

function category({ column, values, logs }, ctx) {
  return {
    columns: [column],
    add(row, out, floor) {
      const at = place(values, row[column]);
      if (at < 0) return;
      for (let k = 0; k < out.length; k++) out[k] += floor === undefined || logs[at][k] >= floor ? logs[at][k] : floor;
    },
    factors(row) {
      const name = ctx.columns[column].name, value = row[column], at = place(values, value);
      const note = is_missing(value) ? "left out" : at < 0 ? "never seen: left out" : null;
      return [{ column, of: null, name, value: is_missing(value) ? "missing" : String(value), logs: at < 0 ? null : Float64Array.from(logs[at]), note }];
    },
  };
}

// Each thing more adds the same; nothing adds nothing.
function counts({ columns, table }, ctx) {
  return {
    columns,
    add(row, out, floor) {
      columns.forEach((column, j) => {
        const x = row[column];
        if (x !== 0) for (let k = 0; k < out.length; k++) out[k] += x * (floor === undefined || table[j][k] >= floor ? table[j][k] : floor);
      });
    },
    factors(row) {
      const there = columns.map((column, j) => [column, j]).filter(([column]) => row[column] !== 0);
      return there.map(([column, j]) => ({ column, of: null, name: ctx.columns[column].name, value: String(row[column]), logs: Float64Array.from(table[j], (each) => row[column] * each), note: null }));
    },
    lengths: (row) => columns.reduce((sum, column) => sum + row[column], 0),
  };
}

// Things that are there or not. `start` and `odds` where every probability is between 0 and 1; else what is certain is apart.
function presence({ columns, present, absent, odds, start }, ctx) {
  const K = ctx.K;
  return {
    columns,
    add(row, out, floor) {
      if (odds) {
        for (let k = 0; k < K; k++) out[k] += start[k];
        columns.forEach((column, j) => {
          if (row[column] !== 0) for (let k = 0; k < K; k++) out[k] += odds[j][k];
        });
        return;
      }
      const above = (x) => (floor === undefined || x >= floor ? x : floor);
      for (let k = 0; k < K; k++) {
        let finite = 0, certain = 0, seen = 0;
        for (let j = 0; j < columns.length; j++) {
          const none = above(absent[j][k]);
          if (none === -Infinity) certain += 1;
          finite += none === -Infinity ? 0 : none;
        }
        out[k] += finite;
        columns.forEach((column, j) => {
          if (row[column] === 0) return;
          const none = above(absent[j][k]);
          if (none === -Infinity) seen += 1;
          out[k] += above(present[j][k]) - (none === -Infinity ? 0 : none);
        });
        if (seen < certain) out[k] = -Infinity;
      }
    },
    factors: (row) =>
      columns.map((column, j) => {
        const there = row[column] !== 0;
        return { column, of: null, name: ctx.columns[column].name, value: there ? String(row[column]) : "absent", logs: Float64Array.from((there ? present : absent)[j]), note: null };
      }),
    lengths: (row) => columns.reduce((sum, column) => sum + row[column], 0),
  };
}

// Terms to the power of a weight, which for long texts (or bags) may be less.
function weighted({ weight, exponent, typical, terms: inner }, ctx) {
  const own = inner.map(ctx.term);
  const of_row = (row) => {
    if (!exponent) return weight;
    const length = own.reduce((sum, term) => sum + term.lengths(row), 0);
    return weight * power((1 + length) / typical, -exponent);
  };
  return {
    columns: own.flatMap((term) => term.columns),
    additive: own.every((term) => term.additive !== false),
    add(row, out, floor) {
      if (weight === 0) return;
      const sums = new Float64Array(out.length), by = of_row(row);
      own.forEach((term) => term.add(row, sums, floor));
      for (let k = 0; k < out.length; k++) out[k] += by * sums[k];
    },
    factors(row) {
      if (weight === 0) return own.flatMap((term) => term.columns.map((column) => ({ column, of: null, name: ctx.columns[column].name, value: "", logs: null, note: "left out: weight 0" })));
      const by = of_row(row);
      return own.flatMap((term) => term.factors(row).map((each) => ({ ...each, logs: each.logs && each.logs.map((log) => by * log) })));
    },
    lengths: own.every((term) => term.lengths) ? (row) => own.reduce((sum, term) => sum + term.lengths(row), 0) : undefined,
    passages: own.some((term) => term.passages) ? (row, best, second) => own.flatMap((term) => (term.passages ? term.passages(row, best, second) : [])) : undefined,
  };
}

function sum({ start, terms: nodes, calibrate, limit }, ctx) {
  const own = nodes.map(ctx.term), calibrated = calibrate && calibrator(calibrate);
  const measured = own.filter((term) => term.lengths);
  const joint = (row, floor) => {
    const out = Float64Array.from(start, (each) => (floor === undefined || each >= floor ? each : floor));
    own.forEach((term) => term.add(row, out, floor));
    return limit ? within(out) : out;
  };
  return {
    terms: own,
    additive: own.every((term) => term.additive !== false),
    calibrated: Boolean(calibrated),
    joint,
    answer(row) {
      const found = answer_by(joint, row);
      if (!calibrated) return found;
      const logs = calibrated(found.logs, measured.length ? measured.reduce((all, term) => all + term.lengths(row), 0) : null);
      return { ...found, before: found.posterior, logs, posterior: logs.map(exp) };
    },
    factors: (row) => [{ column: null, of: null, name: "prior", value: "", logs: Float64Array.from(start), note: null }, ...own.flatMap((term) => term.factors(row))],
  };
}

const TERMS = { category, counts, presence, weighted, ...of_numbers, ...of_words, ...of_lines, ...of_trees };
const SCORERS = { sum, ...by_lines, ...by_networks, ...by_vote };

// Open a document.
export function open(packed) {
  if (!packed || packed.format !== "ingenuo-sheet") throw new Error("this is no sheet of a model");
  if (packed.version !== 1) throw new Error(`this sheet is of version ${packed.version}, and this page reads version 1`);
  const document = unpack(packed), { classes, columns } = document;
  const context = (K, labels) => {
    const ctx = { K, classes: labels, columns, document, place };
    ctx.term = (node) => {
      if (!Object.hasOwn(TERMS, node.op)) throw new Error(`the sheet has a term ${node.op}, which this page does not know`);
      return TERMS[node.op](node, ctx);
    };
    ctx.scorer = (node, size = K, own = labels) => {
      if (!Object.hasOwn(SCORERS, node.op)) throw new Error(`the sheet has a scorer ${node.op}, which this page does not know`);
      return SCORERS[node.op](node, context(size, own));
    };
    return ctx;
  };
  const scorer = context(classes.length, classes).scorer(document.scorer);
  const by_name = new Map(columns.map((column, j) => [column.name, j]));

  const cell = (column, value) => {
    if (column.kind === "number") return is_missing(value) || value === "" ? NaN : Number(value);
    if (column.kind === "count") return is_missing(value) || value === "" ? 0 : Number(value);
    if (is_missing(value)) return null;
    return column.kind === "text" ? String(value) : value;
  };
  const opened = (row) => columns.map((column) => cell(column, Object.hasOwn(row, column.name) ? row[column.name] : null));
  // What a reader must mend before a row can be answered; null where there is nothing.
  const mistake = (row) => {
    if (row === null || typeof row !== "object" || Array.isArray(row)) return `a row is an object of columns and values, and ${JSON.stringify(row)} is none`;
    for (const name of Object.keys(row)) {
      const at = by_name.get(name);
      if (at === undefined) continue;
      const value = cell(columns[at], row[name]), { kind } = columns[at];
      if (kind === "text" && !is_missing(row[name]) && typeof row[name] !== "string") return `${name} is a text, and ${JSON.stringify(row[name])} is none`;
      if (kind === "number" && (Math.abs(value) === Infinity || (Number.isNaN(value) && !is_missing(row[name]) && row[name] !== "")))
        return `${name} is a number, and ${JSON.stringify(row[name])} is none`;
      if (kind === "count" && !Number.isFinite(value)) return `${name} is a count, and ${JSON.stringify(row[name])} is none`;
    }
    return null;
  };
  const answer = (row) => {
    const found = scorer.answer(opened(row));
    return { ...found, best: first_maximum(found.posterior) };
  };
  const order_of = (shares) => Array.from(shares, (_, k) => k).sort((a, b) => shares[b] - shares[a] || a - b);
  const same = (a, b) => a.length === b.length && Array.from(a).every((each, k) => Object.is(each, b[k]) || (each === 0 && b[k] === 0));

  return {
    document, classes, columns, scorer,
    additive: scorer.additive === true,
    calibrated: scorer.calibrated === true,
    opened, mistake,
    score: answer,
    predict(row) {
      const found = answer(row), shares = {};
      classes.forEach((label, k) => (shares[String(label)] = found.posterior[k]));
      return { class: classes[found.best], probability: found.posterior[found.best], posterior: shares };
    },
    explain(row) {
      const found = answer(row);
      const factors = scorer.factors(opened(row));
      const place_of = (factor) => (factor.column === null ? -1 : factor.of ?? factor.column);
      factors.sort((a, b) => place_of(a) - place_of(b)); // sort is stable
      return { ...found, factors, order: order_of(found.posterior) };
    },
    // The texts of a row in pieces, each word with how much it speaks for a class and against another.
    passages: (row, best, second) => (scorer.passages ? scorer.passages(opened(row), best, second) : (scorer.terms || []).flatMap((term) => (term.passages ? term.passages(opened(row), best, second) : []))),
    // What a value of a column adds to the log joint of each class; null where columns do not add up.
    effect(column, value) {
      if (scorer.additive !== true) return null;
      const empty = opened({}), row = empty.slice(), out = new Float64Array(classes.length), nothing = new Float64Array(classes.length);
      row[column] = cell(columns[column], value);
      for (const term of scorer.terms) {
        if (!term.columns.includes(column)) continue;
        term.add(row, out);
        term.add(empty, nothing);
      }
      return out.map((each, k) => (nothing[k] === 0 ? each : each - nothing[k]));
    },
    // Whether the rows that Python answered are answered alike here, to the last bit. All fail where the sheet is not the
    // one that Python wrote: of many values and words the rows meet few.
    check() {
      const failed = [], { seal: sealed, ...rest } = packed, whole = seal(rest) === sealed;
      document.check.forEach((each, number) => {
        const row = Object.fromEntries(columns.map((column, j) => [column.name, each.row[j]]));
        let good = false;
        try {
          const found = answer(row);
          good = whole && same(found.posterior, each.posterior) && (each.joint === null || same(found.joint, each.joint));
        } catch {
          good = false;
        }
        if (!good) failed.push(number);
      });
      return { passed: document.check.length - failed.length, of: document.check.length, failed };
    },
  };
}
