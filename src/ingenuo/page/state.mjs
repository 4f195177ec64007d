// The question: which rows it was (Undo, Redo), how it stands in the address, and as a command or a line of Python.
//
// A question is a plain object by column name that has no missing values in it. No DOM here: node tests it.
import { spell } from "./posterior.mjs";

const WITHIN = 1000; // milliseconds in which steps of one gesture (a drag, typing in one field) are one step of Undo
const MOST = 200; // steps that are kept
export const LONGEST = 200_000; // letters of an address

export function normal(row) {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null && value !== undefined && !Number.isNaN(value)));
}

export function same(a, b) {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && Object.is(a[name], b[name]));
}

export function begin(row) {
  return { row: normal(row), past: [], future: [], gesture: null, at: 0 };
}

// Another question. `replace`: Undo does not come back to the one before. `gesture`: a name of what goes on; steps of the
// same name in a row, each soon after the last, are one.
export function ask(state, given, { replace = false, gesture = null, now = 0 } = {}) {
  const row = normal(given);
  if (same(row, state.row)) return state;
  const joined = gesture !== null && gesture === state.gesture && now - state.at < WITHIN;
  const past = replace || joined ? state.past : [...state.past.slice(-MOST), state.row];
  return { row, past, future: [], gesture, at: now };
}

export function undo(state) {
  if (!state.past.length) return state;
  return { row: state.past.at(-1), past: state.past.slice(0, -1), future: [state.row, ...state.future], gesture: null, at: 0 };
}

export function redo(state) {
  if (!state.future.length) return state;
  return { row: state.future[0], past: [...state.past, state.row], future: state.future.slice(1), gesture: null, at: 0 };
}

// The address: name=value&name=value, each escaped.

export function encode(row, columns) {
  const pieces = columns.filter(({ name }) => Object.hasOwn(row, name)).map(({ name }) => `${escaped(name)}=${escaped(spell(row[name]))}`);
  const text = pieces.join("&");
  return text.length > LONGEST ? null : text;
}

function escaped(text) {
  return encodeURIComponent(String(text).toWellFormed ? String(text).toWellFormed() : String(text));
}

// The row of an address, or null where it is none.
export function decode(hash, columns) {
  const text = hash.replace(/^#/, "");
  if (text && !text.includes("=")) return null;
  const known = new Map(columns.map((column) => [column.name, column])), row = {};
  for (const piece of text.split("&")) {
    const at = piece.indexOf("=");
    if (at < 0) continue;
    try {
      const column = known.get(decodeURIComponent(piece.slice(0, at)));
      if (column) row[column.name] = read(column, decodeURIComponent(piece.slice(at + 1)));
    } catch {
      continue; // half an escape
    }
  }
  return normal(row);
}

// A value as a column has it, from text; null where it is none.
export function read(column, text) {
  if (column.kind === "number" || column.kind === "count") {
    const number = text.trim() === "" ? NaN : Number(text);
    return Number.isFinite(number) ? number : null;
  }
  if (column.kind === "text") return text;
  const at = column.values.findIndex((value) => spell(value) === text);
  return at >= 0 ? column.values[at] : text;
}

// The same question in a terminal and in Python.

export function shell(text) {
  return /^[\w./:=@%+-]+$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function only_text(columns) {
  return columns.length === 1 && columns[0].kind === "text";
}

function quoted(text, ends) {
  const plain = text !== "" && text !== "?" && text === text.trim() && !/^['"{]/.test(text) && ![...ends].some((end) => text.includes(end));
  return plain ? text : `"${text.replaceAll('"', '""')}"`;
}

// What `--row` is given.
export function typed(row, columns) {
  if (only_text(columns)) {
    const [{ name }] = columns, text = row[name] ?? "";
    return text.startsWith(`${name}=`) ? `${name}=${text}` : text;
  }
  const given = columns.filter(({ name }) => Object.hasOwn(row, name));
  if (!given.length) return columns.length ? `${quoted(columns[0].name, "=,")}=?` : "{}";
  return given.map(({ name }) => `${quoted(name, "=,")}=${quoted(spell(row[name]), ",")}`).join(", ");
}

export function command(row, columns, file) {
  return `ingenuo explain ${shell(file)} --row ${shell(typed(row, columns))}`;
}

function literal(value) {
  if (typeof value !== "string") return spell(value);
  // JSON's escapes are Python's too, but for what ends a line only there.
  return JSON.stringify(value).replace(/[\u007f-\u009f\u2028\u2029]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function python(row, columns) {
  if (only_text(columns)) return `model.explain(${literal(row[columns[0].name] ?? "")})`;
  const given = columns.filter(({ name }) => Object.hasOwn(row, name));
  return `model.explain({${given.map(({ name }) => `${literal(name)}: ${literal(row[name])}`).join(", ")}})`;
}
