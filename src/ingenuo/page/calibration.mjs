// What log posteriors are worth, as models/calibration.py has it.
import { exp, log, power } from "./math.mjs";

function below_top(z) {
  let top = -Infinity;
  for (const each of z) if (each > top) top = each;
  return Float64Array.from(z, (each) => each - top);
}

function total(z) {
  let sum = 0;
  for (const each of z) sum += each;
  return sum;
}

// Straight lines between rising knots, level beyond them.
function interpolate(x, [knots, values]) {
  const last = knots.length - 1;
  if (!(x >= knots[0])) return values[0];
  if (x >= knots[last]) return values[last];
  let low = 0, high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (knots[middle] <= x) low = middle;
    else high = middle;
  }
  return ((values[low + 1] - values[low]) / (knots[low + 1] - knots[low])) * (x - knots[low]) + values[low];
}

// log p_k - log of the sum of all others, for each class.
function log_odds(z) {
  if (z.length === 2) return [-(z[1] - z[0]), z[1] - z[0]];
  let top = 0;
  for (let k = 1; k < z.length; k++) if (z[k] > z[top]) top = k;
  const d = below_top(z), powers = d.map(exp), all = total(powers);
  const odds = d.map((each, k) => each - log(all - powers[k]));
  let runner = -Infinity;
  d.forEach((each, k) => {
    if (k !== top && each > runner) runner = each;
  });
  const safe = runner > -Infinity ? runner : 0;
  odds[top] = -(safe + log(total(d.map((each, k) => (k === top ? 0 : exp(each - safe))))));
  return odds;
}

function pool(z, groups, n) {
  return Float64Array.from({ length: n }, (_, group) => {
    const own = z.filter((_, k) => groups[k] === group);
    if (own.length === 1) return own[0];
    let largest = Math.max(...own);
    largest = largest === -Infinity ? 0 : largest;
    return log(total(own.map((each) => exp(each - largest)))) + largest;
  });
}

// A function from log posteriors, and how many words the row has, to calibrated ones.
export function calibrator({ slope, shifts, scale, curves, groups }) {
  const one = (z, length) => {
    let d = below_top(z);
    if (scale) {
      const by = power((1 + length) / scale.typical, scale.exponent);
      const prior = scale.prior.length ? scale.prior : new Float64Array(d.length);
      d = below_top(d.map((each, k) => (each - prior[k]) / by + prior[k]));
    }
    d = d.map((each) => (slope === 0 ? (Number.isFinite(each) ? 0 : each) : each * slope));
    d = below_top(d.map((each, k) => each + shifts[k]));
    const below = log(total(d.map(exp)));
    d = d.map((each) => each - below);
    if (!curves.length) return d;
    const odds = log_odds(d);
    let p;
    if (d.length === 2) {
      const second = interpolate(odds[1], curves[0]);
      p = Float64Array.of(1 - second, second);
    } else p = Float64Array.from(odds, (each, k) => interpolate(each, curves[k]));
    const sum = log(total(p));
    return p.map((each) => log(each) - sum);
  };
  if (!groups.length) return one;
  const n = Math.max(...groups) + 1, sizes = new Float64Array(n);
  for (const group of groups) sizes[group] += 1;
  return (z, length) => {
    const pooled = pool(z, groups, n), found = one(pooled, length);
    return z.map((each, k) => found[groups[k]] + (pooled[groups[k]] === -Infinity ? -log(sizes[groups[k]]) : each - pooled[groups[k]]));
  };
}
