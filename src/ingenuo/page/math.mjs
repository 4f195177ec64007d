// exp, log and log1p with the same bits as Python has them (cpp/math.hpp): fdlibm's reductions and polynomials. Math.exp and
// Math.log differ between browsers.

const buffer = new DataView(new ArrayBuffer(8));
const LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
const WHOLE = 6755399441055744.0; // 1.5 * 2^52: a sum with this has no fraction

// 2^n, for -1022 <= n <= 1023.
function power_of_two(n) {
  buffer.setUint32(0, (n + 1023) << 20);
  buffer.setUint32(4, 0);
  return buffer.getFloat64(0);
}

export function exp(x) {
  if (Number.isNaN(x)) return NaN;
  x = x > 710.0 ? 710.0 : x;
  x = x < -746.0 ? -746.0 : x;
  const k = x * 1.44269504088896338700e+00 + WHOLE - WHOLE;
  const high = x - k * LN2_HIGH, low = k * LN2_LOW, r = high - low, t = r * r;
  const c = r - t * (1.66666666666666019037e-01 + t * (-2.77777777770155933842e-03 + t * (6.61375632143793436117e-05 +
    t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))));
  const y = 1.0 - ((low - (r * c) / (2.0 - c)) - high);
  // 2^k as two factors, for 2^1024 and 2^-1075 are no doubles: only the second product is rounded.
  const half = Math.floor(k / 2);
  return y * power_of_two(half) * power_of_two(k - half);
}

// log(u) + c for u > 0: u = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
function log_plus(u, c) {
  const tiny = u < 2.2250738585072014e-308;
  buffer.setFloat64(0, tiny ? u * 18014398509481984.0 : u);
  let high = buffer.getUint32(0) + 0x00095f62;
  const k = (high >>> 20) - (tiny ? 1077 : 1023);
  high = (high & 0x000fffff) + 0x3fe6a09e;
  buffer.setUint32(0, high);
  const f = buffer.getFloat64(0) - 1.0;
  const half = 0.5 * f * f, s = f / (2.0 + f), z = s * s, w = z * z;
  const even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  const odd = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 +
    w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  return s * (half + (odd + even)) + (k * LN2_LOW + c) - half + f + k * LN2_HIGH;
}

export function log(x) {
  if (x > 0) return x === Infinity ? x : log_plus(x, 0.0);
  return x === 0 ? -Infinity : NaN;
}

export function log1p(x) {
  if (!(x >= -1)) return NaN;
  if (x === Infinity || x === 0) return x;
  if (x === -1) return -Infinity;
  const u = 1.0 + x, lost = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
  return log_plus(u, lost / u);
}

export function power(x, exponent) {
  return exp(exponent * log(x));
}

// log(exp(a) + exp(b)), as Python's portable.log_sum.
export function log_sum(a, b) {
  const largest = a > b ? a : b, least = a > b ? b : a;
  const apart = least === -Infinity ? -Infinity : least - (largest === -Infinity ? 0 : largest);
  return largest + log1p(exp(apart));
}

// x 2^n, rounded once unless the result is subnormal and n far from 0; as Python's ldexp for the numbers met here.
export function scale_by_two(x, n) {
  while (n > 1000) { x *= power_of_two(1000); n -= 1000; }
  while (n < -1000) { x *= power_of_two(-1000); n += 1000; }
  return x * power_of_two(n);
}
