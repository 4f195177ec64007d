// From UTF-8 bytes to words and n-grams: finding them, counting them by class, and looking them up.
//
// A reader finds the words of a document. A word is a run of letters, digits and underscores, in lower case if so asked;
// what a letter is, Python's tables say. Words and n-grams are kept in hash tables whose places follow the order of the
// hashes, so that the canonical order of a vocabulary is nearly that of its table. A thread counts into tables of its own
// (Counter), which grow as they must; known words are looked up in tables that threads share (Lookup).
// What allocates returns false, or a negative number, where there is no memory.
#pragma once
#include "common.hpp"
#include "math.hpp"
#if defined(__linux__)
#include <sys/mman.h>
#endif

// ---- hashes -----------------------------------------------------------------------------------------------------
// They set the canonical order, so saved models depend on them. A word of up to eight bytes is one integer, the first
// byte in the highest place, and its hash is one to one. Of a longer word, eight bytes at a time are folded in.
static const u64 HASH_1 = 0xFF51AFD7ED558CCDULL, HASH_2 = 0xC4CEB9FE1A85EC53ULL, HASH_START = 0x9E3779B97F4A7C15ULL;

INLINE u64 mix(u64 h) {
    h = (h ^ h >> 33) * HASH_1;
    h = (h ^ h >> 33) * HASH_2;
    return h ^ h >> 33;
}
INLINE u64 fold(u64 h, u64 pack) {
    h = (h ^ pack) * HASH_1;
    return h ^ h >> 32;
}
// The hash of an n-gram, from those of what precedes its last word and of that word.
INLINE u64 follow(u64 prefix, u64 word) { return mix(prefix * 0x9FB21C651E98DF25ULL + (word ^ HASH_START)); }

INLINE u64 load_u64(const u8* p) { u64 x; memcpy(&x, p, 8); return x; }

// A word as the tables know it. Its key and its hash tell it apart: of up to eight bytes the hash does so alone (key 0);
// of up to sixteen the key is the bytes after the eighth, for the fold of the first eight can be undone. The key of a
// longer one is its length times 256, which no bytes are (no byte of a word is 0), and its bytes must be compared.
struct Hashed {
    u64 hash, key;
    bool operator==(const Hashed& other) const { return !((hash ^ other.hash) | (key ^ other.key)); }
    bool must_compare() const { return key != 0 && (key & 255) == 0; }
};

static __attribute__((noinline)) Hashed hash_long(const u8* p, u64 n) {
    u64 h = HASH_START, at = 0, pack = 0;
    for (; at + 8 < n; at += 8) h = fold(h, __builtin_bswap64(load_u64(p + at)));
    for (; at < n; at++) pack = pack << 8 | p[at];
    return {mix(h ^ pack ^ n << 32), n << 8};
}
// Of n >= 1 bytes at p, after which seven more can be read (fifteen, where n is below nine).
INLINE Hashed hash_padded(const u8* p, u64 n) {
    if (__builtin_expect(n > 16, 0)) return hash_long(p, n);
    const u64 shift = -8 * n & 63, first = __builtin_bswap64(load_u64(p)), rest = __builtin_bswap64(load_u64(p + 8)) >> shift;
    return {mix(n > 8 ? fold(HASH_START, first) ^ rest ^ n << 32 : first >> shift), n > 8 ? rest : 0};
}
INLINE Hashed hash_bytes(const u8* p, u64 n) {
    if (n > 16) return hash_long(p, n);
    u8 padded[24] = {};
    memcpy(padded, p, n);
    return hash_padded(padded, n ? n : 8);
}

// ---- memory -----------------------------------------------------------------------------------------------------
// Ask for large pages, where there are any: a table of 50 MB then takes a third less time (fewer misses of the TLB).
static void* use_large_pages(void* memory, u64 bytes) {
#if defined(__linux__)
    if (memory && bytes >= 1 << 22) {
        const u64 begin = ((u64)memory + 4095) / 4096 * 4096, end = ((u64)memory + bytes) / 4096 * 4096;
        madvise((void*)begin, end - begin, 14);  // MADV_HUGEPAGE
    }
#endif
    return memory;
}
// Room for so many things in an array that grows by doubling; false where there is no memory.
template <class T> static bool make_room(T*& array, u64& room, u64 wanted) {
    if (wanted <= room) return true;
    u64 size = larger<u64>(room, 16);
    while (size < wanted) size *= 2;
    T* made = (T*)use_large_pages(realloc(array, size * sizeof(T)), size * sizeof(T));
    if (!made) return false;
    array = made;
    room = size;
    return true;
}

// ---- letters ----------------------------------------------------------------------------------------------------
// How documents are cut into words; kernels/text.py has the same structure.
struct Style {
    const u32* letters;  // of each character the UTF-8 of its lower case as a number (0: no letter); or null, for ASCII
    const u32* beyond;   // the same from 0x20000 on; or null, where no such character comes
    const u8* cases;     // of each character 1 if it has a case, 2 if the rule of the final sigma skips it; or null
    const u64* cues;     // words that open a negation's scope, as integers
    i64 n_cues, contractions, lowercase, shortest, separated;
    i64 fewest, most;    // the lengths of n-grams of characters, which are read in place of words; 0: none are
};
enum : u32 { SIGMA = 1, DOTTED_I = 2 };  // in the table of letters, for which no UTF-8 is so small
enum : u32 { BEYOND = 0x20000, CASE_END = 0xE0200 };

struct Character { u32 code; u32 size; };
// The character at p, beyond ASCII; (0, 1) where the bytes are none.
INLINE Character decode(const u8* p, const u8* end) {
    const u32 b = *p;
    const i64 left = end - p;
    if (b >= 0xC2 && b < 0xE0 && left > 1) return {(b & 31) << 6 | (p[1] & 63u), 2};
    if (b >= 0xE0 && b < 0xF0 && left > 2) return {(b & 15) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u), 3};
    if (b >= 0xF0 && b < 0xF5 && left > 3) {
        const u32 code = (b & 7) << 18 | (p[1] & 63u) << 12 | (p[2] & 63u) << 6 | (p[3] & 63u);
        return {smaller(code, 0x10FFFFu), 4};
    }
    return {0, 1};
}
INLINE Character character(const u8* p, const u8* end) { return *p < 128 ? Character{*p, 1} : decode(p, end); }
INLINE u32 letter_of(const Style& style, u32 code) {
    return code < BEYOND ? style.letters[code] : style.beyond[code - BEYOND];
}
INLINE u32 ascii_letter(u8 b, bool lowercase) {
    const u8 low = b | 0x20;
    if ((u8)(low - 'a') < 26) return lowercase ? low : b;
    return (u8)(b - '0') < 10 || b == '_' ? b : 0;
}
// Any character but white space; a word of the tables has no byte 0.
INLINE u32 ascii_character(u8 b, bool lowercase) {
    if (b == ' ' || (u8)(b - 9) < 5 || (u8)(b - 0x1C) < 4) return 0;
    return lowercase && (u8)(b - 'A') < 26 ? b | 0x20 : b;
}
INLINE u32 case_of(const Style& style, u32 code) { return code < CASE_END ? style.cases[code] : 0; }

// Whether a capital sigma at p ends its word: a character with a case before it and none after it, each the next that
// is not skipped.
static bool final_sigma(const Style& style, const u8* begin, const u8* p, const u8* end) {
    const u8* q = p;
    u32 before = 0;
    while (q > begin) {
        q--;
        while (q > begin && (*q & 0xC0) == 0x80) q--;
        before = case_of(style, character(q, end).code);
        if (before != 2) break;
    }
    if (before != 1) return false;
    for (q = p + 2; q < end;) {
        const Character c = character(q, end);
        const u32 after = case_of(style, c.code);
        if (after != 2) return after != 1;
        q += c.size;
    }
    return true;
}

// Which tables a text needs: 1 letters, 2 those beyond the second plane, 4 cases.
API(i64, text_needs)(const u8* p, i64 n) {
    const u8* end = p + n;
    i64 needs = 0;
    while (p < end && needs != 7) {
        if (end - p >= 64) {
            u64 all = 0;
            for (int i = 0; i < 64; i += 8) all |= load_u64(p + i);
            if (!(all & 0x8080808080808080ULL)) { p += 64; continue; }
        }
        for (const u8* stop = p + smaller<i64>(64, end - p); p < stop;) {
            const Character c = character(p, end);
            if (*p >= 128) needs |= 1 | (c.code >= BEYOND ? 2 : 0) | (c.code == 0x3A3 ? 4 : 0);
            p += c.size;
        }
    }
    return needs;
}
// Whether a document cannot be read by the tables that there are.
static bool lacks_tables(const Style& style, const u8* p, const u8* end) {
    const i64 there = (style.letters ? 1 : 0) | (style.beyond || style.most ? 2 : 0) | (style.cases ? 4 : 0);
    return there != 7 && !style.separated && (JOINED(VARIANT, text_needs)(p, end - p) & ~there);
}

// ---- the reader -------------------------------------------------------------------------------------------------
// Bytes in a vector register, and a bit for each of them.
#if defined(__AVX2__)
enum { WIDTH = 32 };
#else
enum { WIDTH = 16 };
#endif
typedef u8 Bytes __attribute__((vector_size(WIDTH)));
typedef u8 LooseBytes __attribute__((vector_size(WIDTH), aligned(1), may_alias));
typedef char Chars __attribute__((vector_size(WIDTH)));
INLINE u64 top_bits(Bytes x) {
#if defined(__AVX2__)
    return (u32)__builtin_ia32_pmovmskb256((Chars)x);
#elif defined(__SSE2__)
    return (u32)__builtin_ia32_pmovmskb128((Chars)x);
#else
    u64 half[2];
    memcpy(half, &x, 16);
    u64 bits = 0;
    for (int i = 0; i < 2; i++) bits |= ((half[i] >> 7 & 0x0101010101010101ULL) * 0x0102040810204080ULL >> 56) << 8 * i;
    return bits;
#endif
}

// 64 bytes to `low`, in lower case if so asked; a bit for each letter, digit or underscore, and for each beyond ASCII.
struct Classes { u64 words, beyond; };
template <bool LOWER> INLINE Classes classify(const u8* p, u8* low) {
    Classes result = {0, 0};
    for (int o = 0; o < 64; o += WIDTH) {
        const Bytes x = *(const LooseBytes*)(p + o);
        const Bytes letter = (Bytes)((Bytes)((x | (u8)0x20) - (u8)'a') < (u8)26);
        const Bytes word = letter | (Bytes)((Bytes)(x - (u8)'0') < (u8)10) | (Bytes)(x == (u8)'_');
        *(LooseBytes*)(low + o) = LOWER ? x | (letter & (u8)0x20) : x;
        result.words |= top_bits(word) << o;
        result.beyond |= top_bits(x) << o;
    }
    return result;
}

// The words that were read and not yet taken.
struct Words {
    u64 n, bytes;
    u64 *hashes, *keys;
    u32* bounds;  // where each begins in low, and where it ends
    const u8* low;
    Hashed hashed(u64 i) const { return {hashes[i], keys[i]}; }
    const u8* begin(u64 i) const { return low + bounds[2 * i]; }
    u64 size(u64 i) const { return bounds[2 * i + 1] - bounds[2 * i]; }
};

enum {
    TAKEN = 4096,              // bytes of words that are read before they are taken: all of this stays in the first cache
    MOST_WORDS = TAKEN + 256,  // a word has a byte
    AHEAD = 16,                // words whose places in a table are on their way from memory
};

// Finds the words of documents. `low` holds letters in lower case, `bounds` where words begin and end in it, by turns.
struct Reader {
    const Style& style;
    Words words;
    u8* low;
    u64 room, w;  // bytes of low: there are, are used
    u32* bounds;
    u64 n_bounds;
    bool wide;  // the document has letters beyond ASCII

    explicit Reader(const Style& s) : style(s), words{}, low(nullptr), room(0), w(0), n_bounds(0), wide(false) {
        words.hashes = (u64*)calloc(3 * (MOST_WORDS + AHEAD), 8);
        if (!words.hashes || !make_room(low, room, 2 * TAKEN)) return;
        words.keys = words.hashes + MOST_WORDS + AHEAD;
        words.bounds = bounds = (u32*)(words.keys + MOST_WORDS + AHEAD);
    }
    ~Reader() { free(words.hashes); free(low); }
    bool ready() const { return words.hashes && low; }

    // Leave out the words of one character, if so asked, whose characters have up to so many bytes.
    template <int ONE> u64 hash_words() {
        u64 n = 0;
        for (u64 i = 0; i < n_bounds / 2; i++) {
            const u32 from = bounds[2 * i], size = bounds[2 * i + 1] - from;
            const u8 first = low[from];
            const Hashed h = hash_padded(low + from, size);
            words.hashes[n] = h.hash;
            words.keys[n] = h.key;
            bounds[2 * n] = from;  // over a word that was left out
            bounds[2 * n + 1] = from + size;
            n += ONE == 1 || size != (ONE == 2 ? 1u : 1u + (first >= 0x80) + (first >= 0xE0) + (first >= 0xF0));
        }
        return n;
    }
    // Hash the words that are whole, leave out those below the shortest, and give them to take; what has begun stays.
    template <class Take> bool drain(i64 shortest, Take&& take) {
        words.n = shortest < 2 ? hash_words<1>() : wide ? hash_words<4>() : hash_words<2>();
        words.bytes = w;
        words.low = low;
        if (words.n && !take(words)) return false;
        if (n_bounds & 1) {
            const u32 from = bounds[n_bounds - 1];
            if (from) memmove(low, low + from, w - from);
            w -= from;
            bounds[0] = 0;
            n_bounds = 1;
        } else {
            w = n_bounds = 0;
        }
        return w < 1u << 31 && make_room(low, room, w + TAKEN);
    }

    inline void write_letter(u32 letter) {
        const int size = 4 - __builtin_clz(letter) / 8;
        const u32 bytes = __builtin_bswap32(letter << (32 - 8 * size));
        memcpy(low + w, &bytes, 4);
        w += size;
    }
    // The letter at p in UTF-8, in lower case if so asked; 0 if there is none. The dotted I is an i, after which a word ends:
    // the dot that its lower case has besides is no letter.
    inline u32 letter_at(const Character& c, bool lowercase, const u8* begin, const u8* p, const u8* end, bool& dotted) const {
        const u32 letter = c.code < 128 ? ascii_letter((u8)c.code, lowercase) : letter_of(style, c.code);
        dotted = letter == DOTTED_I;
        if (letter == SIGMA) return final_sigma(style, begin, p, end) ? 0xCF82 : 0xCF83;
        return dotted ? 'i' : letter;
    }
    // Toggle between within a word and outside.
    inline void bound(u64 place) { bounds[n_bounds++] = (u32)place; }
    inline bool inside() const { return n_bounds & 1; }

    // The bounds of the next n of 64 bytes, whose letters have a bit; letters that stand alone are left out here already,
    // if words of one letter are, but for the last, which may go on.
    inline void add_bounds(u64 x, u64 n) {
        const u64 valid = ~0ULL >> (64 - n), open = inside();
        x &= valid;
        if (style.shortest > 1) x &= x << 1 | open | x >> 1 | 1ULL << (n - 1);
        u64 changes = (x ^ (x << 1 | open)) & valid;
        const u64 count = __builtin_popcountll(changes);
        u32* to = bounds + n_bounds;
        for (u64 done = 0; done < count; done += 8)
            for (int i = 0; i < 8; i++) {  // more than there are, which are written over
                *to++ = (u32)(w + __builtin_ctzll(changes | 1ULL << 63));
                changes &= changes - 1;
            }
        n_bounds += count;
        w += n;
    }

    // The words of a document.
    template <class Take> bool read(const u8* p, const u8* end, Take&& take) {
        w = n_bounds = 0;
        wide = false;
        if (style.separated) return read_separated(p, end, take);
        if (style.most) return read_characters(p, end, take);
        if (style.n_cues || style.contractions) return read_marked(p, end, take);
        return style.lowercase ? read_plain<true>(p, end, take) : read_plain<false>(p, end, take);
    }

    template <bool LOWER, class Take> bool read_plain(const u8* p, const u8* end, Take&& take) {
        const u8* const begin = p;
        while (p < end) {
            if (w >= TAKEN && !drain(style.shortest, take)) return false;
            u8 tail[64];
            const u8* from = p;
            u64 n = 64;
            if (end - p < 64) {
                n = end - p;
                memset(tail, 0, 64);
                memcpy(tail, p, n);
                from = tail;
            }
            const Classes found = classify<LOWER>(from, low + w);
            if (found.beyond) n = __builtin_ctzll(found.beyond);
            if (n) add_bounds(found.words, n);
            p += n;
            if (!found.beyond) continue;
            // Letter by letter, as long as one of the next two is beyond ASCII.
            for (int i = 0; i < 32 && p < end && ((*p | p[end - p > 1]) & 0x80); i++) {
                const Character c = character(p, end);
                bool dotted;
                const u32 letter = letter_at(c, LOWER, begin, p, end, dotted);
                p += c.size;
                if (inside() != (letter != 0)) bound(w);
                if (!letter) continue;
                wide |= letter >= 0x80;
                write_letter(letter);
                if (dotted) bound(w);
            }
        }
        if (inside()) bound(w);
        return drain(style.shortest, take);
    }

    // The same, where the words in the scope of a negation are marked: not_good. A scope begins after a cue, or after
    // the t of n't, and ends with the clause.
    template <class Take> bool read_marked(const u8* p, const u8* end, Take&& take) {
        const u8* const begin = p;
        enum { OUTSIDE, SCOPE, BEFORE_T } scope = OUTSIDE;
        u64 start = 0;
        i64 characters = 0;
        const auto finish_word = [&]() {
            if (scope == OUTSIDE) {
                u64 pack = 0;
                for (u64 i = start; i < w && w - start <= 8; i++) pack = pack << 8 | low[i];
                for (i64 c = 0; c < style.n_cues && w - start <= 8; c++) if (style.cues[c] == pack) scope = SCOPE;
                if (scope == OUTSIDE && style.contractions && (low[w - 1] | 0x20) == 'n' && before_t(p, end)) scope = BEFORE_T;
            } else {
                scope = SCOPE;
            }
            if (characters >= style.shortest) {
                bound(w);
            } else {
                n_bounds--;
                w = start;
            }
        };
        while (p < end) {
            if (w >= TAKEN) {
                if (!drain(1, take)) return false;
                start = 0;
            }
            for (int i = 0; i < 64 && p < end; i++) {
                const Character c = character(p, end);
                bool dotted;
                const u32 letter = letter_at(c, style.lowercase, begin, p, end, dotted);
                if (!letter) {
                    if (inside()) finish_word();
                    if (ends_clause(c.code)) scope = OUTSIDE;
                    p += c.size;
                    continue;
                }
                if (!inside()) {
                    start = w;
                    characters = 0;
                    bound(w);
                    if (scope == SCOPE) {
                        memcpy(low + w, "not_", 4);
                        w += 4;
                    }
                }
                write_letter(letter);
                characters++;
                p += c.size;
                if (dotted) finish_word();
            }
        }
        if (inside()) finish_word();
        return drain(1, take);
    }
    static bool ends_clause(u32 code) {
        return code == '.' || code == ',' || code == ':' || code == ';' || code == '!' || code == '?' || code == 0x2026 ||
               code == 0xBF || code == 0xA1;  // … ¿ ¡
    }
    // Whether 't and no further letter stands at p, with an apostrophe of either kind.
    bool before_t(const u8* p, const u8* end) const {
        if (p < end && *p == '\'') p++;
        else if (end - p > 2 && p[0] == 0xE2 && p[1] == 0x80 && p[2] == 0x99) p += 3;
        else return false;
        if (p >= end || (*p | 0x20) != 't') return false;
        p++;
        if (p >= end) return true;
        return *p < 128 ? !ascii_letter(*p, true) : !letter_of(style, decode(p, end).code);
    }

    // The n-grams of characters within what stands between white space, a space before and after it, by where they end
    // and then by their lengths. What is too short for the shortest is one itself.
    template <class Take> bool read_characters(const u8* p, const u8* end, Take&& take) {
        enum { KEPT = 128 };  // no n-gram is longer
        const u8* const begin = p;
        const u64 fewest = style.fewest, most = style.most;
        u64 starts[KEPT], n = 0;  // where the last characters of a word begin in low, and how many it has so far
        const auto found = [&](u64 from) {
            bound(from);
            bound(w);
        };
        const auto add = [&](u32 letter) {
            starts[n++ % KEPT] = w;
            write_letter(letter);
            for (u64 size = fewest; size <= most && size <= n; size++) found(starts[(n - size) % KEPT]);
        };
        const auto finish_word = [&]() {
            add(' ');
            if (n < fewest) found(starts[0]);
            n = 0;
        };
        const auto give = [&]() {
            const u64 kept = smaller(n, most), from = kept ? starts[(n - kept) % KEPT] : w;
            for (u64 size = 1; size <= kept; size++) starts[(n - size) % KEPT] -= from;
            return give_grams(from, take);
        };
        while (p < end) {
            if ((w + 64 > room || n_bounds / 2 + 4 * (most - fewest + 1) > TAKEN) && !give()) return false;
            const Character c = character(p, end);
            bool dotted = false;
            u32 letter;
            if (c.code < 128) letter = ascii_character((u8)c.code, style.lowercase);
            else if (c.code < BEYOND) letter = letter_at(c, style.lowercase, begin, p, end, dotted);
            else letter = (u32)p[0] << 24 | (u32)p[1] << 16 | (u32)p[2] << 8 | p[3];  // which has no case
            p += c.size;
            if (!letter) {
                if (n) finish_word();
                continue;
            }
            if (!n) add(' ');
            add(letter);
            if (dotted) add(0xCC87);
        }
        if (n) finish_word();
        return give();
    }
    // Hash the n-grams that were found, which overlap, and give them to take; what is from a place on stays.
    template <class Take> bool give_grams(u64 from, Take&& take) {
        words.n = hash_words<1>();
        words.bytes = 0;
        for (u64 i = 0; i < words.n; i++) words.bytes += bounds[2 * i + 1] - bounds[2 * i];
        words.low = low;
        if (words.n && !take(words)) return false;
        memmove(low, low + from, w - from);
        w -= from;
        n_bounds = 0;
        return make_room(low, room, w + TAKEN);
    }

    // The words of a document in which they stand apart by the byte 0x1F, as they are.
    template <class Take> bool read_separated(const u8* p, const u8* end, Take&& take) {
        while (p < end) {
            if (w >= TAKEN && !drain(1, take)) return false;
            const u8* stop = (const u8*)memchr(p, 0x1F, end - p);
            const u64 n = (stop ? stop : end) - p;
            if (n) {
                if (w + n >= 1ULL << 31 || !make_room(low, room, w + n + TAKEN)) return false;
                memcpy(low + w, p, n);
                bound(w);
                w += n;
                bound(w);
            }
            p += n + (stop != nullptr);
        }
        return drain(1, take);
    }
};

// ---- tables -----------------------------------------------------------------------------------------------------
static const u32 NONE = 0xFFFFFFFF;
static const u64 MOST = 0x7FFFFFFE;  // numbers of words and n-grams stay below 2^31

// What an n-gram is: the number of what precedes its last word, and that word's.
INLINE u64 pair(u32 above, u32 last) { return (u64)above << 32 | last; }

struct Slot {
    Hashed id;   // of an n-gram the key is its pair
    u32 number;  // + 1; 0: the slot is empty
    u32 count;   // occurrences that are not yet in the log
};

struct Slots {
    Slot* slots;
    u64 size, n;
    int shift;  // the place of a hash is its upper bits: places follow the order of the hashes

    void clear() {
        free(slots);
        *this = {};
    }
    bool make(u64 wanted) {
        u64 bits = 1;
        while (1ULL << bits < wanted) bits++;
        slots = (Slot*)use_large_pages(calloc(1ULL << bits, sizeof(Slot)), sizeof(Slot) << bits);
        size = 1ULL << bits;
        shift = (int)(64 - bits);
        return slots;
    }
    // Room for so many more, no more than five eighths of the slots being taken.
    bool has_room(u64 more) const { return (n + more) * 8 <= size * 5; }
    bool widen(u64 more) {
        if (n + more > MOST) return false;
        Slots wider = {};
        u64 wanted = 2 * size;
        while ((n + more) * 8 > wanted * 5) wanted *= 2;
        if (!wider.make(wanted)) return false;
        for (u64 i = 0; i < size; i++) {
            if (!slots[i].number) continue;
            u64 s = slots[i].id.hash >> wider.shift;
            while (wider.slots[s].number) s = (s + 1) & (wider.size - 1);
            wider.slots[s] = slots[i];
        }
        free(slots);
        slots = wider.slots;
        size = wider.size;
        shift = wider.shift;
        return true;
    }
    // The slot of what this is, or the empty one that it would get.
    template <class Same> inline Slot* find(const Hashed& id, Same&& same) const {
        for (u64 s = id.hash >> shift;; s = (s + 1) & (size - 1)) {
            Slot* slot = slots + s;
            if (!slot->number || (slot->id == id && same(slot->number - 1))) return slot;
        }
    }
    inline void prefetch(u64 hash) const { __builtin_prefetch(slots + (hash >> shift)); }
};

// What a vocabulary has, in canonical order: from the upper bits of a hash to the place in it.
template <class Id> struct Index {
    u32* starts;  // of the hashes that begin with the same bits
    Id* ids;
    int shift;

    void clear() { free(starts); free(ids); }
    template <class Each> bool make(const u64* hashes, i64 n, Each&& id) {
        u64 bits = 1;
        while (1LL << bits < n) bits++;
        starts = (u32*)use_large_pages(calloc((1ULL << bits) + 1, 4), 4ULL << bits);
        ids = (Id*)use_large_pages(calloc(n + 2, sizeof(Id)), n * sizeof(Id));  // two may be looked at that are not there
        shift = (int)(64 - bits);
        if (!starts || !ids) return false;
        for (i64 i = 0; i < n; i++) {
            ids[i] = id(i);
            starts[(hashes[i] >> shift) + 1] = (u32)i + 1;
        }
        for (u64 b = 0; b < 1ULL << bits; b++) starts[b + 1] = larger(starts[b], starts[b + 1]);
        return true;
    }
    // The place of what has this hash, or NONE. It is mostly one of the first two.
    template <class Same> inline u32 find(u64 hash, const Id& id, Same&& same) const {
        const u32 *of = starts + (hash >> shift), end = of[1];
        u32 i = of[0];
        i += !(ids[i] == id);
        if (i < end && ids[i] == id && same(i)) return i;
        for (i = of[0]; i < end; i++) if (ids[i] == id && same(i)) return i;
        return NONE;
    }
    inline void prefetch(u64 hash) const { __builtin_prefetch(starts + (hash >> shift)); }
    inline void prefetch_id(u64 hash) const { __builtin_prefetch(ids + starts[hash >> shift]); }
};

// ---- rows -------------------------------------------------------------------------------------------------------
// The words of a document: their hashes and numbers; and of the n-grams that end with them.
struct Sequence {
    u64 *hashes = nullptr, *level_hashes = nullptr;
    u32 *numbers = nullptr, *nodes = nullptr;
    u64 n = 0, room[4] = {};

    ~Sequence() { free(hashes); free(level_hashes); free(numbers); free(nodes); }
    bool reserve(u64 more) { return make_room(hashes, room[0], n + more) && make_room(numbers, room[1], n + more); }
    bool reserve_level() { return make_room(level_hashes, room[2], n) && make_room(nodes, room[3], n + 1); }
};

// What counting and looking up are told: n-grams of which lengths, hashed to how many buckets (as a power of two; 0: not);
// and, if there is any such word, what words stand for: by the number of each the number of the one that it is taken
// for, and of what it is counted for besides (-1: nothing), and the hashes of all.
struct Features {
    i64 lowest, highest, buckets;
    i32 *into, *besides;
    u64* hashes;
    bool mapped() const { return into; }
    u32 bucket(u64 hash) const { return (u32)(hash >> (64 - buckets)); }
};

// Goes through the words and n-grams of rows for `own`, which has: features(); place(number), which is that of a word
// among what is counted; find(words, numbers), which writes the number of each word; found(places, n), which gets those
// of words and buckets; find_grams(level, n, hashes, nodes, lasts), which writes the numbers of n-grams over those of
// what precedes their last words. All may fail.
template <class Own> struct Rows {
    Own& own;
    Reader reader;
    Sequence sequence;
    const u64 lead;  // words before the first

    Rows(Own& o, const Style& style) : own(o), reader(style), lead(o.lead()) {}

    bool take(const Words& read) {
        const Features f = own.features();
        if (!sequence.reserve(read.n)) return false;
        u32* numbers = sequence.numbers + sequence.n;
        if (f.buckets && !f.mapped()) {
            for (u64 t = 0; t < read.n; t++) numbers[t] = f.bucket(read.hashes[t]);
        } else if (!own.find(read, numbers)) {
            return false;
        }
        if (f.highest > 1 || f.mapped()) {
            memcpy(sequence.hashes + sequence.n, read.hashes, 8 * read.n);
            sequence.n += read.n;
        }
        return f.mapped() || f.lowest > 1 || own.found(numbers, read.n);
    }
    // Leave out the words that stand for nothing, and change those that stand for others.
    bool translate() {
        const Features f = own.features();
        const auto place = [&](u32 number, u64 hash) { return f.buckets ? f.bucket(hash) : own.place(number); };
        if (!sequence.reserve_level()) return false;
        u64 n = 0;
        for (u64 t = lead; t < sequence.n; t++) {
            const u32 number = sequence.numbers[t];
            const i32 more = number == NONE ? -1 : f.besides[number];
            if (more >= 0) sequence.nodes[n++] = place((u32)more, f.hashes[more]);
        }
        if (!own.found(sequence.nodes, n)) return false;
        n = lead;
        for (u64 t = lead; t < sequence.n; t++) {
            u32 number = sequence.numbers[t];
            u64 hash = sequence.hashes[t];
            if (number != NONE) {
                if (f.into[number] < 0) continue;
                number = (u32)f.into[number];
                hash = f.hashes[number];
            }
            sequence.hashes[n] = hash;
            sequence.numbers[n++] = place(number, hash);
        }
        sequence.n = n;
        return f.lowest > 1 || own.found(sequence.numbers + lead, n - lead);
    }
    // The n-grams of more than one word, level by level.
    bool walk() {
        const Features f = own.features();
        if (!sequence.reserve_level()) return false;
        u64 *hashes = sequence.level_hashes, n = sequence.n;
        if (n) memcpy(hashes, sequence.hashes, 8 * n);
        if (n) memcpy(sequence.nodes, sequence.numbers, 4 * n);
        for (u64 level = 2; level <= (u64)f.highest; level++) {
            const u64 first = smaller(level - 1, n), left = n - first;
            // What ends at place t of one level is preceded by what ends at t - 1 of the level before: all moves by one.
            for (u64 t = 0; t < left; t++) hashes[t] = follow(hashes[t], sequence.hashes[t + first]);
            if (!f.buckets) {
                if (!own.find_grams(level, left, hashes, sequence.nodes, sequence.numbers + first)) return false;
                continue;
            }
            for (u64 t = 0; t < left; t++) sequence.nodes[t] = f.bucket(hashes[t]);
            if ((i64)level >= f.lowest && !own.found(sequence.nodes, left)) return false;
        }
        return true;
    }
    bool read(const u8* begin, const u8* end) {
        const Features f = own.features();
        const auto taken = [&](const Words& words) { return take(words); };
        sequence.n = 0;
        if (!sequence.reserve(lead)) return false;
        for (; sequence.n < lead; sequence.n++) {
            sequence.hashes[sequence.n] = mix(0x3C733E);  // <s>, whose number is 0
            sequence.numbers[sequence.n] = 0;
        }
        const u8* last = (const u8*)"</s>";
        return reader.read(begin, end, taken) && (!own.bounded() || reader.read_separated(last, last + 4, taken)) &&
               (!f.mapped() || translate()) && (f.highest < 2 || walk());
    }
};

// ---- counting ---------------------------------------------------------------------------------------------------
union Sum {
    i64 whole;
    double real;
    void add(Sum other, bool is_real) {
        if (is_real) real += other.real;
        else whole += other.whole;
    }
};
INLINE Sum times(u32 count, Sum weight, bool real) {
    Sum result;
    if (real) result.real = count * weight.real;
    else result.whole = count * weight.whole;
    return result;
}

// What was counted, in the order in which it came: (number, class) and sums. Where one comes again, compact() adds them
// up, in their order, and sorts the log by numbers and classes.
struct Log {
    u64* keys;  // number << 32 | class
    Sum* sums;  // of each: occurrences, documents, whichever are counted
    u64 n, room[2], compacted, columns;
    i64 label;  // the last class
    bool ascending, repeated;  // classes never went down; an entry may be there twice

    void clear() {
        free(keys); free(sums);
        *this = {};
    }
    // Ready for so many entries of a class.
    bool begin(i64 next, u64 more, u64 numbers, bool real) {
        if (n > 2 * compacted + (1 << 20) && repeated && !compact(numbers, real)) return false;
        if (n && next <= label) repeated = true;
        if (n && next < label) ascending = false;
        label = next;
        return n + more < NONE && make_room(keys, room[0], n + more) && make_room(sums, room[1], (n + more) * columns);
    }
    // The order of the entries by part(key) < size; equal ones as they were.
    template <class Part> u32* sort(const u32* before, u64 size, Part&& part) const {
        u32 *order = (u32*)malloc(4 * (n + 1)), *ends = (u32*)calloc(size + 1, 4);
        if (order && ends) {
            for (u64 i = 0; i < n; i++) ends[part(keys[i]) + 1]++;
            for (u64 i = 0; i < size; i++) ends[i + 1] += ends[i];
            for (u64 i = 0; i < n; i++) {
                const u32 entry = before ? before[i] : (u32)i;
                order[ends[part(keys[entry])]++] = entry;
            }
        } else {
            free(order);
            order = nullptr;
        }
        free(ends);
        return order;
    }
    bool compact(u64 numbers, bool real) {
        u32 most = 0;
        for (u64 i = 0; i < n; i++) most = larger(most, (u32)keys[i]);
        u32* by_class = ascending ? nullptr : sort(nullptr, (u64)most + 1, [](u64 key) { return (u32)key; });
        u32* order = ascending || by_class ? sort(by_class, numbers, [](u64 key) { return key >> 32; }) : nullptr;
        free(by_class);
        Log to = {};
        const bool made = order && make_room(to.keys, to.room[0], n) && make_room(to.sums, to.room[1], n * columns);
        for (u64 i = 0; made && i < n; i++) {
            const Sum* from = sums + order[i] * columns;
            const u64 key = keys[order[i]];
            if (!to.n || to.keys[to.n - 1] != key) {
                to.keys[to.n] = key;
                memcpy(to.sums + to.n++ * columns, from, columns * sizeof(Sum));
                continue;
            }
            Sum* sum = to.sums + (to.n - 1) * columns;
            for (u64 c = 0; c < columns; c++) sum[c].add(from[c], real);
        }
        free(order);
        if (!made) {
            to.clear();
            return false;
        }
        free(keys); free(sums);
        keys = to.keys, sums = to.sums, n = compacted = to.n;
        room[0] = to.room[0], room[1] = to.room[1];
        ascending = repeated = false;
        label = INT64_MAX;  // whatever comes next may be there already
        return true;
    }
};

// The words, the n-grams of a level, or the buckets, and how often each came since the last flush: in its slot, or by
// its number. A word's slot is read anyway; sums elsewhere would take half as long again.
struct Level {
    Slots table;
    u32* counts;   // by number; or null
    u32* touched;  // slots, or numbers, that have a count
    u64 n_touched, touched_room, counts_room;
    Log log;

    void clear() {
        table.clear();
        log.clear();
        free(counts); free(touched);
    }
    bool grow_touched(u64 more) { return make_room(touched, touched_room, n_touched + more + 1); }
    // Room for so many more words or n-grams, if they are new.
    bool grow(u64 more) {
        if (!grow_touched(more)) return false;
        if (table.has_room(more)) return true;
        if (!table.widen(more)) return false;
        if (counts) return true;
        n_touched = 0;
        for (u64 s = 0; s < table.size; s++)
            if (table.slots[s].count) touched[n_touched++] = (u32)s;
        return true;
    }
    bool grow_counts(u64 wanted) {
        const u64 before = counts_room;
        if (!make_room(counts, counts_room, wanted)) return false;
        memset(counts + before, 0, 4 * (counts_room - before));
        return true;
    }
    bool add(const u32* places, u64 n) {
        if (!grow_touched(n)) return false;
        for (u64 t = 0; t < n; t++) {
            touched[n_touched] = places[t];
            n_touched += !counts[places[t]]++;
        }
        return true;
    }
    // Move the counts to the log.
    bool flush(i64 label, Sum weight, bool occurrences, bool documents, bool real) {
        if (!n_touched) return true;
        if (!log.begin(label, n_touched, counts ? counts_room : table.n, real)) return false;
        Sum* sum = log.sums + log.n * log.columns;
        for (u64 i = 0; i < n_touched; i++) {
            if (!counts && i + AHEAD < n_touched) __builtin_prefetch(table.slots + touched[i + AHEAD]);
            u32& count = counts ? counts[touched[i]] : table.slots[touched[i]].count;
            log.keys[log.n++] = (u64)(counts ? touched[i] : table.slots[touched[i]].number - 1) << 32 | (u32)label;
            if (occurrences) *sum++ = times(count, weight, real);
            if (documents) *sum++ = weight;
            count = 0;
        }
        n_touched = 0;
        return true;
    }
};

struct Counter : Features {
    i64 occurrences, documents, bounds, real;
    Level* levels;  // words or buckets first; with buckets there is one, whose table has the words that stand for others
    u8* text;       // the words' bytes, in the order of their numbers
    u64* ends;      // where each ends, after a zero
    u64 text_room, ends_room, hashes_room, into_room, besides_room;
    i64 label;   // of the rows that are being counted
    Sum weight;
    u64 waiting;  // words since the last flush

    const Features& features() const { return *this; }
    bool bounded() const { return bounds; }
    u64 lead() const { return bounds ? highest - 1 : 0; }
    u32 place(u32 number) const { return number; }
    u64 n_levels() const { return buckets ? 1 : (u64)highest; }
    void clear() {
        for (u64 i = 0; levels && i < n_levels(); i++) levels[i].clear();
        free(levels); free(text); free(ends); free(hashes); free(into); free(besides);
    }
    bool flush() {
        waiting = 0;
        for (u64 i = 0; i < n_levels(); i++)
            if (!levels[i].flush(label, weight, occurrences, documents, real)) return false;
        return true;
    }
    // Room for the words that were read, if all of them are new.
    bool reserve(const Words& read) {
        const u64 n = levels[0].table.n + read.n;
        return levels[0].grow(read.n) && make_room(ends, ends_room, n + 2) &&
               make_room(text, text_room, ends[levels[0].table.n] + read.bytes) && (!into || grow_mapped(n));
    }
    bool grow_mapped(u64 n) {
        return make_room(hashes, hashes_room, n) && make_room(into, into_room, n) && make_room(besides, besides_room, n) &&
               (buckets || levels[0].grow_counts(n));
    }
    void set_plain(u64 number, u64 hash) {
        hashes[number] = hash;
        into[number] = (i32)number;
        besides[number] = -1;
    }
    bool same(u32 number, const u8* p, u64 n) const {
        return ends[number + 1] - ends[number] == n && memcmp(text + ends[number], p, n) == 0;
    }
    inline Slot* find_word(const Slots& table, const Words& read, u64 i) const {
        const Hashed id = read.hashed(i);
        return table.find(id, [&](u32 number) {
            return __builtin_expect(!id.must_compare(), 1) || same(number, read.begin(i), read.size(i));
        });
    }
    __attribute__((noinline)) void add_word(Slot* slot, const Words& read, u64 i) {
        u64& n = levels[0].table.n;
        memcpy(text + ends[n], read.begin(i), read.size(i));
        if (into) set_plain(n, read.hashes[i]);
        ends[n + 1] = ends[n] + read.size(i);
        *slot = {read.hashed(i), (u32)++n, 0};
    }
    // The numbers of words, which are put into the table if they are not there (but for those that stand for buckets), and
    // counted in their slots.
    bool find(const Words& read, u32* numbers) {
        Level& words = levels[0];
        if (!reserve(read)) return false;
        const bool counted = counts_in_slots() && lowest == 1;
        const Slots table = words.table;  // a copy, which stays in registers
        u32* touched = words.touched + words.n_touched;
        for (u64 t = 0; t < AHEAD; t++) table.prefetch(read.hashes[t]);
        for (u64 t = 0; t < read.n; t++) {
            table.prefetch(read.hashes[t + AHEAD]);
            Slot* slot = find_word(table, read, t);
            if (__builtin_expect(!slot->number, 0) && !buckets) add_word(slot, read, t);
            if (counted) {
                *touched = (u32)(slot - table.slots);
                touched += !slot->count++;
            }
            numbers[t] = slot->number - 1;
        }
        words.n_touched = touched - words.touched;
        return true;
    }
    bool counts_in_slots() const { return !levels[0].counts; }
    bool found(const u32* places, u64 n) { return counts_in_slots() || levels[0].add(places, n); }
    // The same for the n-grams of a level; those that end before the first word are there only to be followed.
    bool find_grams(u64 level, u64 n, const u64* hashes, u32* nodes, const u32* lasts) {
        const u64 skipped = (i64)level < lowest ? n : lead() >= level ? smaller(lead() - (level - 1), n) : 0;
        Level& own = levels[level - 1];
        if (!own.grow(n)) return false;
        const Slots table = own.table;
        u64 known = table.n;
        u32* touched = own.touched + own.n_touched;
        for (u64 t = 0; t < smaller<u64>(n, AHEAD); t++) table.prefetch(hashes[t]);
        for (u64 t = 0; t < n; t++) {
            if (t + AHEAD < n) table.prefetch(hashes[t + AHEAD]);
            const Hashed id = {hashes[t], pair(nodes[t], lasts[t])};
            Slot* slot = table.find(id, [](u32) { return true; });
            if (!slot->number) *slot = {id, (u32)++known, 0};
            nodes[t] = slot->number - 1;
            if (t >= skipped) {
                *touched = (u32)(slot - table.slots);
                touched += !slot->count++;
            }
        }
        own.table.n = known;
        own.n_touched = touched - own.touched;
        return true;
    }
};

API(void, counter_free)(Counter* c) {
    c->clear();
    free(c);
}
// The numbers of words that stand apart by the byte 0x1F, which are put into the table if they are not there.
API(i64, counter_numbers)(Counter* c, const u8* data, i64 size, i64* numbers) {
    Style style = {};
    style.separated = 1;
    Reader reader(style);
    const bool done = reader.ready() && reader.read(data, data + size, [&](const Words& read) {
        if (!c->reserve(read)) return false;
        for (u64 t = 0; t < read.n; t++) {
            Slot* slot = c->find_word(c->levels[0].table, read, t);
            if (!slot->number) c->add_word(slot, read, t);
            *numbers++ = slot->number - 1;
        }
        return true;
    });
    return done ? 0 : -1;
}
API(Counter*, counter_new)(i64 lowest, i64 highest, i64 occurrences, i64 documents, i64 bounded, i64 buckets, i64 real, i64 room) {
    Counter* c = (Counter*)calloc(1, sizeof(Counter));
    if (!c) return nullptr;
    c->lowest = lowest, c->highest = highest, c->occurrences = occurrences, c->documents = documents;
    c->bounds = bounded && !buckets, c->buckets = buckets, c->real = real;
    c->levels = (Level*)calloc(c->n_levels(), sizeof(Level));
    bool made = c->levels && make_room(c->ends, c->ends_room, room + 2);
    for (u64 i = 0; made && i < c->n_levels(); i++) {
        c->levels[i].log.columns = occurrences + documents;
        c->levels[i].log.ascending = true;
        made = c->levels[i].table.make(i ? 4 * room : 2 * room);
    }
    if (made) c->ends[0] = 0;
    if (made && buckets) made = c->levels[0].grow_counts(1ULL << buckets);
    i64 numbers[2];
    if (made && c->bounds) made = JOINED(VARIANT, counter_numbers)(c, (const u8*)"<s>\x1f</s>", 8, numbers) == 0;
    if (made) return c;
    JOINED(VARIANT, counter_free)(c);
    return nullptr;
}
// From now on count `into` for each of these words (-1: nothing), and `besides` as well (-1: nothing); all are numbers.
API(i64, counter_translate)(Counter* c, const i64* words, const i64* into, const i64* besides, i64 n) {
    if (!c->into) {
        const Slots& table = c->levels[0].table;
        if (!c->grow_mapped(table.n + 1)) return -1;
        for (u64 s = 0; s < table.size; s++)
            if (table.slots[s].number) c->set_plain(table.slots[s].number - 1, table.slots[s].id.hash);
    }
    for (i64 i = 0; i < n; i++) {
        c->into[words[i]] = (i32)into[i];
        c->besides[words[i]] = (i32)besides[i];
    }
    return 0;
}
// Count these rows, which should come in the order of their labels; all weights are 1 if there are none. Returns how many
// were counted before one that needs other tables.
API(i64, counter_count)(Counter* c, const Style* style, const u8* data, const i64* offsets, const i64* rows, i64 n_rows,
                        const i32* labels, const Sum* weights) {
    Rows<Counter> passage(*c, *style);
    if (!passage.reader.ready()) return -1;
    Sum one = {1};
    if (c->real) one.real = 1.0;
    for (i64 r = 0; r < n_rows; r++) {
        const i64 i = rows[r];
        const u8 *from = data + offsets[i], *end = data + offsets[i + 1];
        if (lacks_tables(*style, from, end)) return r;
        if ((weights || c->documents || labels[i] != c->label || c->waiting >> 31) && !c->flush()) return -1;
        c->label = labels[i];
        c->weight = weights ? weights[i] : one;
        if (!passage.read(from, end)) return -1;
        c->waiting += end - from;
    }
    return n_rows;
}

// ---- what was counted, in canonical order -----------------------------------------------------------------------
// Below, at or above zero as the first bytes come before, are, or come after the others.
INLINE i64 compare_bytes(const u8* a, i64 n, const u8* b, i64 m) {
    const int order = memcmp(a, b, smaller(n, m));
    return order ? order : n - m;
}

// The slots of a table by ascending hash; of equal ones, by precedes(slot, other). What went round the table's end comes
// last, and what lies between is in order but for a few neighbours.
template <class Precedes> static u32* order_slots(const Slots& t, Precedes&& precedes) {
    u32* order = (u32*)malloc(4 * (t.n + 1));
    if (!order) return nullptr;
    u64 late = 0, n = 0;
    while (t.slots[late].number) late++;
    for (u64 i = 0; i < t.size + late; i++) {
        const u64 s = i & (t.size - 1);
        const Slot& slot = t.slots[s];
        if (!slot.number || (s < late && (slot.id.hash >> t.shift > s) != (i >= t.size))) continue;
        u64 at = n++;
        for (; at > 0; at--) {
            const Slot& other = t.slots[order[at - 1]];
            if (other.id.hash < slot.id.hash || (other.id.hash == slot.id.hash && precedes(other, slot))) break;
            order[at] = order[at - 1];
        }
        order[at] = (u32)s;
    }
    return order;
}

// The last flush, and the sizes of what was counted: bytes of words, cells, and the words and n-grams of each level.
API(i64, counter_sizes)(Counter* c, i64* sizes) {
    if (!c->flush()) return -1;
    sizes[0] = c->buckets ? 0 : (i64)c->ends[c->levels[0].table.n];
    sizes[1] = 0;
    for (u64 i = 0; i < c->n_levels(); i++) {
        Level& level = c->levels[i];
        if (level.log.repeated && !level.log.compact(level.counts ? level.counts_room : level.table.n, c->real)) return -1;
        sizes[1] += (i64)level.log.n;
        sizes[2 + i] = c->buckets ? 0 : (i64)level.table.n;
    }
    return 0;
}

// Write what was counted, level after level; the counter is of no use afterwards, its tables being freed one by one.
API(i64, counter_finish)(Counter* c, u8* data, i64* ends, u64* hashes, i32* parents, i32* lasts, i64* starts, i32* codes,
                         void* values) {
    const u64 levels = c->n_levels();
    u32** places = (u32**)calloc(levels, sizeof(u32*));  // where each word or n-gram went
    bool done = places;
    for (u64 level = 1; done && level <= levels && !c->buckets; level++) {
        Slots& t = c->levels[level - 1].table;
        u32* place = places[level - 1] = (u32*)malloc(4 * (t.n + 1));
        const u32* above = level == 1 ? nullptr : places[level - 2];
        u32* order = !place ? nullptr : order_slots(t, [&](const Slot& a, const Slot& b) {
            if (level > 1) {
                const u32 one = above[a.id.key >> 32], other = above[b.id.key >> 32];
                return one < other || (one == other && places[0][(u32)a.id.key] < places[0][(u32)b.id.key]);
            }
            const u64 from = c->ends[a.number - 1], begin = c->ends[b.number - 1];
            return compare_bytes(c->text + from, c->ends[a.number] - from, c->text + begin, c->ends[b.number] - begin) < 0;
        });
        done = order;
        i64 bytes = 0;
        for (u64 i = 0; done && i < t.n; i++) {
            const Slot& slot = t.slots[order[i]];
            place[slot.number - 1] = (u32)i;
            *hashes++ = slot.id.hash;
            if (level > 1) {
                *parents++ = (i32)above[slot.id.key >> 32];
                *lasts++ = (i32)places[0][(u32)slot.id.key];
                continue;
            }
            const u64 from = c->ends[slot.number - 1], size = c->ends[slot.number] - from;
            memcpy(data + bytes, c->text + from, size);
            ends[i] = bytes += (i64)size;
        }
        free(order);
        free(t.slots);
        t.slots = nullptr;
    }
    i64 before = 0;
    starts[0] = 0;
    for (u64 level = 1; done && level <= levels; level++) {
        Log& log = c->levels[level - 1].log;
        const u64 n = c->buckets ? 1ULL << c->buckets : c->levels[level - 1].table.n;
        const u32* place = places[level - 1];
        // Cells go to their nodes' places in the memory, a batch at a time, so that many are on their way at once.
        const auto in_batches = [&](auto&& use, auto&& write) {
            u64 places_of[64];
            for (u64 i = 0; i < log.n; i += 64) {
                const u64 size = smaller<u64>(64, log.n - i);
                for (u64 k = 0; k < size; k++) {
                    const u64 number = log.keys[i + k] >> 32;
                    places_of[k] = place ? place[number] : number;
                    __builtin_prefetch(starts + 1 + places_of[k]);
                }
                for (u64 k = 0; k < size; k++) use(places_of[k]);
                for (u64 k = 0; k < size; k++) write(places_of[k], i + k);
            }
        };
        i64* at = starts + 1;
        for (u64 i = 0; i < n; i++) at[i] = 0;
        in_batches([&](u64 node) { at[node]++; }, [](u64, u64) {});
        for (u64 i = 0; i < n; i++) {  // now where the cells of each begin; as they are written, where they end
            const i64 size = at[i];
            at[i] = before;
            before += size;
        }
        in_batches([&](u64& node) {
            node = at[node]++;
            __builtin_prefetch(codes + node);
            __builtin_prefetch((Sum*)values + node * log.columns);
        }, [&](u64 cell, u64 i) {
            codes[cell] = (i32)(u32)log.keys[i];
            memcpy((Sum*)values + cell * log.columns, log.sums + i * log.columns, log.columns * sizeof(Sum));
        });
        starts += n;
        c->levels[level - 1].clear();
        c->levels[level - 1] = {};
    }
    for (u64 i = 0; places && i < levels; i++) free(places[i]);
    free(places);
    return done ? 0 : -1;
}

// ---- looking up -------------------------------------------------------------------------------------------------
// The tables of a vocabulary, which any number of threads read. With buckets there are no words in it. `into` and the
// arrays after it, if there are any, say what words of the table stand for: as of a Counter, and for each the node of the
// model's own vocabulary (-1: it has none).
struct Lookup : Features {
    Index<Hashed> words;
    const u8* text;
    const i64* ends;
    const i64* named;
    Index<u64>* levels;
    i64* firsts;  // the first node of each level

    void clear() {
        words.clear();
        for (i64 i = 0; levels && i < highest - 1; i++) levels[i].clear();
        free(levels); free(firsts);
    }
    u64 begin(i64 number) const { return number ? ends[number - 1] : 0; }
    Hashed hashed(i64 number) const {
        const u64 size = ends[number] - begin(number);
        return size > 8 ? hash_bytes(text + begin(number), size) : Hashed{hashes[number], 0};
    }
    bool same(u32 number, const u8* p, u64 n) const {
        return ends[number] - begin(number) == n && memcmp(text + begin(number), p, n) == 0;
    }
};

API(void, lookup_free)(Lookup* l) {
    l->clear();
    free(l);
}
// A table of words in canonical order, whose arrays must outlive it.
API(Lookup*, lookup_new)(i64 lowest, i64 highest, i64 buckets, u64* hashes, i64 n, const u8* text, const i64* ends, i32* into,
                         i32* besides, const i64* named) {
    Lookup* l = (Lookup*)calloc(1, sizeof(Lookup));
    if (!l) return nullptr;
    *(Features*)l = {lowest, highest, buckets, into, besides, hashes};
    l->text = text, l->ends = ends, l->named = named;
    l->levels = (Index<u64>*)calloc(highest, sizeof(Index<u64>));
    l->firsts = (i64*)calloc(highest, sizeof(i64));
    if (l->levels && l->firsts && l->words.make(hashes, n, [&](i64 i) { return l->hashed(i); })) return l;
    JOINED(VARIANT, lookup_free)(l);
    return nullptr;
}
// The same for the n-grams of a level, whose nodes begin at `first`.
API(i64, lookup_level)(Lookup* l, i64 level, i64 first, const u64* hashes, const i32* parents, const i32* lasts, i64 n) {
    l->firsts[level - 1] = first;
    return l->levels[level - 2].make(hashes, n, [&](i64 i) { return pair(parents[i], lasts[i]); }) ? 0 : -1;
}

// Looks the words of rows up and gives their nodes, NONE for what is not known, to a sink, which has add(nodes, n,
// the first of their level), which may fail, and end_row(row).
template <class Sink> struct LookingUp {
    const Lookup& l;
    Sink& sink;

    const Features& features() const { return l; }
    bool bounded() const { return false; }
    u64 lead() const { return 0; }
    u32 place(u32 number) const { return number == NONE ? NONE : (u32)l.named[number]; }
    bool found(const u32* nodes, u64 n) { return sink.add(nodes, n, 0); }
    // Each of n is looked up; what is looked at is on its way from memory before.
    template <class Id, class Find> void find_all(const Index<Id>& index, const u64* hashes, u64 n, Find&& find) const {
        for (u64 t = 0; t < smaller<u64>(n, 2 * AHEAD); t++) index.prefetch(hashes[t]);
        for (u64 t = 0; t < smaller<u64>(n, AHEAD); t++) index.prefetch_id(hashes[t]);
        for (u64 t = 0; t < n; t++) {
            if (t + 2 * AHEAD < n) index.prefetch(hashes[t + 2 * AHEAD]);
            if (t + AHEAD < n) index.prefetch_id(hashes[t + AHEAD]);
            find(t);
        }
    }
    bool find(const Words& read, u32* numbers) {
        const Index<Hashed> index = l.words;
        find_all(index, read.hashes, read.n, [&](u64 t) {
            const Hashed id = read.hashed(t);
            numbers[t] = index.find(id.hash, id, [&](u32 i) {
                return __builtin_expect(!id.must_compare(), 1) || l.same(i, read.begin(t), read.size(t));
            });
        });
        return true;
    }
    // What has an unknown part is a pair that no n-gram has.
    bool find_grams(u64 level, u64 n, const u64* hashes, u32* nodes, const u32* lasts) {
        const Index<u64> index = l.levels[level - 2];
        find_all(index, hashes, n, [&](u64 t) {
            nodes[t] = index.find(hashes[t], pair(nodes[t], lasts[t]), [](u32) { return true; });
        });
        return (i64)level < l.lowest || sink.add(nodes, n, (u32)l.firsts[level - 1]);
    }
};

// Go through the nodes of each row; returns how many rows were done before one that needs other tables.
template <class Sink>
static i64 look_up_rows(const Lookup& l, const Style& style, const u8* data, const i64* offsets, const u8* missing, i64 first,
                        i64 last, Sink& sink) {
    LookingUp<Sink> own = {l, sink};
    Rows<LookingUp<Sink>> passage(own, style);
    if (!passage.reader.ready()) return -1;
    for (i64 row = first; row < last; row++) {
        if (missing && missing[row]) continue;
        const u8 *begin = data + offsets[row], *end = data + offsets[row + 1];
        if (lacks_tables(style, begin, end)) return row - first;
        if (!passage.read(begin, end)) return -1;
        sink.end_row(row);
    }
    return last - first;
}

// The different nodes of a document, in the order of their first occurrence, and how often each is there. A small hash
// table that is as wide as the document asks for, so that it stays in the first cache.
struct Distinct {
    u32 *nodes = nullptr, *times = nullptr;
    u64* slots = nullptr;  // place << 32 | node + 1; 0: empty
    u64 n = 0, room[3] = {};
    int shift = 64;  // 64: there is no table yet

    ~Distinct() { free(nodes); free(times); free(slots); }
    void clear() {
        n = 0;
        shift = 64;
    }
    // Room for so many more, no more than half of the slots being taken.
    bool reserve(u64 more) {
        int bits = 64 - shift;
        if (bits && 2 * (n + more) <= 1ULL << bits) return true;
        for (bits = larger(bits, 6); 2 * (n + more) > 1ULL << bits;) bits++;
        const u64 size = 1ULL << bits;
        if (!make_room(slots, room[0], size) || !make_room(nodes, room[1], size) || !make_room(times, room[2], size)) return false;
        memset(slots, 0, 8 * size);
        shift = 64 - bits;
        for (u64 i = 0; i < n; i++) {
            u64 s = nodes[i] * HASH_START >> shift;
            while (slots[s]) s = (s + 1) & (size - 1);
            slots[s] = i << 32 | (nodes[i] + 1);
        }
        return true;
    }
    // Those that are not known are left out. There is no branch on whether a node is new, which nobody can foresee, and
    // none on whether its slot is taken, but by another: the product is not zero where neither factor is.
    bool add(const u32* more, u64 n_more, u32 first) {
        if (!reserve(n_more)) return false;
        u64* const __restrict table = slots;
        u32 *const __restrict own = nodes, *const __restrict counts = times;
        const u64 mask = ~0ULL >> shift;
        const int by = shift;
        u64 last = n;
        for (u64 t = 0; t < n_more; t++) {
            if (more[t] == NONE) continue;
            const u64 node = more[t] + first;
            u64 s = node * HASH_START >> by, there = table[s];
            while (__builtin_expect((u64)(u32)there * ((u32)there ^ (node + 1)) != 0, 0)) there = table[s = (s + 1) & mask];
            const u64 seen = -(u64)(there != 0), place = (there >> 32 & seen) | (last & ~seen);
            table[s] = place << 32 | (node + 1);
            own[last] = (u32)node;
            counts[place] = (counts[place] & (u32)seen) + 1;
            last += seen + 1;
        }
        n = last;
        return true;
    }
};

// What each node adds to the log joint; kernels/text.py says how.
struct Weights {
    const i64* info;        // (nodes, 2)
    const double* cells;    // (cells, 2)
    const double* lines;    // (lines, classes)
    const double *weights, *base, *constant;  // or null
    i64 classes;
};

// Adds to each row of `out`: count × value for each different node, in the order of first occurrence; and then what is
// common to all nodes.
struct Scorer {
    const Weights& table;
    bool once;
    double *squares, *out;
    Distinct found;

    bool add(const u32* nodes, u64 n, u32 first) { return found.add(nodes, n, first); }
    void end_row(i64 row) {
        double* __restrict line = out + row * table.classes;
        const i64 *info = table.info, classes = table.classes;
        double total = 0.0, level = 0.0, square = 0.0;
        for (u64 i = 0; i < smaller<u64>(AHEAD, found.n); i++) __builtin_prefetch(info + 2 * (i64)found.nodes[i]);
        for (u64 i = 0; i < found.n; i++) {
            if (i + AHEAD < found.n) __builtin_prefetch(info + 2 * (i64)found.nodes[i + AHEAD]);
            if (i + AHEAD / 2 < found.n) prefetch_values(info[2 * (i64)found.nodes[i + AHEAD / 2]]);
            const i64 node = found.nodes[i], number = info[2 * node];
            if (number < 0) continue;
            const double times = once ? 1.0 : found.times[i];
            const double weight = (table.weights ? table.weights[node] : 1.0) * times;
            total += weight;
            square += weight * weight;
            if (table.base) level += times * table.base[node];
            const i64 place = number >> 21, n = number & 0xFFFFF;
            if (n == 1) {
                line[place] += times * as_double((u64)info[2 * node + 1]);
            } else if (number >> 20 & 1) {
                const double* __restrict values = table.lines + place * classes;
                for (i64 k = 0; k < classes; k++) line[k] += times * values[k];
            } else {
                const double* cells = table.cells + 2 * place;
                for (i64 c = 0; c < 2 * n; c += 2) line[(i64)cells[c]] += times * cells[c + 1];
            }
        }
        if (table.constant) for (i64 k = 0; k < classes; k++) line[k] += total * table.constant[k] + level;
        if (squares) squares[row] += square;
        found.clear();
    }
    void prefetch_values(i64 number) const {
        if (number < 0 || (number & 0xFFFFF) < 2) return;
        const i64 place = number >> 21;
        if (number >> 20 & 1) {
            const double* values = table.lines + place * table.classes;
            for (i64 k = 0; k < smaller<i64>(table.classes, 32); k += 8) __builtin_prefetch(values + k);
        } else {
            __builtin_prefetch(table.cells + 2 * place);
        }
    }
};
API(i64, lookup_score)(const Lookup* l, const Style* style, const u8* data, const i64* offsets, const u8* missing, i64 first,
                       i64 last, const Weights* table, i64 once, double* squares, double* out) {
    Scorer scorer = {*table, once != 0, squares, out, {}};
    return look_up_rows(*l, *style, data, offsets, missing, first, last, scorer);
}

// Lists the nodes of each row that are used, each once, with how often it is there; n are listed already.
struct Lister {
    const u8* is_used;
    i32 *rows, *nodes, *counts;
    i64 n;
    Distinct found;

    bool add(const u32* some, u64 more, u32 first) { return found.add(some, more, first); }
    void end_row(i64 row) {
        for (u64 i = 0; i < found.n; i++) {
            if (!is_used[found.nodes[i]]) continue;
            rows[n] = (i32)row;
            nodes[n] = (i32)found.nodes[i];
            counts[n++] = (i32)found.times[i];
        }
        found.clear();
    }
};
API(i64, lookup_entries)(const Lookup* l, const Style* style, const u8* data, const i64* offsets, const u8* missing, i64 first,
                         i64 last, const u8* used, i32* rows, i32* nodes, i32* counts, i64* n) {
    Lister lister = {used, rows, nodes, counts, n[0], {}};
    const i64 done = look_up_rows(*l, *style, data, offsets, missing, first, last, lister);
    n[0] = lister.n;
    return done;
}

// All the nodes of each row, -1 for what is not known; `ends` says where each row's end.
struct NodeWriter {
    i64 *nodes, *ends;
    i64 n;

    bool add(const u32* some, u64 more, u32 first) {
        for (u64 t = 0; t < more; t++) nodes[n++] = some[t] == NONE ? -1 : (i64)some[t] + first;
        return true;
    }
    void end_row(i64 row) { ends[row] = n; }
};
API(i64, lookup_nodes)(const Lookup* l, const Style* style, const u8* data, const i64* offsets, const u8* missing, i64 first,
                       i64 last, i64* nodes, i64* ends, i64* n) {
    NodeWriter writer = {nodes, ends, n[0]};
    const i64 done = look_up_rows(*l, *style, data, offsets, missing, first, last, writer);
    n[0] = writer.n;
    return done;
}

// Lay out a table of weights from the cells of each node (their classes and values): first the numbers and the sizes of
// the other arrays; and, once there are these arrays, what is in them.
API(void, lay_out_weights)(const i64* starts, const i32* codes, const double* values, const u8* used, i64 n, i64 classes,
                           i64* info, i64* sizes, double* cells, double* lines) {
    i64 n_cells = 0, n_lines = 0;
    for (i64 f = 0; f < n; f++) {
        const i64 first = starts[f], count = starts[f + 1] - first;
        const bool is_line = count > 1 && 2 * count >= classes, is_single = count == 1;
        const i64 place = is_single ? codes[first] : is_line ? n_lines : n_cells;
        info[2 * f] = used[f] ? (place << 1 | is_line) << 20 | count : -1;
        info[2 * f + 1] = used[f] && is_single ? (i64)as_bits(values[first]) : 0;
        if (!used[f] || is_single) continue;
        for (i64 c = 0; lines && c < count; c++) {
            double* cell = is_line ? lines + place * classes + codes[first + c] : cells + 2 * (place + c) + 1;
            *cell = values[first + c];
            if (!is_line) cell[-1] = codes[first + c];
        }
        (is_line ? n_lines : n_cells) += is_line ? 1 : count;
    }
    sizes[0] = n_cells;
    sizes[1] = n_lines;
}
