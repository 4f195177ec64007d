// exp, log and log1p with the same bits on every machine: fdlibm's reductions and polynomials, in plain IEEE additions,
// multiplications and divisions. No branches, so that the compiler does several at a time in a loop.
#pragma once
#include "common.hpp"

INLINE double as_double(u64 bits) { double x; memcpy(&x, &bits, 8); return x; }
INLINE u64 as_bits(double x) { u64 bits; memcpy(&bits, &x, 8); return bits; }

static const double LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
static const double WHOLE = 6755399441055744.0;  // 1.5 * 2^52: a sum with this has no fraction, and its low bits are the number

// x = k ln 2 + r, |r| <= ln 2 / 2; exp(r) = 1 + r + r c / (2 - c), c = r - r^2 P(r^2).
INLINE double exp_of(double x) {
    x = x > 710.0 ? 710.0 : x;
    x = x < -746.0 ? -746.0 : x;
    const double shifted = x * 1.44269504088896338700e+00 + WHOLE, k = shifted - WHOLE;
    const double high = x - k * LN2_HIGH, low = k * LN2_LOW, r = high - low, t = r * r;
    const double c = r - t * (1.66666666666666019037e-01 +
                              t * (-2.77777777770155933842e-03 +
                                   t * (6.61375632143793436117e-05 +
                                        t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))));
    const double y = 1.0 - ((low - (r * c) / (2.0 - c)) - high);
    // 2^k as two factors, for 2^1024 and 2^-1075 are no doubles: only the second product is rounded.
    const u64 n = as_bits(shifted) - as_bits(WHOLE), half = ((n + 4096) >> 1) - 2048;
    return y * as_double((half + 1023) << 52) * as_double((n - half + 1023) << 52);
}

// log(u) + c for u > 0: u = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2); s = f / (2 + f).
INLINE double log_plus(double u, double c) {
    const bool tiny = u < 2.2250738585072014e-308;
    const u64 bits = as_bits(tiny ? u * 18014398509481984.0 : u) + 0x0009'5f62'0000'0000ULL;
    const double k = as_double(as_bits(WHOLE) + (bits >> 52)) - WHOLE - (tiny ? 1077.0 : 1023.0);
    const double f = as_double((bits & 0x000f'ffff'ffff'ffffULL) + 0x3fe6'a09e'0000'0000ULL) - 1.0;
    const double half = 0.5 * f * f, s = f / (2.0 + f), z = s * s, w = z * z;
    const double even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    const double odd = z * (6.666666666666735130e-01 +
                            w * (2.857142874366239149e-01 +
                                 w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    return s * (half + (odd + even)) + (k * LN2_LOW + c) - half + f + k * LN2_HIGH;
}

INLINE double log_of(double x) {
    double y = log_plus(x, 0.0);
    y = x == HUGE_VAL ? x : y;
    y = x == 0.0 ? -HUGE_VAL : y;
    return x >= 0.0 ? y : as_double(0x7ff8'0000'0000'0000ULL);
}

// log(1 + x) = log(u) + c / u with u = fl(1 + x) and c what was lost in that sum.
INLINE double log1p_of(double x) {
    const double u = 1.0 + x, lost = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
    double y = log_plus(u, lost / u);
    y = x == HUGE_VAL ? x : y;
    y = x == 0.0 ? x : y;
    y = x == -1.0 ? -HUGE_VAL : y;
    return x >= -1.0 ? y : as_double(0x7ff8'0000'0000'0000ULL);
}

enum { EXP, LOG, LOG1P };
API(void, elementary)(i64 which, const double* x, double* out, i64 n) {
    const auto over_array = [=](auto f) {
        for (i64 i = 0; i < n; i++) out[i] = f(x[i]);
    };
    if (which == EXP) over_array([](double x) { return exp_of(x); });
    if (which == LOG) over_array([](double x) { return log_of(x); });
    if (which == LOG1P) over_array([](double x) { return log1p_of(x); });
}
