// What every kernel uses: the types, the exported names, and the choice of a function by the type of an array.
//
// The sources are compiled once for each instruction set (see compile.py). Each time, every exported function has the
// set's name in front, base_ or avx2_, and ingenuo.kernels picks one. There is no C++ run-time library: no std::,
// no exceptions, no new. Nothing here checks its arguments; Python has done so.
#pragma once
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#if defined(_WIN32)
#define EXPORTED extern "C" __declspec(dllexport)
#else
#define EXPORTED extern "C" __attribute__((visibility("default")))
#endif
#define JOINED_(a, b) a##_##b
#define JOINED(a, b) JOINED_(a, b)
// API(i64, name)(arguments) { ... }
#define API(type, name) EXPORTED type JOINED(VARIANT, name)

#define INLINE static inline __attribute__((always_inline))

// Doubles in a vector register; kernels that write their vectors out use these.
#if defined(__AVX2__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif
typedef double Vector __attribute__((vector_size(8 * LANES)));
typedef i64 Integers __attribute__((vector_size(8 * LANES)));
typedef double LooseVector __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
typedef i64 LooseIntegers __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
INLINE Vector load(const double* p) { return *(const LooseVector*)p; }
INLINE void store(double* p, Vector v) { *(LooseVector*)p = v; }
INLINE Vector every(double x) { return x - (Vector){}; }  // x - 0 is x, of which x + 0 differs for -0

template <class T> INLINE T smaller(T a, T b) { return b < a ? b : a; }
template <class T> INLINE T larger(T a, T b) { return a < b ? b : a; }

// The codes of the types of arrays, as kernels.TYPES has them; f is called with the pointer, typed.
enum Type { I8, I16, I32, I64, U8, U16, U32, U64, F32, F64 };
template <class F> INLINE auto with_integers(i64 type, const void* p, F f) {
    switch (type) {
        case I8: return f((const i8*)p);
        case I16: return f((const i16*)p);
        case I32: return f((const i32*)p);
        case I64: return f((const i64*)p);
        case U8: return f((const u8*)p);
        case U16: return f((const u16*)p);
        case U32: return f((const u32*)p);
        default: return f((const u64*)p);
    }
}

// Sums are doubles, or whole numbers; f is called with the pointer, typed.
template <class F> INLINE void with_sums(i64 doubles, const void* p, F f) {
    if (doubles) f((double*)p);
    else f((i64*)p);
}

// f(Number<n>()), for n of 1 .. MOST: what is known to the compiler stays in registers.
template <int N> struct Number { enum { value = N }; };
template <int MOST, class F> INLINE void with_number(i64 n, F f) {
    if constexpr (MOST > 1)
        if (n < MOST) return with_number<MOST - 1>(n, f);
    f(Number<MOST>());
}

// sums[k] += x row[k] of each term {x, row} of first..last that counts, one after another, for MOST of K numbers at a time.
struct Term {
    double x;
    const double* row;
    bool counts = true;
};
template <int MOST, class F> INLINE void add_up(i64 first, i64 last, i64 K, double* sums, F term) {
    for (i64 k = 0; k < K; k += MOST)
        with_number<MOST>(smaller<i64>(MOST, K - k), [&](auto count) {
            double own[count.value];
            for (int c = 0; c < count.value; c++) own[c] = sums[k + c];
            for (i64 j = first; j < last; j++) {
                const Term t = term(j);
                if (!t.counts) continue;
                for (int c = 0; c < count.value; c++) own[c] += t.x * t.row[k + c];
            }
            for (int c = 0; c < count.value; c++) sums[k + c] = own[c];
        });
}
