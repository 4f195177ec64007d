// Terms of columns of numbers: Gaussians, states, tabulated curves, and formulas, as families/ and cpp/density.hpp add them.
import { exp, log, log1p, log_sum, scale_by_two } from "./math.mjs";

const FARTHEST = 1e300; // a square; and
const DEVIATIONS = 1e150; // its root
const HALF_LOG_2PI = 0.9189385332046727, LOG_2PI_HALF = 0.5 * 1.8378770664093453;
const LARGEST = 9007199254740992; // of whole numbers
const NEVER = -1e299; // less than this in a table is log 0

const clipped = (z) => (z > DEVIATIONS ? DEVIATIONS : z < -DEVIATIONS ? -DEVIATIONS : z);
const at_least = (x, floor) => (floor === undefined || x >= floor ? x : floor);

// A term of one column from what a number adds to each class: of(x, floor) -> numbers, or null where it adds nothing.
function of_column(column, ctx, of) {
  return {
    columns: [column],
    add(row, out, floor) {
      const x = row[column];
      if (Number.isNaN(x)) return;
      const found = of(x, floor);
      if (found) for (let k = 0; k < out.length; k++) out[k] += found[k];
    },
    factors(row) {
      const x = row[column], found = Number.isNaN(x) ? null : of(x), name = ctx.columns[column].name;
      const note = Number.isNaN(x) ? "left out" : found ? null : "never seen: left out";
      return [{ column, of: null, name, value: Number.isNaN(x) ? "missing" : String(x), logs: found && Float64Array.from(found), note }];
    },
  };
}

function bell(x, { means, inverse, constants }, floor) {
  return Float64Array.from(constants, (constant, k) => {
    const z = (x - means[k]) * inverse[k], square = z * z;
    return at_least(constant, floor) - 0.5 * (square < FARTHEST ? square : FARTHEST);
  });
}

const gaussian = (node, ctx) => of_column(node.column, ctx, (x) => bell(x, node));

// A column that has no two values says nothing.
const silent = ({ column }, ctx) => of_column(column, ctx, () => null);

// Whole numbers from `low` on have their points; any other number, if there may be any, a Gaussian.
function states(node, ctx) {
  const { low, points, means } = node;
  return of_column(node.column, ctx, (x, floor) => {
    const place = x - low;
    if (place >= 0 && place < points.length && place === Math.floor(place) && place + low === x) return Float64Array.from(points[place], (each) => at_least(each, floor));
    return means ? bell(x, node, floor) : null;
  });
}

// Values that are states, and a formula for all others.
function values_or(node, ctx) {
  const formula = density(node.others);
  return of_column(node.column, ctx, (x, floor) => {
    const at = node.values.indexOf(x), rest = node.logs[node.values.length];
    const found = at >= 0 ? node.logs[at] : formula(x).map((each, k) => rest[k] + each);
    return Float64Array.from(found, (each) => at_least(each, floor));
  });
}

// log Γ, as families/positive.py has it.
function log_gamma(x) {
  let product = 1;
  const small = x < 8;
  if (small) {
    product = x;
    for (let step = 1; step < 8; step++) product *= x + step;
  }
  const y = small ? x + 8 : x, z = 1 / (y * y);
  const series = 1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z * (1 / 1188 - z * (691 / 360360)))));
  return (y - 0.5) * log(y) - y + LOG_2PI_HALF + series / y - log(product);
}

const poisson = (x, mean) => x * log(mean) - mean - log_gamma(x + 1);
const FORMULAS = {
  "log-normal": (x, mean, deviation) => {
    const z = clipped((log(x) - mean) / deviation);
    return -log(x) - log(deviation) - LOG_2PI_HALF - 0.5 * z * z;
  },
  gamma: (x, k, scale) => (k - 1) * log(x) - Math.min(x / scale, DEVIATIONS) - (log_gamma(k) + k * log(scale)),
  exponential: (x, scale) => -Math.min(x / scale, DEVIATIONS) - log(scale),
  poisson,
  "negative-binomial": (x, mean, r) => {
    if (r === Infinity) return poisson(x, mean);
    const grown = log_gamma(x + r) - log_gamma(r) - log_gamma(x + 1);
    return grown - r * log1p(mean / r) + x * (log(mean) - log(mean + r));
  },
};
const ABOVE = new Set(["log-normal", "gamma"]), WHOLE = new Set(["poisson", "negative-binomial"]);

// The log density of each class at a number; -inf where it is impossible.
function density({ name, first, values }) {
  const K = values[0].length;
  return (x) => {
    let possible = ABOVE.has(name) ? x > 0 : x >= first;
    if (WHOLE.has(name)) possible = possible && x === Math.round(x) && x <= LARGEST;
    return Float64Array.from({ length: K }, (_, k) => (possible ? FORMULAS[name](x - first, ...values.map((each) => each[k])) : -Infinity));
  };
}

function formula(node, ctx) {
  const of = density(node);
  return of_column(node.column, ctx, (x, floor) => of(x).map((each) => at_least(each, floor)));
}

// Tabulated curves, straight or level between their points, and what is beyond the table.

function smooth({ imagined, log_imagined, logs, logs_with, middle, scale, peak }) {
  return (own, t) => {
    if (imagined === 0) return own;
    const z = clipped((t - middle) / scale), background = peak - log1p(z * z);
    return own.map((each, k) => log_sum(each + logs[k] - logs_with[k], background + log_imagined - logs_with[k]));
  };
}

const BEYOND = {
  level: ({ edges, widths, levels }) => (t) => {
    const far = Math.max(Math.max((edges[0] - t) / widths[0], (t - edges[1]) / widths[1]), 0), side = t < (edges[0] + edges[1]) / 2 ? 0 : 1;
    return levels[side].map((each) => each - 2 * log1p(far));
  },
  kernel: ({ ends, counts, widths, peaks, middle, totals, smoothing }) => {
    const smoothed = smooth(smoothing);
    return (t) => {
      const side = t < middle ? 0 : 1;
      const found = Float64Array.from(widths, (h, k) => {
        const z = clipped((t - ends[side][k] - 0.5) / h);
        return counts[side][k] - 0.5 * z * z - peaks[k] - totals[k];
      });
      return smoothed(found, t);
    };
  },
  mixture: ({ components, smoothing }) => {
    const smoothed = smooth(smoothing);
    return (t) => {
      const found = Float64Array.from(components, ({ means, deviations, constants }) => {
        const terms = Float64Array.from(means, (mean, i) => {
          const z = clipped((t - mean) / deviations[i]);
          return constants[i] - 0.5 * z * z;
        });
        let largest = -Infinity, sum = 0;
        for (const each of terms) if (each > largest) largest = each;
        largest = largest === -Infinity ? 0 : largest;
        for (const each of terms) sum += exp(each - largest);
        return log(sum) + largest;
      });
      return smoothed(found, t);
    };
  },
};

function curve(node, ctx) {
  const { scale, more, origin, inverse, straight, points, exponent, first, unit, beyond } = node;
  const outside = BEYOND[beyond.op](beyond), last = points.length - 1;
  const finite = (each) => (each > NEVER ? each : -Infinity);
  return of_column(node.column, ctx, (x, floor) => {
    const u = (x * scale * more - origin) * inverse;
    if (u >= 0 && u < last) {
      const place = Math.floor(u), rest = (u - place) * straight, here = points[place], next = points[place + 1];
      return Float64Array.from(here, (each, k) => finite(at_least(each, floor) + rest * (at_least(next[k], floor) - at_least(each, floor))));
    }
    const t = clipped(scale_by_two(x, -exponent)) - first;
    return outside(t).map((each) => finite(at_least(each - unit, floor)));
  });
}

// A formula by which what is impossible, or farther out than any value, says nothing.
function bounded_formula(node, ctx) {
  const of = density(node);
  return of_column(node.column, ctx, (x, floor) => of(x).map((each) => at_least(Math.max(each, -700), floor)));
}

export const terms = { gaussian, silent, states, "values or": values_or, formula, "bounded formula": bounded_formula, curve };
