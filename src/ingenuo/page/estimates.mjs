// A model of sums without one of its rows: the row is taken from the sums of a sheet, exactly, and what the answers are made
// of is estimated again, with the same bits as Python's forget (tally/, families/, models/class_prior.py).
import { log, exp, power, scale_by_two } from "./math.mjs";
import { is_missing, place } from "./posterior.mjs";

const LEAST = 2.2250738585072014e-308, LARGEST = Number.MAX_VALUE;
const HALF_LOG_2PI = 0.9189385332046727, DEVIATIONS = 1e150;
const REACH = 1000; // whole numbers that are counted one by one
const MOST = 20, BESIDE = 3, SHARE = 0.05, ENOUGH = 10, ROWS = 2, WIDEST = 0.5, LEAST_LOG = -700; // of families/states.py
const FRACTIONS = 500; // that an answer lists
const ONLY = "only rows that were learned can be forgotten";

// Exact numbers: a whole number times a power of two.

const size_of = (n) => (n < 0n ? -n : n);

function bit_length(n) {
  const text = size_of(n).toString(16);
  return n === 0n ? 0 : 4 * text.length - 4 + 32 - Math.clz32(parseInt(text[0], 16));
}

// top · 2^shift / bottom as the nearest double; 0 where the bottom is 0.
export function ratio(top, bottom, shift) {
  if (bottom === 0n || top === 0n) return 0;
  let above = size_of(top), below = size_of(bottom);
  const lift = 66 - bit_length(above) + bit_length(below);
  if (lift > 0) above <<= BigInt(lift);
  else below <<= BigInt(-lift);
  let whole = above / below;
  if (whole * below !== above) whole |= 1n; // somewhat more than this, which decides where it would be halfway
  const end = bit_length(whole) + shift - lift; // the number is less than 2^end
  const sign = top < 0n === bottom < 0n ? 1 : -1;
  const kept = Math.min(53, end + 1074);
  if (end > 1024 || kept < 0) return end > 1024 ? sign * Infinity : 0 * sign;
  const drop = BigInt(bit_length(whole) - kept), half = 1n << (drop - 1n), rest = whole & ((1n << drop) - 1n);
  let digits = whole >> drop;
  if (rest > half || (rest === half && digits & 1n)) digits += 1n;
  return sign * scale_by_two(Number(digits), end - kept);
}

const view = new DataView(new ArrayBuffer(8));

// A double as it is.
function exact(x) {
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0), power = Number((bits >> 52n) & 2047n), digits = bits & 0xfffffffffffffn;
  const n = power ? digits | 0x10000000000000n : digits;
  return { n: x < 0 ? -n : n, exponent: (power || 1) - 1075 };
}

const read = ({ exponent, cells }) => ({ exponent, cells: cells.map(BigInt) });
const floats = ({ exponent, cells }) => Float64Array.from(cells, (n) => ratio(n, 1n, exponent));
const signed = ({ exponent, cells }, at) => ratio(cells[at], 1n, exponent);
const picked = ({ exponent, cells }, places) => ({ exponent, cells: places.map((at) => cells[at]) });

// Both by the lower of two exponents.
function aligned(a, ea, b, eb) {
  return ea > eb ? [a << BigInt(ea - eb), b, eb] : [a, b << BigInt(eb - ea), ea];
}

function less(sums, at, { n, exponent }) {
  const low = Math.min(sums.exponent, exponent), cells = sums.cells.map((each) => each << BigInt(sums.exponent - low));
  cells[at] -= n << BigInt(exponent - low);
  return { exponent: low, cells };
}

// Sums of doubles, in the orders in which NumPy adds them.

function pairwise(x, first = 0, n = x.length) {
  if (n > 128) {
    const half = Math.floor(n / 2) - (Math.floor(n / 2) % 8);
    return pairwise(x, first, half) + pairwise(x, first + half, n - half);
  }
  let all = 0, at = 0;
  if (n >= 8) {
    const own = x.slice(first, first + 8);
    for (at = 8; at < n - (n % 8); at += 8) for (let i = 0; i < 8; i++) own[i] += x[first + at + i];
    all = own[0] + own[1] + (own[2] + own[3]) + (own[4] + own[5] + (own[6] + own[7]));
  }
  for (; at < n; at++) all += x[first + at];
  return all;
}

const in_turn = (x) => x.reduce((all, each) => all + each, 0);
const column_of = (table, j) => Float64Array.from(table, (row) => row[j]);
const rows_of = (flat, K) => Array.from({ length: K }, (_, k) => flat.slice((k * flat.length) / K, ((k + 1) * flat.length) / K));
const maximum = (a, b) => Math.max(a, b);

// (count + a) / (N + Σ a) for each class; the whole column's frequencies where that is 0/0. `upright`: one column of the table
// after the other lies in Python's memory.
function frequencies(counts, pseudo, upright) {
  const K = counts.length, J = pseudo.length, down = upright || J === 1 ? pairwise : in_turn;
  const flat = upright ? Array.from(pseudo, (_, j) => [...column_of(counts, j)]).flat() : counts.flatMap((row) => [...row]);
  const every = pairwise(flat), some = flat.some((n) => n !== 0);
  const whole = Float64Array.from(pseudo, (_, j) => (some ? down(column_of(counts, j)) / maximum(every, LEAST) : 1 / Math.max(J, 1)));
  return counts.map((row) => {
    const above = row.map((n, j) => n + pseudo[j]), below = (upright && K > 1 ? in_turn : pairwise)(above);
    return below > 0 ? above.map((each) => each / below) : whole;
  });
}

// Gaussians.

const scatter = ([n, s, q], [en, es, eq]) => {
  const [a, b, low] = aligned(n * q, en + eq, s * s, 2 * es);
  return [a - b, low];
};
const added = (cells) => cells.reduce((all, each) => all + each, 0n);

function gaussian([n, s, q], { floor, rows, unbiased }) {
  const powers = [n.exponent, s.exponent, q.exponent], every = [n, s, q].map(({ cells }) => added(cells));
  const [whole, low] = scatter(every, powers), below = every[0];
  const unit = whole && below ? Math.floor((bit_length(whole) + low - 2 * (bit_length(below) + powers[0])) / 2) : 0;
  const variance = (spread, from, count, less_one) => {
    const [a, b, e] = aligned(count, powers[0], less_one ? 1n : 0n, 0), product = a * (a - b);
    return product > 0n ? ratio(spread, product, from - 2 * e - 2 * unit) : 0;
  };
  const overall = variance(whole, low, below, false), mean = ratio(every[1], below, powers[1] - powers[0]);
  const counts = floats(n), means = new Float64Array(counts.length), deviations = new Float64Array(counts.length);
  for (let k = 0; k < counts.length; k++) {
    const [own_spread, from] = scatter([n.cells[k], s.cells[k], q.cells[k]], powers);
    const own = variance(own_spread, from, n.cells[k], unbiased);
    let found = own === 0 && counts[k] <= 1 ? overall : maximum(with_rows(own, counts[k], rows, overall), floor * overall);
    if (found === 0) found = overall === 0 ? 1 : LEAST;
    deviations[k] = Math.min(Math.max(scale_by_two(Math.sqrt(found), unit), LEAST), LARGEST);
    means[k] = n.cells[k] === 0n ? mean : ratio(s.cells[k], n.cells[k], powers[1] - powers[0]);
  }
  return { means, deviations, inverse: deviations.map((each) => 1 / each), constants: deviations.map((each) => -log(each) - HALF_LOG_2PI) };
}

function with_rows(own, count, imagined, overall) {
  if (!imagined) return own;
  const rows = Math.max(count + imagined, LEAST), finite = Math.min(own, LARGEST);
  return finite < own ? (count / rows) * finite + (imagined / rows) * overall : finite + (imagined / rows) * (overall - finite);
}

const density = (x, { means, deviations }) =>
  means.map((mean, k) => {
    const z = Math.min(Math.max((x - mean) / deviations[k], -DEVIATIONS), DEVIATIONS);
    return -log(deviations[k]) - HALF_LOG_2PI - 0.5 * z * z;
  });

// Which values of a column are states, as families/states.py chooses them; null where none are.
function choose(node, K) {
  const { whole } = node, J = whole.values.length, cells = whole.counts, counts = rows_of(floats(cells), K);
  const seen = floats(node.sums[0]), n = in_turn(seen), each = Array.from(whole.values, (_, j) => in_turn(column_of(counts, j)));
  const order = each.map((_, j) => j).sort((a, b) => each[b] - each[a] || a - b);
  const all = counts.every((row, k) => in_turn(row) === seen[k]);
  const held = order.slice(0, Math.max(Math.min(BESIDE, J - 2 * all), 0)).filter((j) => each[j] >= Math.max(SHARE * n, ENOUGH)).length;
  const sizes = [...Array.from({ length: held }, (_, i) => i + 1), ...(all && J > 1 && J <= MOST ? [J] : [])].filter((size) => ROWS * size <= n);
  if (!sizes.length) return null;
  const about = centred(node.sums, whole.values, counts);
  let best = null;
  for (const size of [0, ...sizes]) {
    const chosen = each.map(() => false);
    order.slice(0, size).forEach((j) => (chosen[j] = true));
    const score = score_of(about, node, chosen, whole.imagined[size + (size < J || !all) - 1]);
    if (best === null || score > best.score) best = { score, chosen, size, full: size === J && all };
  }
  if (best.size === 0) return null;
  const places = each.map((_, j) => j).filter((j) => best.chosen[j]), values = places.map((j) => whole.values[j]);
  let shown = counts.map((row) => places.map((j) => row[j])), others = null;
  if (!best.full) {
    const rest = node.sums.map((sums, power) => {
      let left = sums;
      places.forEach((j, i) => {
        for (let k = 0; k < K; k++) left = less(left, k, { n: cells.cells[k * J + j] * BigInt(values[i]) ** BigInt(power), exponent: cells.exponent });
      });
      return left;
    });
    others = gaussian(rest, { ...node, unbiased: false });
    const left = floats(rest[0]);
    shown = shown.map((row, k) => [...row, left[k]]);
  }
  const pseudo = shown[0].map(() => whole.imagined[shown[0].length - 1]);
  return { values, shown, pseudo: pseudo[0], others, logs: frequencies(shown, pseudo, true).map((row) => row.map(log)) };
}

function divisor(a, b) {
  while (b) [a, b] = [b, a % b];
  return a;
}

// The sums about the mean of all, in units of the deviation of all.
function centred([n, s, q], values, counts) {
  const low = Math.min(n.exponent, s.exponent, q.exponent, 0);
  const [ns, ss, qs] = [n, s, q].map(({ exponent, cells }) => cells.map((each) => each << BigInt(exponent - low)));
  const [N, S, Q] = [ns, ss, qs].map(added), one = 1n << BigInt(-low);
  let top = Q * N - S * S, below = N * N;
  const common = divisor(size_of(top), below);
  [top, below] = [top / common, below / common];
  const unit = Math.floor((bit_length(top) - bit_length(below)) / 2), deviation = Math.sqrt(ratio(top, below, -2 * unit)) || 1;
  const centre = ratio(S, N, 0);
  const x = Float64Array.from(values, (v) => scale_by_two(v - centre, -unit) / deviation);
  const gaps = [-Infinity, ...x, Infinity].map((each, i, every) => (i ? each - every[i - 1] : 0)).slice(1);
  const widths = Array.from(x, (_, j) => {
    const low_gap = gaps[j] === Infinity ? gaps[j + 1] : gaps[j], high_gap = gaps[j + 1] === Infinity ? gaps[j] : gaps[j + 1];
    return Math.min((low_gap + high_gap) / 2, WIDEST);
  });
  const square = deviation * deviation;
  return {
    x, widths, counts, n: floats(n),
    s: ns.map((a, k) => ratio(ss[k] * N - a * S, N * one, -unit) / deviation),
    q: ns.map((a, k) => ratio(qs[k] * N * N - 2n * S * ss[k] * N + S * S * a, N * N * one, -2 * unit) / square),
  };
}

// The log likelihood of all values, each left out, with the chosen ones as states.
function score_of(about, node, chosen, pseudo) {
  const { counts, n } = about, some = chosen.includes(true), in_states = (row) => Array.from(row).filter((_, j) => chosen[j]);
  const held = counts.map(in_states), others = n.map((each, k) => each - in_turn(held[k])), left = others.some((each) => each !== 0);
  let found = 0;
  if (some) {
    const terms = held.flatMap((row, k) => {
      const shown = left ? [...row, others[k]] : row, below = Math.max(n[k] - 1, 0) + pseudo * shown.length;
      return shown.map((each) => each * maximum(log(below > 0 ? (Math.max(each - 1, 0) + pseudo) / below : 0), LEAST_LOG));
    });
    found = in_turn(terms);
  }
  if (!left) return found;
  found += score_others(about, node, chosen, others);
  return Number.isNaN(found) ? -Infinity : found;
}

function score_others({ x, widths, counts, s: sums, q: squares }, { floor, rows }, chosen, n) {
  const K = n.length, at = Array.from(x, (_, j) => j), held = at.filter((j) => chosen[j]), kept = at.filter((j) => !chosen[j]);
  const of = (places, k, weight) => in_turn(places.map((j) => counts[k][j] * weight(j)));
  const s = sums.map((each, k) => each - of(held, k, (j) => x[j])), q = squares.map((each, k) => each - of(held, k, (j) => x[j] * x[j]));
  const [N, S, Q] = [n, s, q].map(in_turn), overall = maximum(Q / N - (S / N) * (S / N), 0), least = Math.max(floor * overall, LEAST);
  const variance = (m, one, two) => {
    const own = maximum(two / m - (one / m) * (one / m), 0);
    return maximum(m <= 1 ? overall : (m * own + rows * overall) / (m + rows), least);
  };
  const chances = [];
  for (let k = 0; k < K; k++) {
    const many = n[k] > 1, rest = many ? n[k] - 1 : Math.max(N - 1, 1);
    for (const j of kept) {
      const v = x[j], first = (many ? s[k] : S) - v, left = variance(rest, first, (many ? q[k] : Q) - v * v), away = v - first / rest;
      const chance = Math.min(log(widths[j]) - 0.5 * log(2 * Math.PI * left) - (0.5 * away * away) / left, 0);
      chances.push(counts[k][j] * maximum(chance, LEAST_LOG));
    }
  }
  const found = in_turn(chances), more = [];
  for (let k = 0; k < K; k++) {
    const m = n[k] - of(kept, k, () => 1), one = s[k] - of(kept, k, (j) => x[j]), two = q[k] - of(kept, k, (j) => x[j] * x[j]);
    if (!(m > 0.5)) continue;
    const mean = s[k] / n[k], spread = variance(n[k], s[k], q[k]), apart = maximum(two - 2 * mean * one + m * mean * mean, 0);
    more.push(-0.5 * m * log(2 * Math.PI * spread) - (0.5 * apart) / spread - (2 * m) / n[k]);
  }
  return more.length ? found + in_turn(more) : found;
}

// What is imagined of labels: of those that are there, and of those that a prior brings.
function imagined({ unnamed, shared, each, named, always }, there) {
  const holds = named !== null && (always || there.some((is, j) => is && named[j]) || !there.includes(true));
  const kept = there.map((is, j) => is || Boolean(holds && named[j])), n = kept.filter(Boolean).length;
  return { kept, pseudo: there.map((_, j) => (holds ? each[j] : shared ? unnamed / Math.max(n, 1) : unnamed)).filter((_, j) => kept[j]) };
}

// What each kind of column is estimated to: the parts of its term that change, and how a person writes its fractions.

const KINDS = {
  category(node, K) {
    const J = node.values.length, all = rows_of(floats(node.counts), K);
    const { kept, pseudo } = imagined(node.pseudo, there_of(node, K)), only = (row) => Array.from(row).filter((_, j) => kept[j]);
    const values = only(node.values), counts = all.map(only), thetas = frequencies(counts, pseudo, false), every = pairwise(pseudo);
    const logs = values.map((_, j) => Float64Array.from(thetas, (row) => log(row[j])));
    const how = (x) => {
      const at = place(values, x);
      return at < 0 ? null : counts.map((row, k) => {
        const n = pairwise(row);
        return [n + every ? fraction(row[at], pseudo[at], n, every) : "as in the whole column", thetas[k][at]];
      });
    };
    return { parts: J ? { values, logs } : { values, logs: [] }, how, shown: called };
  },
  number(node, K) {
    const shown = (x) => general(x, 6), bell = (own, x) => Array.from(own.means, (mean, k) => `f(${shown(x)} | μ ${shown(mean)}, σ ${shown(own.deviations[k])})`);
    const states = node.whole && node.whole.values.length ? choose(node, K) : null;
    if (!states) {
      const { deviations, ...own } = gaussian(node.sums, node);
      return { parts: { op: "gaussian", ...own }, how: (x) => bell({ ...own, deviations }, x).map((text) => [text]), shown };
    }
    const { values, logs, others } = states, low = values[0], rest = logs.map((row) => row.at(-1));
    const points = Array.from({ length: values.at(-1) - low + 1 }, (_, i) => {
      const at = values.indexOf(low + i), beside = at < 0 && others && density(low + i, others);
      return Float64Array.from(logs, (row, k) => (at >= 0 ? row[at] : beside ? rest[k] + beside[k] : 0));
    });
    const bells = others ? { means: others.means, inverse: others.inverse, constants: others.constants.map((each, k) => rest[k] + each) } : { means: null, inverse: null, constants: null };
    const how = (x) => {
      const at = values.indexOf(x), texts = others && bell(others, x);
      if (at < 0 && !others) return null;
      return states.shown.map((row, k) => {
        const share = fraction(row.at(at < 0 ? -1 : at), states.pseudo, pairwise(row), states.pseudo * row.length);
        return [at >= 0 ? share : `${share} · ${texts[k]}`];
      });
    };
    return { parts: { op: "states", values: Float64Array.from(values), low, points, ...bells }, how, shown };
  },
  count(node, K) {
    const counts = rows_of(floats(node.counts), K), { pseudo } = node, J = pseudo.length, every = pairwise(pseudo);
    const within = counts.map((row) => pairwise(row)), whole = Array.from(pseudo, (_, j) => in_turn(column_of(counts, j))), all = pairwise(whole);
    const totals = within.map((each) => each + every), below = totals.map((each) => log(each > 0 ? each : 1));
    const cell = (j, k) => (totals[k] > 0 ? log(counts[k][j] + pseudo[j]) - below[k] : all > 0 ? log(whole[j] / all) : -log(Math.max(J, 1)));
    const table = Array.from(pseudo, (_, j) => Float64Array.from(counts, (_, k) => cell(j, k)));
    const how = (x, column) => {
      const j = node.columns.indexOf(column), raised = x === 1 ? "" : `^${general(x, 6)}`;
      return counts.map((row, k) => {
        const text = fraction(row[j], pseudo[j], within[k], every);
        return [raised ? `[${text}]${raised}` : text];
      });
    };
    return { parts: { table }, how, shown: (x) => general(x, 6) };
  },
};

// (count + pseudo) / (total + all pseudo), as Python writes it.
function fraction(count, pseudo, total, all) {
  const plain = [count, total].map((each) => general(each, 12));
  return all === 0 ? plain.join("/") : `(${plain[0]} + ${general(pseudo, 6)})/(${plain[1]} + ${general(all, 6)})`;
}

// A number as Python's format "g" has it.
export function general(x, digits) {
  if (x === 0 || !Number.isFinite(x)) return x === 0 ? (Object.is(x, -0) ? "-0" : "0") : Number.isNaN(x) ? "nan" : x < 0 ? "-inf" : "inf";
  const long = x.toExponential(60), cut = digits + 1 + (x < 0), even = /^50*e/.test(long.slice(cut)) && /[02468]/.test(long[cut - 1]); // halfway
  const rounded = even ? long.slice(0, cut) + long.slice(long.indexOf("e")) : x.toExponential(digits - 1);
  const [mantissa, exponent] = rounded.split("e"), e = Number(exponent), short = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  return e < -4 || e >= digits ? `${short(mantissa)}e${e < 0 ? "-" : "+"}${String(Math.abs(e)).padStart(2, "0")}` : short(Number(rounded).toFixed(digits - 1 - e));
}

// A value as Python calls it, and as its errors write it.
const called = (value) => (value === true ? "True" : value === false ? "False" : String(value));

function written(value) {
  if (typeof value !== "string") return called(value);
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
  return quote + value.replace(/[\\\n\r\t]/g, (sign) => ({ "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" })[sign]).replaceAll(quote === "'" ? "'" : "\0", quote === "'" ? "\\'" : "\0") + quote;
}

// The sums of a sheet as they are kept here: with exact cells.
export function open_sums(sums) {
  const columns = sums.columns.map((node) => {
    const own = { ...node };
    if (node.counts) own.counts = read(node.counts);
    if (node.sums) own.sums = node.sums.map(read);
    if (node.whole) own.whole = { ...node.whole, values: Array.from(node.whole.values), counts: read(node.whole.counts) };
    return own;
  });
  return { ...sums, rows: read(sums.rows), columns };
}

// The sums without a row of class k, whose cells are by column; an error with Python's sentence where it was never learned.
export function without(sums, cells, k) {
  const K = sums.rows.cells.length, one = { n: 1n, exponent: 0 }, label = sums.classes[k];
  const steps = []; // what is taken away: the table, the order within it, and how
  const rest = { ...sums, columns: sums.columns.map((node) => ({ ...node })) };
  const take = (own, at, what, table, where, order = 0, may_fall = false) => {
    steps.push({ table, order, check: () => {
      if (!may_fall && left.cells[at] < 0n) throw new Error(`cannot take away ${general(ratio(what.n, 1n, what.exponent), 6)} from '${table}' at class ${label}${where}, where only ${general(signed(own, at), 6)} was added; ${ONLY}`);
    } });
    const left = less(own, at, what);
    return left;
  };
  rest.rows = take(sums.rows, k, one, "class", "");
  for (const node of rest.columns) {
    if (node.op === "count") {
      node.columns.forEach((column, j) => {
        const x = cells[column];
        if (!Number.isInteger(x) || x < 0) throw new Error(`${node.shown[j]} is ${x}, and this page takes away whole counts; use ingenuo open`);
        if (x) node.counts = take(node.counts, k * node.columns.length + j, exact(x), "count:sum", `, column ${node.shown[j]}`, node.order.indexOf(j));
      });
      continue;
    }
    const x = cells[node.column];
    if (is_missing(x)) continue;
    if (node.op === "category") {
      const J = node.values.length, at = place(node.values, x);
      if (at < 0) steps.push({ table: node.table, order: 0, check: () => { throw new Error(`cannot take away 1 from '${node.table}' at class ${label}, value ${written(x)}, where only 0 was added; ${ONLY}`); } });
      else node.counts = take(node.counts, k * J + at, one, node.table, `, value ${node.shown[at]}`);
      continue;
    }
    const own = exact(x), where = `, column ${node.shown}`, square = { n: own.n * own.n, exponent: 2 * own.exponent };
    node.sums = [["count", one], ["sum", own], ["square", square]].map(([name, what], i) => take(node.sums[i], k, what, `number:${name}`, where, node.place, name === "sum"));
    if (node.whole && Number.isInteger(x) && Math.abs(x) <= REACH) {
      const J = node.whole.values.length, at = node.whole.values.indexOf(x), { table } = node.whole;
      if (at < 0) steps.push({ table, order: 0, check: () => { throw new Error(`cannot take away 1 from '${table}' at class ${label}, value ${x}, where only 0 was added; ${ONLY}`); } });
      else node.whole = { ...node.whole, counts: take(node.whole.counts, k * J + at, one, table, `, value ${x}`) };
    }
  }
  steps.sort((a, b) => (a.table < b.table ? -1 : a.table > b.table ? 1 : a.order - b.order)).forEach(({ check }) => check());
  check(rest, k, label, K);
  return rest;
}

// An error where what is left can be the sums of no rows, family by family.
function check({ rows, columns }, k, label, K) {
  const refuse = (what) => { throw new Error(`cannot take these rows away: ${what}; ${ONLY}`); };
  const too_many = (n, exponent, table) => {
    const [a, b] = aligned(rows.cells[k], rows.exponent, n, exponent);
    if (a < b) refuse(`class ${label} would have ${general(signed(rows, k), 6)} rows left and ${general(ratio(n, 1n, exponent), 6)} values in '${table}'`);
  };
  const in_table = ({ table, counts }) => too_many(added(rows_of(counts.cells, K)[k]), counts.exponent, table);
  const by_table = (tables) => tables.sort((a, b) => (a.table < b.table ? -1 : 1)).forEach(in_table);
  const numbers = (some) => {
    some.sort((a, b) => a.place - b.place).forEach(({ sums: [n] }) => too_many(n.cells[k], n.exponent, "number:count"));
    for (const { sums, called: name } of some) {
      if (scatter(sums.map(({ cells }) => cells[k]), sums.map(({ exponent }) => exponent))[0] < 0n) refuse(`the numbers left in column ${name} of class ${label} would have a negative variance`);
    }
  };
  const of = (op) => columns.filter((node) => node.op === op);
  numbers(of("number").filter(({ whole, unbiased }) => !whole && !unbiased));
  numbers(of("number").filter(({ whole, unbiased }) => !whole && unbiased));
  by_table(of("category"));
  const mixed = of("number").filter(({ whole }) => whole);
  numbers(mixed);
  by_table(mixed.map(({ whole }) => whole).filter(({ values }) => values.length));
}

// The sums without the classes that have no row left, where these were not declared, and the places of those that stay.
function of_classes(sums) {
  const K = sums.rows.cells.length, kept = sums.rows.cells.map((_, k) => k).filter((k) => sums.rows.cells[k] !== 0n || sums.declared[k]);
  const only = (table) => table && { ...table, cells: rows_of(table.cells, K).filter((_, k) => kept.includes(k)).flat() };
  const some = (list) => list && Array.from(kept, (k) => list[k]), { prior } = sums;
  const columns = sums.columns.map((node) => ({
    ...node,
    ...(node.counts && { counts: only(node.counts) }),
    ...(node.sums && { sums: node.sums.map(only) }),
    ...(node.whole && { whole: { ...node.whole, counts: only(node.whole.counts) } }),
  }));
  const shares = { each: some(prior.each), named: some(prior.named), shares: some(prior.shares) };
  return [{ ...sums, classes: some(sums.classes), declared: some(sums.declared), shifts: some(sums.shifts), rows: picked(sums.rows, kept), prior: { ...prior, ...shares }, columns }, kept];
}

// Values that no row has any more are not known any more.
function trimmed(node, K) {
  if (!node.whole) return node;
  const { values, counts } = node.whole, J = values.length, kept = values.map((_, j) => j).filter((j) => Array.from({ length: K }, (_, k) => counts.cells[k * J + j]).some(Boolean));
  const cells = Array.from({ length: K }, (_, k) => kept.map((j) => counts.cells[k * J + j])).flat();
  return { ...node, whole: { ...node.whole, values: kept.map((j) => values[j]), counts: { ...counts, cells } } };
}

const there_of = ({ values, declared, counts }, K) => Array.from(values, (_, j) => Boolean(declared[j]) || rows_of(counts.cells, K).some((row) => row[j] !== 0n));

// An error where a prior names values of which no column has one any more: the model would not answer.
function check_prior({ columns }, K) {
  const own = columns.filter(({ op }) => op === "category"), by_value = own.filter(({ pseudo }) => pseudo.named && !pseudo.always);
  const met = by_value.some((node) => there_of(node, K).some((is, j) => is && node.pseudo.named[j]));
  if (by_value.length && !met && own.some((node) => there_of(node, K).includes(true))) throw new Error("the prior names values, and without this row no column would have one of them; use ingenuo open");
}

function class_shares({ op, shares, ...prior }, rows) {
  const K = rows.length;
  if (op === "equal") return { found: rows.map(() => 1 / K), how: () => `1/${K}` };
  if (op === "given") {
    const all = pairwise(shares);
    if (all === 0) throw new Error("class_prior gives probability 0 to every class that was seen; give one of them more");
    return { found: shares.map((each) => each / all), how: () => "given" };
  }
  const { pseudo } = imagined(prior, Array.from(rows, () => true)), above = Array.from(rows, (n, k) => n + pseudo[k]), all = pairwise(above);
  return { found: above.map((each) => each / all), how: (k) => fraction(rows[k], pseudo[k], pairwise(rows), pairwise(pseudo)) };
}

// The document of a sheet whose sums are these, and how each column is written; the classes that stay are by their places.
export function estimated(document, given) {
  const [sums, kept] = of_classes(given), K = kept.length;
  if (sums.rows.cells.every((n) => n === 0n)) throw new Error("the model has forgotten every row it knew; fit it again first");
  if (K < document.classes.length && document.scorer.calibrate) throw new Error("this is the last row of its class, and the model is calibrated for all its classes; use ingenuo open");
  check_prior(sums, K);
  const rows = floats(sums.rows), prior = class_shares(sums.prior, rows), made = new Map(), written_as = new Map();
  for (const node of sums.columns) {
    const own = KINDS[node.op](trimmed(node, K), K);
    for (const column of node.columns || [node.column]) {
      made.set(column, own.parts);
      written_as.set(column, own);
    }
  }
  const term = ({ means, inverse, constants, ...node }) => {
    if (node.op === "weighted") return { ...node, terms: node.terms.map(term) };
    return { ...node, ...made.get(node.columns ? node.columns[0] : node.column) };
  };
  const start = Float64Array.from(prior.found, (share, k) => log(share) + sums.shifts[k]), all = Math.max(pairwise(rows), 1e-300);
  const columns = document.columns.map((column) => (column.means ? { ...column, means: Float64Array.from(kept, (k) => column.means[k]) } : column));
  const scorer = { ...document.scorer, start, terms: document.scorer.terms.map(term) };
  const changed = { ...document, classes: kept.map((k) => document.classes[k]), priors: rows.map((n) => n / all), columns, scorer };
  const before = (k) => [prior.how(k), prior.found[k]];
  return { document: changed, sums, kept, prior: before, written: written_as, learned: pairwise(rows) };
}

// Every factor of the answer to a row as a person writes it, by column, value and class.
function factors_of({ model, estimate, weights }, row) {
  const found = new Map(), { written: by_column, prior } = estimate, cells = model.opened(row);
  const put = (name, value, k, term) => found.set(JSON.stringify([name, value, called(model.classes[k])]), term);
  for (const { column, name, logs } of model.explain(row).factors) {
    if (column === null) {
      model.classes.forEach((_, k) => put("prior", "", k, prior(k)));
      continue;
    }
    const own = by_column.get(column), how = logs && own && own.how(cells[column], column), weight = weights(column, cells);
    if (!how) continue;
    how.forEach(([text, value], k) => put(name, own.shown(cells[column]), k, weight === null ? [text, value ?? exp(logs[k])] : [`[${text}]^${general(weight, 4)}`, exp(logs[k])]));
  }
  return found;
}

// The power to which a column's fractions are raised for a row; null where they stand as they are.
function weights_of(model) {
  const by_column = new Map(), { terms } = model.document.scorer;
  terms.forEach((node, i) => model.scorer.terms[i].columns.forEach((column) => by_column.set(column, node.op === "weighted" ? [node, model.scorer.terms[i]] : null)));
  return (column, cells) => {
    const found = by_column.get(column);
    if (!found) return null;
    const [{ weight, exponent, typical }, { lengths }] = found;
    return exponent ? weight * power((1 + lengths(cells)) / typical, -exponent) : weight;
  };
}

// A model that forgets, from a sheet with its sums; `open` opens sheets. What it forgot is another such model.
export function forgetful(document, sums, open) {
  const estimate = estimated(document, sums), model = open(estimate.document);
  const own = { model, estimate, weights: weights_of(model) };
  return {
    model, learned: estimate.learned, kept: estimate.kept, own,
    forget(row, k) {
      const wrong = model.mistake(row);
      if (wrong) throw new Error(wrong);
      return forgetful(estimate.document, without(estimate.sums, model.opened(row), k), open);
    },
  };
}

// Two such models side by side, as the server of ingenuo open compares them.
export function compare(before, after, row, question) {
  const answer = ({ model }) => (asked) => ({ classes: Array.from(model.classes), posterior: Array.from(model.score(asked).posterior) });
  const sides = (asked) => [before, after].map((each) => answer(each)(asked)), all = new Map();
  [before, after].forEach((each, side) => factors_of(each.own, row).forEach((term, key) => {
    if (!all.has(key)) all.set(key, [null, null]);
    all.get(key)[side] = term;
  }));
  const fractions = [...all].filter(([, [a, b]]) => JSON.stringify(a) !== JSON.stringify(b)).map(([key, [first, then]]) => {
    const [column, value, label] = JSON.parse(key);
    return { column, value, class: label, before: first, after: then };
  });
  return { learned: [before.learned, after.learned], question: question ? sides(question) : null, rows: [sides(row)], fractions: fractions.slice(0, FRACTIONS), more: Math.max(fractions.length - FRACTIONS, 0) };
}
