// The whole library: one file, compiled once for each instruction set.
#include "common.hpp"
#include "math.hpp"
#if defined(__AVX2__)
#include <immintrin.h>
#endif
// A namespace for each instruction set: else the linker would take a function that both have from one of them for both.
// And one for what belongs together, so that a header need not know the names of the others.
namespace VARIANT {
namespace numbers {
#include "numbers.hpp"
#include "products.hpp"
#include "density.hpp"
#include "scores.hpp"
}
namespace codes {
#include "codes.hpp"
}
namespace levels {
#include "back_off.hpp"
}
namespace trees {
#include "trees.hpp"
}
namespace counts {
#include "counts.hpp"
#include "solver.hpp"
}
namespace text {
#include "text.hpp"
#if defined(FIRST)
#include "vocabulary.hpp"
#endif
}
#if defined(FIRST)  // what gains nothing by vectors is there once
namespace networks {
#include "networks.hpp"
}
namespace ngrams {
#include "ngrams.hpp"
}
#endif
}

#if defined(FIRST)
// What the loader asks first: from which sources the library was made, its functions, and this machine's instruction set.
EXPORTED const char* ingenuo_sources() { return SOURCES; }
EXPORTED const char* ingenuo_signatures() {
    return
#include "signatures.h"  // which compile.py makes
        ;
}
#if defined(__x86_64__) && !defined(ONLY)
#include <cpuid.h>
// By cpuid itself: no __cpu_model, which not every compiler's run-time library has.
EXPORTED i64 ingenuo_has_avx2() {
    unsigned a, b, c, d;
    const unsigned avx = 1u << 28, saved = 1u << 27, fma = 1u << 12, popcnt = 1u << 23;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (avx | saved | fma | popcnt)) != (avx | saved | fma | popcnt)) return 0;
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    const unsigned avx2 = 1u << 5, bmi1 = 1u << 3, bmi2 = 1u << 8;
    if ((low & 6) != 6 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    const bool extended = (b & (avx2 | bmi1 | bmi2)) == (avx2 | bmi1 | bmi2);
    return extended && __get_cpuid(0x80000001, &a, &b, &c, &d) && (c >> 5 & 1);  // lzcnt
}
#else
EXPORTED i64 ingenuo_has_avx2() { return 0; }
#endif
#endif
