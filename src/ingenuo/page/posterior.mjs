// What all scorers share: the posteriors of log joints (models/classifier.py), and which value of a category is meant (tally/labels.py).
import { exp, log } from "./math.mjs";

// A value as Python writes it.
export function spell(value) {
  if (value === true) return "True";
  if (value === false) return "False";
  return Object.is(value, -0) ? "-0.0" : String(value);
}

export const IMPOSSIBLE = -1073741824; // -2^30 stands in for log 0 where every class is impossible
const FARTHEST = 1e300;

export function first_maximum(joint) {
  let best = 0;
  for (let k = 1; k < joint.length; k++) if (joint[k] > joint[best]) best = k;
  return best;
}

// The log posterior of a joint, or with `plain` the posterior; null where no class has a finite one.
export function posterior(joint, plain) {
  const top = joint[first_maximum(joint)], out = new Float64Array(joint.length);
  if (!(Math.abs(top) < Infinity)) return null;
  let total = 0;
  for (let k = 0; k < out.length; k++) total += out[k] = exp(joint[k] - top);
  const below = log(total);
  for (let k = 0; k < out.length; k++) out[k] = plain ? out[k] / total : joint[k] - top - below;
  return out;
}

// A joint by which rows that no class allows, or that are beyond the doubles, can be answered.
export function within(joint) {
  return joint.map((each) => (Number.isNaN(each) ? -FARTHEST : Math.min(Math.max(each, -FARTHEST), FARTHEST)));
}

// What every scorer that has a joint answers by: {joint, posterior, logs}.
export function answer_by(joint, row) {
  const own = joint(row);
  const found = posterior(own, false) ? own : within(joint(row, IMPOSSIBLE));
  return { joint: own, posterior: posterior(found, true), logs: posterior(found, false), before: null };
}

// A label of a text file that spells a boolean or a number, as Python writes it, stands for it too.
const BOOLEANS = { True: true, False: false, true: true, false: false, TRUE: true, FALSE: false };

function spelled(text) {
  if (Object.hasOwn(BOOLEANS, text)) return BOOLEANS[text];
  if (!/^-?\d+(\.\d+)?$/.test(text)) return text;
  const number = Number(text);
  if (!text.includes(".")) return BigInt(text).toString() === text && Number.isSafeInteger(number) ? number : text;
  const size = Math.abs(number), plain = Number.isInteger(number) ? `${number}.0` : String(number);
  return (size === 0 || (size >= 1e-4 && size < 1e16)) && (plain === text || (Object.is(number, -0) && text === "-0.0")) ? number : text;
}

const key = (value) => `${typeof value} ${value}`;
const places = new WeakMap();

// Where a value stands among those that are known, by itself or as it is spelled; -1 where it is not.
export function place(values, value) {
  if (value === null || value === undefined || Number.isNaN(value)) return -1;
  let map = places.get(values);
  if (!map) {
    map = { own: new Map(), strings: new Map(), others: new Map() };
    for (let i = values.length - 1; i >= 0; i--) {
      map.own.set(key(values[i]), i);
      if (typeof values[i] === "string") map.strings.set(key(spelled(values[i])), i);
      else map.others.set(key(values[i]), i);
    }
    places.set(values, map);
  }
  const found = map.own.get(key(value));
  if (found !== undefined) return found;
  const met = typeof value === "string" ? map.others.get(key(spelled(value))) : map.strings.get(key(value));
  return met === undefined ? -1 : met;
}

export function is_missing(value) {
  return value === null || value === undefined || Number.isNaN(value);
}
