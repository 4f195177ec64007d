// What each value of each column adds to the classes: the scales of a nomogram, the curves of columns, and where a number's
// effect turns. Everything is asked of the terms that answer, so nothing here can differ from the answer.
import { exp, log } from "./math.mjs";
import { answer_by, posterior, spell } from "./posterior.mjs";
import { calibrator } from "./calibration.mjs";
import { code_of, posteriors } from "./networks.mjs";

const ALONE = 6; // nats, odds of 400 to 1: a value of such an effect leaves the others little to say
const POINTS = 200; // of a curve, and one more
const TICKS = 12; // of a number, at most
const WORDS = 10; // of a model that speak most for either class
const FINE = 512; // steps in which the turns of a curve without a formula are looked for

export const is_missing = (value) => value === null || value === undefined || value === "" || Number.isNaN(value);
export const present = (model, row, place) => {
  const value = row[model.columns[place].name];
  return is_missing(value) ? null : value;
};

// The row with other values in some columns; null takes a value out.
export function changed(model, row, values) {
  const found = { ...row };
  for (const [place, value] of values) {
    const { name } = model.columns[place];
    if (is_missing(value)) delete found[name];
    else found[name] = value;
  }
  return found;
}

// The nodes of the sheet that speak of a column, without the weights around them.
export function nodes_of(model, place) {
  const own = ({ column, columns }) => column === place || (Array.isArray(columns) && columns.includes(place));
  const within = (nodes) => nodes.flatMap((node) => (node.op === "weighted" ? within(node.terms) : own(node) ? [node] : []));
  return within(model.document.scorer.terms || []);
}

function weight_of(model, place) {
  const within = (nodes) => nodes.some((node) => node.column === place || (Array.isArray(node.columns) && node.columns.includes(place)));
  const outer = (model.document.scorer.terms || []).find((node) => node.op === "weighted" && within(node.terms));
  return outer ? outer.weight : 1;
}

const functions = new WeakMap();

// A function from a value of a column to what it adds to each class, as `model.effect`, with the terms found once.
export function effect_of(model, place) {
  if (!functions.has(model)) functions.set(model, new Map());
  const kept = functions.get(model);
  if (!kept.has(place)) kept.set(place, adder(model, place));
  return kept.get(place);
}

function adder(model, place) {
  const terms = model.scorer && model.scorer.terms;
  if (!model.additive || !terms) return (value) => model.effect(place, value);
  const own = terms.filter((term) => term.columns.includes(place)), K = model.classes.length;
  const row = model.opened({}), empty = row[place], nothing = new Float64Array(K), { kind } = model.columns[place];
  for (const term of own) term.add(row, nothing);
  return (value) => {
    const out = new Float64Array(K);
    row[place] = is_missing(value) ? empty : kind === "number" || kind === "count" ? Number(value) : kind === "text" ? String(value) : value;
    for (const term of own) term.add(row, out);
    for (let k = 0; k < K; k++) if (nothing[k] !== 0) out[k] -= nothing[k];
    return out;
  };
}

// The posterior of a class where everything is as in a row but the joints: with the calibration of that row.
// Null where the answer is not made of the joint in this way.
export function posterior_by(model, row) {
  const node = model.document.scorer, opened = model.opened(row);
  if (!model.scorer || !model.scorer.joint) return null;
  const measured = (model.scorer.terms || []).filter((term) => term.lengths);
  const length = measured.length ? measured.reduce((sum, term) => sum + term.lengths(opened), 0) : null;
  const repair = node.calibrate ? calibrator(node.calibrate) : null;
  const of = (joint) => {
    const found = answer_by((_, floor) => (floor === undefined ? joint : joint.map((each) => Math.max(each, floor))), null);
    return repair ? repair(found.logs, length).map(exp) : found.posterior;
  };
  const own = model.score(row);
  const same = posterior(own.joint, true) === null || of(own.joint).every((each, k) => Math.abs(each - own.posterior[k]) < 1e-9);
  return same ? of : null;
}

// Round numbers between two, at most about so many.
export function round_values(low, high, about, whole = false) {
  if (!(high > low)) return [];
  let step = 10 ** Math.floor(Math.log10((high - low) / about));
  step *= [1, 2, 5, 10].find((each) => (high - low) / (each * step) <= about);
  if (whole) step = Math.max(step, 1);
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

// A step in which a number of a column can be read: a two-hundredth of its range or less, or 1 of whole numbers.
export function readable_step({ low, high, whole }) {
  return whole ? 1 : 10 ** Math.floor(Math.log10(Math.max(high - low, 1e-300)) - 2.3);
}
export function on_step(x, step, way = Math.round) {
  const digits = Math.min(100, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  return Number((way(x / step) * step).toFixed(digits));
}

// Between which numbers a column is looked at; null where the model does not say.
export function reach(column) {
  if (column.kind === "count") return { low: 0, high: Math.max(1, Math.ceil(column.high ?? 10)), whole: true };
  if (!Number.isFinite(column.low) || !Number.isFinite(column.high) || !(column.high > column.low)) return null;
  return { low: column.low, high: column.high, whole: column.whole === true };
}

// Where the effects of numbers turn.

const before = (x) => x - Math.max(Math.abs(x) * 2 ** -52, 2 ** -1074); // a neighbour among the doubles, or close to it

function bells({ means, inverse }) {
  const found = [];
  for (let a = 0; a < means.length; a++)
    for (let b = 0; b < a; b++) {
      const [p, q] = [inverse[a] ** 2, inverse[b] ** 2];
      if (p !== q) found.push((means[a] * p - means[b] * q) / (p - q));
    }
  return found;
}

// Of the formulas in families/positive.py: where the difference of two classes turns, and where a density has its mode.
const TURNS = {
  "log-normal": (m, s, n, t) => Math.exp((m / s ** 2 - n / t ** 2) / (1 / s ** 2 - 1 / t ** 2)),
  gamma: (k, s, l, t) => (k - l) / (1 / s - 1 / t),
  exponential: () => NaN,
};
const MODES = { "log-normal": (m, s) => Math.exp(m - s * s), gamma: (k, s) => Math.max(0, (k - 1) * s), exponential: () => 0 };
const LEAST = -700; // a bounded formula is level where it is less, so it turns there too

function formulas({ name, first, values }, range, logs) {
  const K = values[0].length, of = (k) => values.map((each) => each[k]), start = first || 0, found = [before(start), start, start + 2 ** -1000];
  for (let a = 0; a < K; a++) {
    const mode = start + MODES[name](...of(a)), ends = [start, Math.max(range.high, mode)];
    found.push(mode);
    for (let b = 0; b < a; b++) found.push(start + TURNS[name](...of(a), ...of(b)));
    for (const end of ends) {
      let [good, bad] = [mode, end];
      for (let i = 0; i < 200 && good !== bad; i++) {
        const middle = good + (bad - good) / 2;
        if (middle === good || middle === bad) break;
        if (logs(middle)[a] > LEAST) good = middle;
        else bad = middle;
      }
      found.push(good, bad);
    }
  }
  return found;
}

// Of a linear model: straight between the knots of a feature, and level where it is cut off.
function lines({ design, farthest }, range, logs, place) {
  return design.filter(({ column, number }) => column === place && number).flatMap(({ knots, centre, scale }) => {
    const far = Math.min(8, farthest);
    return knots.length ? Array.from(knots) : [centre - far * scale, centre + far * scale];
  });
}

const WHOLE = new Set(["poisson", "negative-binomial"]);
const wholes = (node, range) => range !== null && [node, node.others].some((each) => each && WHOLE.has(each.name));

const KNOTS = {
  gaussian: bells,
  slopes: () => [],
  products: lines,
  formula: formulas,
  "bounded formula": formulas,
  "values or": (node, range, logs) => formulas(node.others, range, logs),
  silent: () => [],
  states: (node) => (node.means ? bells(node) : []),
  curve: ({ points, inverse, origin, scale, more, straight }) =>
    Array.from({ length: points.length }, (_, i) => (i / inverse + origin) / more / scale).flatMap((x) => (straight ? [x] : [before(before(x)), before(x), x])),
};

// {isolated: values that stand by themselves, between: whether any other number says something, knots: numbers between
// which the difference of any two classes only rises or only falls}; of formulas without one, a fine grid.
export function shape(model, place) {
  const column = model.columns[place], range = reach(column), nodes = nodes_of(model, place);
  const whole = () => Array.from({ length: Math.min(2000, Math.floor(range.high) + 1) }, (_, i) => i);
  const isolated = nodes.flatMap((node) =>
    wholes(node, range) ? whole() : node.op === "states" ? Array.from(node.points, (_, i) => node.low + i) : node.op === "values or" ? Array.from(node.values) : [],
  );
  const between = nodes.some((node) => !wholes(node, range) && (node.op !== "states" || node.means)) || !nodes.length;
  if (!range) return { isolated, between: false, knots: [] };
  const grid = () => Array.from({ length: FINE - 1 }, (_, i) => range.low + ((range.high - range.low) * (i + 1)) / FINE);
  const known = nodes.length > 0 && nodes.every((node) => Object.hasOwn(KNOTS, node.op));
  if (!between) return { isolated, between, knots: [] };
  const knots = known ? nodes.flatMap((node) => KNOTS[node.op](node, range, effect_of(model, place), place)) : grid();
  if (known && nodes.some((node) => node.op === "curve")) knots.push(...grid()); // beyond its table a curve is no line
  const inside = knots.filter((x) => Number.isFinite(x) && x > range.low && x < range.high);
  return { isolated, between, knots: [...new Set([range.low, ...inside, range.high])].sort((a, b) => a - b) };
}

// Of a thing that is there or not: the counts that stand for the two; null of other columns.
export function presence_of(model, place) {
  const node = nodes_of(model, place).find(({ op }) => op === "presence" || op === "presence above");
  return node ? [0, Math.max(1, Math.floor(node.above ?? 0) + 1)] : null;
}

// Nomograms.

function span(scale) {
  const finite = [0, ...scale.ticks.map((tick) => tick.effect), ...scale.curve.map(([, effect]) => effect)].filter(Number.isFinite);
  const least = Math.min(...finite);
  return { ...scale, least, width: Math.max(...finite) - least };
}

const minus = (value) => String(value).replace("-", "−");

function number_scale(model, place, of) {
  const column = model.columns[place], range = reach(column);
  const scale = { place, name: column.name, kind: "number", ticks: [], curve: [], note: null };
  if (!range) return span(scale);
  const { isolated, between } = shape(model, place), own = new Set(isolated);
  if (!between) {
    const values = isolated.filter((x) => x >= range.low && x <= range.high), few = values.length <= 24 ? values : round_values(range.low, range.high, TICKS, true);
    return span({ ...scale, discrete: true, ticks: few.map((value) => ({ label: minus(value), value, effect: of(value) })) });
  }
  const apart = (x) => (own.has(x) ? x + (range.high - range.low) * 1e-9 : x); // the curve runs beside the states
  const grid = (low, high) => Array.from({ length: POINTS + 1 }, (_, i) => (i === POINTS ? high : low + ((high - low) * i) / POINTS));
  let xs = grid(range.low, range.high), { low, high } = range;
  const fine = xs.map((x) => Math.abs(of(apart(x))) <= ALONE);
  // The stretch around the middle in which other columns still have a say; beyond it, no other could be read.
  if (fine.includes(true) && fine.includes(false)) {
    const half = POINTS / 2;
    let middle = fine.indexOf(true);
    fine.forEach((each, i) => each && Math.abs(i - half) < Math.abs(middle - half) && (middle = i));
    let first = middle, last = middle;
    while (first > 0 && fine[first - 1]) first -= 1;
    while (last < POINTS && fine[last + 1]) last += 1;
    if (first < last) [low, high] = [xs[first], xs[last]];
  }
  xs = grid(low, high);
  const curve = xs.map((x) => [x, of(apart(x))]).filter(([, effect]) => Number.isFinite(effect));
  const wanted = round_values(low, high, TICKS, range.whole), marks = isolated.length <= 24 ? isolated.filter((x) => x >= low && x <= high && !wanted.includes(x)) : [];
  const ticks = [...wanted, ...marks].sort((a, b) => a - b).map((value) => ({ label: minus(Number(value.toPrecision(6))), value, effect: of(value), alone: own.has(value) }));
  const cut = [["below", low, low > range.low], ["above", high, high < range.high]].filter(([, , is]) => is).map(([what, end]) => [what, end]);
  return span({ ...scale, ticks, curve, cut });
}

const lists = new WeakMap(); // of each text term: its words, and those that speak most for pairs of classes

// The words of a text column that speak most for either of two classes, and are not rare, with what one occurrence adds to
// the log odds: [{word, effect}]. Words only, not n-grams.
export function strongest_words(model, place, yes, no, most = WORDS) {
  const node = nodes_of(model, place).find(({ op }) => op === "words");
  if (!node || !node.words) return [];
  if (!lists.has(node)) lists.set(node, { words: unpack_words(node.words), pairs: new Map() });
  const { words, pairs } = lists.get(node), key = `${yes} ${no}`;
  if (!pairs.has(key)) {
    if (pairs.size > 50) pairs.clear();
    pairs.set(key, rated_words(node, words, yes, no, weight_of(model, place)));
  }
  const rated = pairs.get(key);
  return [...rated.slice(0, most).filter((each) => each.strength > 0), ...rated.slice(Math.max(most, rated.length - most)).filter((each) => each.strength < 0)];
}

// As words.mjs has them: each by how many letters it has in common with the one before it, and the others.
function unpack_words({ text, between }) {
  let word = "";
  return text === "" ? [] : text.split(between).map((each) => (word = word.slice(0, each.charCodeAt(0) - 48) + each.slice(1)));
}

// The forty strongest for either class: by the effect of a word times the root of how often it can be expected, where that
// is known; for a rare word's large effect is hardly ever met, and an effect of a word that is everywhere hardly one.
function rated_words(node, words, yes, no, by) {
  const n = words.length, logs = [new Float64Array(n), new Float64Array(n)], shares = [0, 0];
  for (let i = 0, at = 0; i < n; at += node.counts[i], i++) {
    const weight = node.weights ? node.weights[i] : 1, base = node.base ? node.base[i] : 0, used = !node.used || node.used[i];
    for (const [side, k] of [[0, yes], [1, no]]) logs[side][i] = used ? node.constant[k] * weight + base : NaN;
    for (let c = at; used && c < at + node.counts[i]; c++) {
      if (node.codes[c] === yes) logs[0][i] += node.values[c];
      if (node.codes[c] === no) logs[1][i] += node.values[c];
    }
    if (used) for (const side of [0, 1]) shares[side] += exp(Math.min(logs[side][i], 0));
  }
  const likely = shares.every((each) => each > 0.3 && each < 3), rated = [];
  for (let i = 0; i < n; i++) {
    const effect = by * (logs[0][i] - logs[1][i]);
    if (Number.isFinite(effect)) rated.push({ word: words[i], effect, strength: effect * (likely ? Math.sqrt(exp(Math.min(logs[0][i], 0)) + exp(Math.min(logs[1][i], 0))) : 1) });
  }
  rated.sort((one, other) => other.strength - one.strength);
  return rated.length > 80 ? [...rated.slice(0, 40), ...rated.slice(-40)] : rated;
}

function text_scale(model, place, yes, no, row) {
  const column = model.columns[place], ticks = strongest_words(model, place, yes, no).map(({ word, effect }) => ({ label: word, value: word, effect, here: 0 }));
  const known = new Map(ticks.map((tick) => [tick.value, tick]));
  for (const { name, value, logs } of model.explain(row).factors.filter((factor) => factor.of === place && factor.logs)) {
    const times = Number(String(value).slice(1)) || 1, effect = (logs[yes] - logs[no]) / times;
    if (known.has(name)) known.get(name).here = times;
    else ticks.push({ label: name, value: name, effect, here: times });
  }
  const here = ticks.filter((tick) => tick.here).sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect)), listed = new Set(here.slice(0, 2 * WORDS));
  return { ...span({ place, name: column.name, kind: "text", ticks: ticks.filter((tick) => !tick.here || listed.has(tick)), curve: [], note: null }), least: 0 };
}

// The scales of all columns but those of texts, the widest first: what each value adds to the log odds of two classes.
export function value_scales(model, yes, no) {
  const found = [];
  model.columns.forEach((column, place) => {
    if (column.kind === "text") return;
    const logs = effect_of(model, place), of = (value) => {
      const each = logs(value);
      return each[yes] - each[no];
    };
    if (column.kind === "number") found.push(number_scale(model, place, of));
    else if (column.kind === "category") {
      const ticks = (column.values || []).map((value) => ({ label: spell(value), value, effect: of(value) }));
      found.push(span({ place, name: column.name, kind: "category", ticks, curve: [], note: null }));
    } else {
      const here = presence_of(model, place), there = here !== null;
      const values = here ?? round_values(0, reach(column).high, TICKS, true);
      const ticks = values.map((value) => ({ label: there ? ["absent", "there"][value] : String(value), value, effect: of(value) }));
      found.push(span({ place, name: column.name, kind: there ? "category" : "count", ticks, curve: [], note: null, words: there }));
    }
  });
  return found.sort((a, b) => b.width - a.width);
}

// A nomogram of a question: points of every column, and how a total becomes log odds.
//     log odds = base + total / unit,    points = (effect - least) · unit
export function nomogram(model, row, yes, no, scales = value_scales(model, yes, no)) {
  const texts = model.columns.flatMap((column, place) => (column.kind === "text" ? [text_scale(model, place, yes, no, row)] : []));
  const every = [...scales, ...texts].sort((a, b) => b.width - a.width);
  const widest = scales.length ? scales[0].width : texts.length ? Math.max(...texts.map((each) => each.width)) : 0;
  const unit = widest > 0 ? 100 / widest : 1;
  const found = every.map((scale) => {
    const value = present(model, row, scale.place), logs = value === null ? null : effect_of(model, scale.place)(value);
    const effect = logs ? logs[yes] - logs[no] : 0;
    return { ...scale, value, effect, points: (effect - scale.least) * unit, missing: (0 - scale.least) * unit };
  });
  const odds = (joint) => joint[yes] - joint[no];
  const empty = odds(model.score({}).joint), base = empty + found.reduce((sum, scale) => sum + scale.least, 0);
  const score = model.score(row), now = odds(score.joint), total = (now - base) * unit;
  const sum = found.reduce((all, scale) => all + scale.points, 0), other = total - sum; // not of one column alone: lengths of texts
  return { scales: found, unit, base, total, odds: now, other: Number.isFinite(other) && Math.abs(other) > 1e-6 * (1 + Math.abs(total)) ? other : 0, score, yes, no };
}

export const share_of = (p, yes, no) => (p[yes] + p[no] > 0 ? p[yes] / (p[yes] + p[no]) : p[yes] >= p[no] ? 1 : 0);

// From a total of points to the share of `yes` among the two classes, all other classes as in this answer; null where the
// answer does not follow from the total.
export function probability_by(model, row, { yes, no, unit, base, score }) {
  const of = posterior_by(model, row);
  if (!of || !score.joint.every(Number.isFinite)) return null;
  return (total) => {
    const joint = Float64Array.from(score.joint);
    joint[yes] = joint[no] + base + total / unit;
    return share_of(of(joint), yes, no);
  };
}

export const LEVELS = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

// Totals at which the probability passes each level: [[p, total]], as far as it does.
export function levels(at, { unit, base }) {
  const [least, most] = [-60, 60].map((odds) => (odds - base) * unit), ends = [at(least), at(most)];
  return LEVELS.flatMap((p) => {
    if (!(ends[0] < p && p < ends[1])) return [];
    let [low, high] = [least, most];
    for (let i = 0; i < 60; i++) {
      const middle = (low + high) / 2;
      if (at(middle) < p) low = middle;
      else high = middle;
    }
    return [[p, high]];
  });
}

// Columns.

const SHARES = new Set(["category", "gaussian", "states", "curve", "formula", "bounded formula", "values or", "presence", "presence above"]);

// How a column looks in each class: {kind: "shares" | "density" | "alone" | "words", values, of: [per value][per class],
// states: the same of numbers that are states}. "alone" is the posterior with this value and no other.
export function distribution(model, place) {
  const column = model.columns[place], nodes = nodes_of(model, place), by = weight_of(model, place), K = model.classes.length;
  if (column.kind === "text") return { kind: "words", values: [], of: [] };
  const likely = model.additive && by > 0 && nodes.length === 1 && nodes.every(({ op }) => SHARES.has(op));
  if (!likely) return alone(model, place);
  const logs = effect_of(model, place), shares = (value) => logs(value).map((each) => exp(each / by));
  if (column.kind === "category") return { kind: "shares", values: column.values, of: column.values.map(shares) };
  const [node] = nodes;
  if (column.kind === "count") {
    const j = node.columns.indexOf(place);
    return { kind: "shares", values: presence_of(model, place), names: ["absent", "there"], of: [node.absent[j].map(exp), node.present[j].map(exp)] };
  }
  const states = Array.from(node.values || []), range = reach(column);
  const of_states = states.map((value) => (node.logs ? node.logs[node.values.indexOf(value)].map(exp) : shares(value)));
  const { between } = shape(model, place);
  if (!between || !range) return { kind: "shares", values: states, of: of_states };
  const own = new Set(shape(model, place).isolated);
  const room = range.high - range.low, values = Array.from({ length: POINTS + 1 }, (_, i) => range.low + (room * i) / POINTS).map((x) => (own.has(x) ? x + room * 1e-9 : x));
  return { kind: "density", values, of: values.map(shares), states, of_states };
}

function alone(model, place) {
  const column = model.columns[place], range = reach(column);
  let values = [];
  if (column.values && column.values.length && column.kind !== "count") values = Array.from(column.values);
  else if (range) values = column.kind === "count" || range.whole ? round_values(range.low, range.high, 40, true) : Array.from({ length: 49 }, (_, i) => on_step(range.low + ((range.high - range.low) * i) / 48, readable_step(range)));
  const lined = column.kind !== "category";
  return { kind: "alone", lined, values, of: values.map((value) => model.score({ [column.name]: value }).posterior), shares: shares_of(model, column, values) };
}

const ignorant = new WeakMap(); // of a network: what it believes while nothing is known

// How probable each value of a column is, where a network says it; null elsewhere.
function shares_of(model, column, values) {
  const { network } = model.document, node = network ? network.nodes.findIndex((each) => each.column === column.name) : -1;
  if (node < 0) return null;
  if (!ignorant.has(network)) ignorant.set(network, posteriors(network, network.nodes.map(() => -1)));
  const { marginals } = ignorant.get(network);
  if (!marginals) return null;
  const codes = values.map((value) => code_of(network.nodes[node], network.match, value));
  return codes.map((code) => (code < 0 ? 0 : marginals[node][code] / codes.filter((each) => each === code).length));
}

const bits = (priors, of) => {
  let sum = 0;
  const total = new Float64Array(priors.length);
  for (const each of of) for (let k = 0; k < priors.length; k++) total[k] += Number.isFinite(each[k]) ? each[k] : 0;
  for (const each of of) {
    let all = 0;
    const shares = priors.map((prior, k) => (total[k] > 0 ? each[k] / total[k] : 0));
    priors.forEach((prior, k) => (all += prior * shares[k]));
    priors.forEach((prior, k) => shares[k] > 0 && prior > 0 && (sum += prior * shares[k] * log(shares[k] / all)));
  }
  return Math.max(0, sum / Math.LN2);
};

// How much a column says of the class, in bits, as far as its own picture shows it: Σ p(k) p(v|k) log p(v|k)/p(v). Of what
// has no shares, the mean divergence of the answer by one value from the answer by none: each value as often as a network
// expects it; elsewhere all equally often, which orders columns and is no information.
export function information(model, found) {
  const total = Array.from(model.document.priors).reduce((sum, each) => sum + each, 0) || 1;
  const priors = Array.from(model.document.priors, (each) => each / total);
  if (found.kind === "words") return Infinity;
  if (found.kind === "alone") {
    const none = model.score({}).posterior;
    const each = found.of.map((p) => p.reduce((sum, share, k) => sum + (share > 0 && none[k] > 0 ? share * log(share / none[k]) : 0), 0));
    const weights = found.shares || each.map(() => 1), all = weights.reduce((sum, one) => sum + one, 0);
    return all > 0 ? Math.max(0, each.reduce((sum, one, i) => sum + weights[i] * one, 0) / all / Math.LN2) : 0;
  }
  if (found.kind === "density" && found.states.length) {
    const held = priors.map((_, k) => found.of_states.reduce((sum, each) => sum + each[k], 0));
    const size = priors.map((_, k) => found.of.reduce((sum, each) => sum + each[k], 0));
    const rest = found.of.map((each) => each.map((one, k) => (size[k] > 0 ? (one / size[k]) * Math.max(0, 1 - held[k]) : 0)));
    return bits(priors, [...found.of_states, ...rest]);
  }
  return bits(priors, found.of);
}
