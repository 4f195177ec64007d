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
struct Hashed { u64 hash, key; };
INLINE bool must_compare(u64 key) { return key != 0 && (key & 255) == 0; }

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
    const u64 pack = n < 8 ? first >> shift : first;
    return {mix(n > 8 ? fold(HASH_START, pack) ^ rest ^ n << 32 : pack), n > 8 ? rest : 0};
}
INLINE Hashed hash_bytes(const u8* p, u64 n) {
    if (n > 16) return hash_long(p, n);
    u8 padded[24] = {};
    memcpy(padded, p, n);
    return hash_padded(padded, n ? n : 8);
}

// ---- memory -----------------------------------------------------------------------------------------------------
// Room for so many things in an array that grows by doubling; false where there is no memory.
template <class T> static bool make_room(T*& array, u64& room, u64 wanted) {
    if (wanted <= room) return true;
    u64 size = larger<u64>(room, 16);
    while (size < wanted) size *= 2;
    T* made = (T*)realloc(array, size * sizeof(T));
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
    const i64 there = (style.letters ? 1 : 0) | (style.beyond ? 2 : 0) | (style.cases ? 4 : 0);
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
        const Bytes small = x | (Bytes)((Bytes)(x - (u8)'A') < (u8)26) & (u8)0x20;
        const Bytes word = (Bytes)((Bytes)(small - (u8)'a') < (u8)26) | (Bytes)((Bytes)(x - (u8)'0') < (u8)10) | (Bytes)(x == (u8)'_');
        *(LooseBytes*)(low + o) = LOWER ? small : x;
        result.words |= top_bits(word) << o;
        result.beyond |= top_bits(x) << o;
    }
    return result;
}

// The words that were read and not yet taken.
struct Words {
    u64 n;
    u64 *hashes, *keys;
    u32 *starts, *sizes;  // in low
    const u8* low;
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

    explicit Reader(const Style& s) : style(s), words{}, low(nullptr), room(0), w(0), n_bounds(0) {
        u64* space = (u64*)malloc((2 * 8 + 4 * 4) * (MOST_WORDS + AHEAD));
        words.hashes = space;
        if (!space || !make_room(low, room, 2 * TAKEN)) return;
        words.keys = space + (MOST_WORDS + AHEAD);
        words.starts = (u32*)(words.keys + (MOST_WORDS + AHEAD));
        words.sizes = words.starts + (MOST_WORDS + AHEAD);
        bounds = words.sizes + (MOST_WORDS + AHEAD);
        memset(space, 0, 8 * (MOST_WORDS + AHEAD));
    }
    ~Reader() { free(words.hashes); free(low); }
    bool ready() const { return words.hashes && low; }

    // Hash the words that are whole, leave out those below the shortest, and give them to take; what has begun stays.
    template <class Take> bool drain(i64 shortest, Take&& take) {
        const u64 whole = n_bounds / 2;
        u64 n = 0;
        for (u64 i = 0; i < whole; i++) {
            const u32 from = bounds[2 * i], size = bounds[2 * i + 1] - from;
            const u8 first = low[from];
            const Hashed h = hash_padded(low + from, size);
            words.hashes[n] = h.hash;
            words.keys[n] = h.key;
            words.starts[n] = from;
            words.sizes[n] = size;
            // A word that is as long as its first character is that character.
            n += shortest < 2 || size != 1u + (first >= 0x80) + (first >= 0xE0) + (first >= 0xF0);
        }
        words.n = n;
        words.low = low;
        if (n && !take(words)) return false;
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
    // Toggle between within a word and outside.
    inline void bound(u64 place) { bounds[n_bounds++] = (u32)place; }
    inline bool inside() const { return n_bounds & 1; }

    // The bounds of the next n of 64 bytes, whose letters have a bit.
    inline void add_bounds(u64 x, u64 n) {
        const u64 valid = ~0ULL >> (64 - n);
        x &= valid;
        u64 changes = (x ^ (x << 1 | inside())) & valid;
        const u64 count = __builtin_popcountll(changes);
        u32* to = bounds + n_bounds;
        for (u64 done = 0; done < count; done += 8)
            for (int i = 0; i < 8; i++) {  // more than there are, which are written over
                *to++ = (u32)(w + (changes ? __builtin_ctzll(changes) : 0));
                changes &= changes - 1;
            }
        n_bounds += count;
        w += n;
    }

    // The words of a document.
    template <class Take> bool read(const u8* p, const u8* end, Take&& take) {
        w = n_bounds = 0;
        if (style.separated) return read_separated(p, end, take);
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
                u32 letter = c.code < 128 ? ascii_letter((u8)c.code, LOWER) : letter_of(style, c.code);
                const bool dotted = letter == DOTTED_I;
                if (letter == SIGMA) letter = final_sigma(style, begin, p, end) ? 0xCF82 : 0xCF83;
                if (dotted) letter = 'i';
                p += c.size;
                if (!letter) {
                    if (inside()) bound(w);
                    continue;
                }
                if (!inside()) bound(w);
                write_letter(letter);
                if (dotted) bound(w);  // the dot that its lower case has besides is no letter
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
                u32 letter = c.code < 128 ? ascii_letter((u8)c.code, style.lowercase) : letter_of(style, c.code);
                if (!letter) {
                    if (inside()) finish_word();
                    if (ends_clause(c.code)) scope = OUTSIDE;
                    p += c.size;
                    continue;
                }
                const bool dotted = letter == DOTTED_I;
                if (letter == SIGMA) letter = final_sigma(style, begin, p, end) ? 0xCF82 : 0xCF83;
                if (dotted) letter = 'i';
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

    // One more word, after a document's.
    template <class Take> bool add_word(const char* word, u64 n, Take&& take) {
        memcpy(low, word, n);
        w = n;
        bounds[0] = 0;
        bounds[1] = (u32)n;
        n_bounds = 2;
        return drain(1, take);
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
static const u64 MOST = 0x7FFFFFFE;  // numbers of words, n-grams and cells stay below 2^31

// An n-gram's key is the pair (number of what precedes its last word, number of that word), which tells it apart.
struct Slot {
    u64 hash, key;
    u32 number, cell;  // + 1; 0: there is none
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
        slots = (Slot*)calloc(1ULL << bits, sizeof(Slot));
        size = 1ULL << bits;
        shift = (int)(64 - bits);
        return slots;
    }
    // Room for so many more, no more than five eighths of the slots being taken.
    bool grow(u64 more) {
        if ((n + more) * 8 <= size * 5) return true;
        if (n + more > MOST) return false;
        Slots wider = {};
        u64 wanted = 2 * size;
        while ((n + more) * 8 > wanted * 5) wanted *= 2;
        if (!wider.make(wanted)) return false;
        for (u64 i = 0; i < size; i++)
            if (slots[i].number) *wider.find_empty(slots[i].hash) = slots[i];
        free(slots);
        slots = wider.slots;
        size = wider.size;
        shift = wider.shift;
        return true;
    }
    Slot* find_empty(u64 hash) const {
        u64 s = hash >> shift;
        while (slots[s].number) s = (s + 1) & (size - 1);
        return slots + s;
    }
    // The slot of what has this hash and key, or the empty one that it would get.
    template <class Same> inline Slot* find(u64 hash, u64 key, Same&& same) const {
        for (u64 s = hash >> shift;; s = (s + 1) & (size - 1)) {
            Slot* slot = slots + s;
            if (!slot->number || (slot->hash == hash && slot->key == key && same(slot->number - 1))) return slot;
        }
    }
    inline void prefetch(u64 hash) const { __builtin_prefetch(slots + (hash >> shift)); }
};

// The words (or n-grams of the level) of a document: their hashes and numbers.
struct Sequence {
    u64 *hashes = nullptr, *level_hashes = nullptr;
    u32 *numbers = nullptr, *nodes = nullptr;
    u64 n = 0, room[4] = {};

    ~Sequence() { free(hashes); free(level_hashes); free(numbers); free(nodes); }
    bool reserve(u64 more) { return make_room(hashes, room[0], n + more) && make_room(numbers, room[1], n + more); }
    void push(u64 hash, u32 number) { hashes[n] = hash; numbers[n++] = number; }

    // Go through the n-grams of more than one word, level by level. `tables` has begin_level(level, n), which may fail,
    // prefetch(level, hash), and find(level, place, hash, parent, last): the number of the n-gram that ends there.
    template <class Tables> bool walk(i64 highest, Tables&& tables) {
        if (!make_room(level_hashes, room[2], n) || !make_room(nodes, room[3], n)) return false;
        if (n) memcpy(level_hashes, hashes, 8 * n);
        if (n) memcpy(nodes, numbers, 4 * n);
        for (u64 level = 2; level <= (u64)highest; level++) {
            const u64 first = level - 1;
            if (!tables.begin_level(level, n)) return false;
            if (first >= n) continue;
            u64 before = level_hashes[first - 1];
            for (u64 t = first; t < n; t++) {
                const u64 own = level_hashes[t];
                level_hashes[t] = follow(before, hashes[t]);
                before = own;
            }
            u32 parent = nodes[first - 1];
            for (u64 t = first; t < smaller(first + AHEAD, n); t++) tables.prefetch(level, level_hashes[t]);
            for (u64 t = first; t < n; t++) {
                if (t + AHEAD < n) tables.prefetch(level, level_hashes[t + AHEAD]);
                const u32 own = nodes[t];
                nodes[t] = tables.find(level, t, level_hashes[t], parent, numbers[t]);
                parent = own;
            }
        }
        return true;
    }
};

// ---- counting ---------------------------------------------------------------------------------------------------
// What each class has of each word, n-gram or bucket: cells in rings by ascending class. Rows come in the order of their
// classes, so the cell that was used last is nearly always the one that is wanted next.
union Sum { i64 whole; double real; };

struct Cells {
    u64* links;   // the next cell of the ring, and this one's class
    Sum* sums;    // occurrences, documents: those that are counted
    u32* stamps;  // the last document that was added, where they are counted
    u64 n, room[3];
    u64 run;      // the first cell of this run of one class
    i64 label;    // that class

    void clear() {
        free(links); free(sums); free(stamps);
        *this = {};
    }
    bool grow(u64 more, u64 columns, bool stamped) {
        return n + more <= MOST && make_room(links, room[0], n + more) && make_room(sums, room[1], (n + more) * columns) &&
               (!stamped || make_room(stamps, room[2], n + more));
    }
    void begin_row(i64 row_label) {
        if (row_label == label) return;
        label = row_label;
        run = n;
    }
    // The cell of this run's class in the ring that `cell` is on (+ 1; 0: there is none yet), made if there is none.
    u32 find(u32 cell, u64 columns, bool stamped) {
        const u64 made = n, own_label = (u64)label;
        if (!cell) {
            links[made] = made << 32 | own_label;
        } else {
            u64 at = cell - 1;
            for (;;) {
                const u64 own = (u32)links[at], next = links[at] >> 32, following = (u32)links[next];
                if (own == own_label) return (u32)at + 1;
                if ((own < own_label && own_label < following) ||
                    (following <= own && (own_label > own || own_label < following))) break;
                at = next;
            }
            links[made] = links[at] >> 32 << 32 | own_label;
            links[at] = made << 32 | (u32)links[at];
        }
        for (u64 c = 0; c < columns; c++) sums[made * columns + c].whole = 0;
        if (stamped) stamps[made] = NONE;
        n++;
        return (u32)made + 1;
    }
};

struct Counter {
    i64 lowest, highest, counts, documents, bounded, buckets, real;
    Slots words;
    u8* text;     // the words' bytes, in the order of their numbers
    u64* ends;    // where each ends, after a zero
    u64 text_room, ends_room;
    Cells cells;            // of words, or buckets
    Slots* levels;        // of n-grams: [level - 2]
    Cells* level_cells;
    u32* heads;   // cells of buckets, or of words where they are translated; else they are in the slots
    // Where words are translated: the hash of each, what it is counted for, and besides (-1: nothing).
    u64* own;
    i32 *into, *besides;
    u64 heads_room, own_room, into_room, besides_room;
    u32 document;

    u64 columns() const { return (u64)(counts + documents); }
    bool mapped() const { return into; }
    void clear() {
        words.clear();
        free(text); free(ends); free(heads); free(own); free(into); free(besides);
        cells.clear();
        for (i64 i = 0; levels && i < highest - 1; i++) levels[i].clear();
        for (i64 i = 0; level_cells && i < highest - 1; i++) level_cells[i].clear();
        free(levels); free(level_cells);
    }
    bool same(u32 number, const u8* p, u64 n) const {
        return ends[number + 1] - ends[number] == n && memcmp(text + ends[number], p, n) == 0;
    }
    // Room for the words that were read, if all of them are new.
    bool reserve(const Words& read) {
        u64 bytes = 0;
        for (u64 i = 0; i < read.n; i++) bytes += read.sizes[i];
        return words.grow(read.n) && make_room(ends, ends_room, words.n + read.n + 2) &&
               make_room(text, text_room, ends[words.n] + bytes) && (!mapped() || grow_mapped(read.n));
    }
    bool grow_mapped(u64 more) {
        const u64 wanted = words.n + more;
        return make_room(own, own_room, wanted) && make_room(into, into_room, wanted) && make_room(besides, besides_room, wanted) &&
               (buckets || make_room(heads, heads_room, wanted));
    }
    void set_plain(u64 number, u64 hash) {
        own[number] = hash;
        into[number] = (i32)number;
        besides[number] = -1;
        if (!buckets) heads[number] = 0;
    }
    u32& bucket(u64 hash) const { return heads[hash >> (64 - buckets)]; }
    inline Slot* find_word(const Words& read, u64 i) const {
        const u64 key = read.keys[i];
        return words.find(read.hashes[i], key, [&](u32 number) {
            return __builtin_expect(!must_compare(key), 1) || same(number, read.low + read.starts[i], read.sizes[i]);
        });
    }
    inline Slot* find_or_add(const Words& read, u64 i) {
        Slot* slot = find_word(read, i);
        if (__builtin_expect(!slot->number, 0)) {
            const u64 begin = ends[words.n];
            memcpy(text + begin, read.low + read.starts[i], read.sizes[i]);
            if (mapped()) set_plain(words.n, read.hashes[i]);
            ends[++words.n] = begin + read.sizes[i];
            *slot = {read.hashes[i], read.keys[i], (u32)words.n, 0};
        }
        return slot;
    }
};

// The row that is being counted.
template <class T> struct Row {
    Counter& c;
    T weight;
    bool bare;  // only occurrences are counted

    // Add an occurrence to what has this last cell.
    inline void add(Cells& cells, u32& head) const {
        if (head <= cells.run) head = cells.find(head, c.columns(), c.documents);
        Sum* sums = cells.sums + (bare ? head - 1 : (head - 1) * c.columns());
        if (bare || c.counts) add_to(sums[0]);
        if (bare || !c.documents || cells.stamps[head - 1] == c.document) return;
        cells.stamps[head - 1] = c.document;
        add_to(sums[c.columns() - 1]);
    }
    inline void add_to(Sum& sum) const { add_to(sum, weight); }
    static void add_to(Sum& sum, i64 weight) { sum.whole += weight; }
    static void add_to(Sum& sum, double weight) { sum.real += weight; }

    inline void prefetch_word(u64 hash) const {
        if (c.buckets) __builtin_prefetch(&c.bucket(hash));
        else c.words.prefetch(hash);
    }
    // Leave out the words that stand for nothing, change those that stand for others, and add them.
    bool translate(Sequence& words) {
        if (!c.cells.grow(2 * words.n, c.columns(), c.documents)) return false;
        u64 n = lead;
        for (u64 t = lead; t < words.n; t++) {
            u32 number = words.numbers[t];
            u64 hash = words.hashes[t];
            if (number != NONE) {
                const i32 more = c.besides[number], own = c.into[number];
                if (more >= 0) add(c.cells, c.buckets ? c.bucket(c.own[more]) : c.heads[more]);
                if (own < 0) continue;
                number = (u32)own;
                hash = c.own[number];
            }
            if (c.lowest == 1) add(c.cells, c.buckets ? c.bucket(hash) : c.heads[number]);
            words.hashes[n] = hash;
            words.numbers[n++] = number;
        }
        words.n = n;
        return true;
    }

    // For Sequence::walk: n-grams that end before `lead` are there only to be followed.
    u64 lead;
    bool begin_level(u64 level, u64 n) {
        if (c.buckets) return c.cells.grow(n, c.columns(), c.documents);
        Cells& cells = c.level_cells[level - 2];
        cells.begin_row(c.cells.label);
        return c.levels[level - 2].grow(n) && cells.grow(n, c.columns(), c.documents);
    }
    inline void prefetch(u64 level, u64 hash) const {
        if (c.buckets) __builtin_prefetch(&c.bucket(hash));
        else c.levels[level - 2].prefetch(hash);
    }
    inline u32 find(u64 level, u64 place, u64 hash, u32 parent, u32 last) {
        const bool counted = (i64)level >= c.lowest && place >= lead;
        if (c.buckets) {
            if (counted) add(c.cells, c.bucket(hash));
            return 0;
        }
        Slots& slots = c.levels[level - 2];
        const u64 key = (u64)parent << 32 | last;
        Slot* slot = slots.find(hash, key, [](u32) { return true; });
        if (!slot->number) *slot = {hash, key, (u32)++slots.n, 0};
        if (counted) add(c.level_cells[level - 2], slot->cell);
        return slot->number - 1;
    }
};

// Returns how many rows were counted before one that needs other tables.
template <class T>
static i64 count_rows(Counter& c, const Style& style, const u8* data, const i64* offsets, const i64* rows, i64 n_rows,
                       const i32* labels, const T* weights) {
    Reader reader(style);
    Sequence sequence;
    if (!reader.ready()) return -1;
    const bool bounded = c.bounded && !c.buckets, direct = !c.mapped() && c.lowest == 1, kept = c.highest > 1 || c.mapped();
    const u64 lead = bounded ? c.highest - 1 : 0;
    const u64 begin = mix(0x3C733E);  // <s>, whose number is 0
    for (i64 r = 0; r < n_rows; r++) {
        const i64 i = rows[r];
        Row<T> row = {c, weights[i], c.counts && !c.documents, lead};
        const auto take = [&](const Words& read) {
            if (kept && !sequence.reserve(read.n)) return false;
            if (direct && !c.cells.grow(read.n, c.columns(), c.documents)) return false;
            if (!c.buckets && !c.reserve(read)) return false;
            for (u64 t = 0; t < AHEAD; t++) row.prefetch_word(read.hashes[t]);
            for (u64 t = 0; t < read.n; t++) {
                row.prefetch_word(read.hashes[t + AHEAD]);
                u32 number = 0;  // of buckets only those words have one that stand for others
                if (!c.buckets) {
                    Slot* slot = c.find_or_add(read, t);
                    number = slot->number;
                    if (direct) row.add(c.cells, slot->cell);
                } else {
                    if (c.mapped()) number = c.find_word(read, t)->number;
                    if (direct) row.add(c.cells, c.bucket(read.hashes[t]));
                }
                if (kept) sequence.push(read.hashes[t], number - 1);
            }
            return true;
        };
        const u8 *from = data + offsets[i], *end = data + offsets[i + 1];
        if (lacks_tables(style, from, end)) return r;
        c.cells.begin_row(labels[i]);
        sequence.n = 0;
        if (!sequence.reserve(lead)) return -1;
        for (u64 t = 0; t < lead; t++) sequence.push(begin, 0);
        if (!reader.read(from, end, take)) return -1;
        if (bounded && !reader.add_word("</s>", 4, take)) return -1;
        if (c.mapped() && !row.translate(sequence)) return -1;
        if (c.highest > 1 && !sequence.walk(c.highest, row)) return -1;
        c.document++;
    }
    return n_rows;
}

// The numbers of words that stand apart by the byte 0x1F, which are put into the table if they are not there.
static bool number_words(Counter& c, const u8* data, i64 size, i64* numbers) {
    Style style = {};
    style.separated = 1;
    Reader reader(style);
    u64 n = 0;
    return reader.ready() && reader.read(data, data + size, [&](const Words& read) {
        if (!c.reserve(read)) return false;
        for (u64 t = 0; t < read.n; t++) numbers[n++] = c.find_or_add(read, t)->number - 1;
        return true;
    });
}

API(void, counter_free)(Counter* c) {
    c->clear();
    free(c);
}
API(Counter*, counter_new)(i64 lowest, i64 highest, i64 counts, i64 documents, i64 bounded, i64 buckets, i64 real, i64 room) {
    Counter* c = (Counter*)calloc(1, sizeof(Counter));
    if (!c) return nullptr;
    c->lowest = lowest, c->highest = highest, c->counts = counts, c->documents = documents;
    c->bounded = bounded && !buckets, c->buckets = buckets, c->real = real;
    bool made = c->words.make(2 * room) && make_room(c->ends, c->ends_room, room + 2);
    if (made) c->ends[0] = 0;
    if (made && buckets) made = c->heads = (u32*)calloc(1ULL << buckets, 4);
    if (made && !buckets && highest > 1) {
        c->levels = (Slots*)calloc(highest - 1, sizeof(Slots));
        c->level_cells = (Cells*)calloc(highest - 1, sizeof(Cells));
        made = c->levels && c->level_cells;
        for (i64 i = 0; made && i < highest - 1; i++) made = c->levels[i].make(4 * room);
    }
    i64 numbers[2];
    if (made && c->bounded) made = number_words(*c, (const u8*)"<s>\x1f</s>", 8, numbers);
    if (made) return c;
    JOINED(VARIANT, counter_free)(c);
    return nullptr;
}
API(i64, counter_numbers)(Counter* c, const u8* data, i64 size, i64* numbers) {
    return number_words(*c, data, size, numbers) ? 0 : -1;
}
// From now on count `into` for each of these words (-1: nothing), and `besides` as well (-1: nothing); all are numbers.
API(i64, counter_translate)(Counter* c, const i64* words, const i64* into, const i64* besides, i64 n) {
    if (!c->mapped()) {
        if (!c->grow_mapped(larger<u64>(1, c->words.n))) return -1;
        for (u64 s = 0; s < c->words.size; s++)
            if (c->words.slots[s].number) c->set_plain(c->words.slots[s].number - 1, c->words.slots[s].hash);
    }
    for (i64 i = 0; i < n; i++) {
        c->into[words[i]] = (i32)into[i];
        c->besides[words[i]] = (i32)besides[i];
    }
    return 0;
}
// Count these rows, which should come in the order of their labels; returns how many are done.
API(i64, counter_count)(Counter* c, const Style* style, const u8* data, const i64* offsets, const i64* rows, i64 n_rows,
                        const i32* labels, const void* weights) {
    return c->real ? count_rows(*c, *style, data, offsets, rows, n_rows, labels, (const double*)weights)
                   : count_rows(*c, *style, data, offsets, rows, n_rows, labels, (const i64*)weights);
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
        if (!slot.number || (s < late && (slot.hash >> t.shift > s) != (i >= t.size))) continue;
        u64 at = n++;
        for (; at > 0; at--) {
            const Slot& other = t.slots[order[at - 1]];
            if (other.hash < slot.hash || (other.hash == slot.hash && precedes(other, slot))) break;
            order[at] = order[at - 1];
        }
        order[at] = (u32)s;
    }
    return order;
}

// Where what was counted is written to: all levels one after the other.
struct Counted {
    u8* data;
    i64* ends;
    u64* hashes;
    i32 *parents, *lasts;  // without the words
    i64* starts;           // of the cells of each node, and the end of the last
    i32* codes;
    Sum* values;
    i64 cells;

    // The cells of the next nodes, in the order of their classes; head(i) is the last cell of the i-th, + 1 (0: none).
    template <class Head> void gather(Cells& from, u64 n, u64 columns, Head&& head) {
        for (u64 i = 0; i < n; i++) {
            if (i + AHEAD < n) {
                const u32 near = head(i + AHEAD);
                __builtin_prefetch(from.links + (near ? near - 1 : 0));
                __builtin_prefetch(from.sums + (near ? near - 1 : 0) * columns);
            }
            if (const u32 last = head(i)) {
                u64 at = last - 1;
                while ((u32)from.links[at] < (u32)from.links[from.links[at] >> 32]) at = from.links[at] >> 32;
                const u64 largest = at;
                do {
                    at = from.links[at] >> 32;
                    codes[cells] = (i32)(u32)from.links[at];
                    for (u64 c = 0; c < columns; c++) values[cells * columns + c] = from.sums[at * columns + c];
                    cells++;
                } while (at != largest);
            }
            *++starts = cells;
        }
        from.clear();
    }
};

// The sizes of what was counted: bytes of words, cells, and the words and n-grams of each level.
API(void, counter_sizes)(const Counter* c, i64* sizes) {
    sizes[0] = c->buckets ? 0 : (i64)c->ends[c->words.n];
    sizes[1] = (i64)c->cells.n;
    sizes[2] = c->buckets ? 0 : (i64)c->words.n;
    for (i64 i = 0; c->levels && i < c->highest - 1; i++) {
        sizes[1] += (i64)c->level_cells[i].n;
        sizes[3 + i] = (i64)c->levels[i].n;
    }
}

// Write what was counted; the counter is of no use afterwards, its tables being freed one by one.
API(i64, counter_finish)(Counter* c, u8* data, i64* ends, u64* hashes, i32* parents, i32* lasts, i64* starts, i32* codes,
                         void* values) {
    Counted out = {data, ends, hashes, parents, lasts, starts, codes, (Sum*)values, 0};
    starts[0] = 0;
    if (c->buckets) {
        out.gather(c->cells, 1ULL << c->buckets, c->columns(), [&](u64 i) { return c->heads[i]; });
        return 0;
    }
    const u64 levels = c->levels ? c->highest : 1;
    u32** places = (u32**)calloc(levels, sizeof(u32*));  // where each word or n-gram went
    bool done = places;
    for (u64 level = 1; done && level <= levels; level++) {
        Slots& t = level == 1 ? c->words : c->levels[level - 2];
        u32* place = places[level - 1] = (u32*)malloc(4 * (t.n + 1));
        const u32* above = level == 1 ? nullptr : places[level - 2];
        u32* order = !place ? nullptr : order_slots(t, [&](const Slot& a, const Slot& b) {
            if (level > 1) {
                const u32 one = above[a.key >> 32], other = above[b.key >> 32];
                return one < other || (one == other && places[0][(u32)a.key] < places[0][(u32)b.key]);
            }
            const u64 from = c->ends[a.number - 1], begin = c->ends[b.number - 1];
            return compare_bytes(c->text + from, c->ends[a.number] - from, c->text + begin, c->ends[b.number] - begin) < 0;
        });
        done = order;
        i64 bytes = 0;
        for (u64 i = 0; done && i < t.n; i++) {
            const Slot& slot = t.slots[order[i]];
            place[slot.number - 1] = (u32)i;
            *out.hashes++ = slot.hash;
            if (level > 1) {
                *out.parents++ = (i32)above[slot.key >> 32];
                *out.lasts++ = (i32)places[0][(u32)slot.key];
                continue;
            }
            const u64 from = c->ends[slot.number - 1], size = c->ends[slot.number] - from;
            memcpy(data + bytes, c->text + from, size);
            ends[i] = bytes += (i64)size;
        }
        const bool apart = level == 1 && c->mapped();
        if (done)
            out.gather(level == 1 ? c->cells : c->level_cells[level - 2], t.n, c->columns(), [&](u64 i) {
                const Slot& slot = t.slots[order[i]];
                return apart ? c->heads[slot.number - 1] : slot.cell;
            });
        free(order);
        t.clear();
    }
    for (u64 i = 0; places && i < levels; i++) free(places[i]);
    free(places);
    return done ? 0 : -1;
}

// ---- looking up -------------------------------------------------------------------------------------------------
// The tables of a vocabulary, which any number of threads read. With buckets there are no words in it. `into` and the
// arrays after it, if there are any, say what words of the table stand for: as of a Counter, and for each the node of the
// model's own vocabulary (-1: it has none).
struct Lookup {
    i64 lowest, highest, buckets;
    Slots words;
    const u8* text;
    const i64* ends;
    const u64* own;
    const i32 *into, *besides;
    const i64* named;
    Slots* levels;
    i64* firsts;  // the first node of each level

    void clear() {
        words.clear();
        for (i64 i = 0; levels && i < highest - 1; i++) levels[i].clear();
        free(levels); free(firsts);
    }
    bool same(u32 number, const u8* p, u64 n) const {
        const i64 begin = number ? ends[number - 1] : 0;
        return (u64)(ends[number] - begin) == n && memcmp(text + begin, p, n) == 0;
    }
    u32 node_of(u32 number, u64 hash) const {
        if (buckets) return (u32)(hash >> (64 - buckets));
        return !into || number == NONE ? number : (u32)named[number];
    }
};

API(void, lookup_free)(Lookup* l) {
    l->clear();
    free(l);
}
// A table of words in canonical order, whose arrays must outlive it.
API(Lookup*, lookup_new)(i64 lowest, i64 highest, i64 buckets, const u64* hashes, i64 n, const u8* text, const i64* ends,
                         const i32* into, const i32* besides, const i64* named) {
    Lookup* l = (Lookup*)calloc(1, sizeof(Lookup));
    if (!l) return nullptr;
    l->lowest = lowest, l->highest = highest, l->buckets = buckets, l->text = text, l->ends = ends, l->own = hashes;
    l->into = into, l->besides = besides, l->named = named;
    l->levels = (Slots*)calloc(highest, sizeof(Slots));
    l->firsts = (i64*)calloc(highest, sizeof(i64));
    if (!l->levels || !l->firsts || !l->words.make(2 * n)) {
        JOINED(VARIANT, lookup_free)(l);
        return nullptr;
    }
    i64 begin = 0;
    for (i64 i = 0; i < n; begin = ends[i++])
        *l->words.find_empty(hashes[i]) = {hashes[i], hash_bytes(text + begin, ends[i] - begin).key, (u32)i + 1, 0};
    return l;
}
// The same for the n-grams of a level, whose nodes begin at `first`.
API(i64, lookup_level)(Lookup* l, i64 level, i64 first, const u64* hashes, const i32* parents, const i32* lasts, i64 n) {
    Slots& t = l->levels[level - 2];
    l->firsts[level - 1] = first;
    if (!t.make(2 * n)) return -1;
    for (i64 i = 0; i < n; i++)
        *t.find_empty(hashes[i]) = {hashes[i], (u64)(u32)parents[i] << 32 | (u32)lasts[i], (u32)i + 1, 0};
    return 0;
}

// Go through the nodes of each row: `sink` has begin_row(row, bytes), node(n) for words, pairs and so on (NONE: it is not
// known), and end_row(row); all may fail. Returns how many rows were done before one that needs other tables.
template <class Sink> struct Walk {
    const Lookup& l;
    Sink& sink;
    bool failed;

    void give(u32 node) { failed = failed || !sink.node(node); }
    bool begin_level(u64 level, u64 n) {
        if ((i64)level >= l.lowest && !l.buckets)
            for (u64 t = 0; t < smaller(n, level - 1); t++) give(NONE);  // no n-gram ends there
        return !failed;
    }
    inline void prefetch(u64 level, u64 hash) const { if (!l.buckets) l.levels[level - 2].prefetch(hash); }
    inline u32 find(u64 level, u64, u64 hash, u32 parent, u32 last) {
        u32 found = NONE;
        if (l.buckets) {
            if ((i64)level >= l.lowest) give(l.node_of(NONE, hash));
            return NONE;
        }
        if (parent != NONE && last != NONE)
            found = l.levels[level - 2].find(hash, (u64)parent << 32 | last, [](u32) { return true; })->number - 1;
        if ((i64)level >= l.lowest) give(found == NONE ? NONE : (u32)(found + l.firsts[level - 1]));
        return found;
    }
};

template <class Sink>
static i64 look_up_rows(const Lookup& l, const Style& style, const u8* data, const i64* offsets, const u8* missing, i64 first,
                         i64 last, Sink& sink) {
    Reader reader(style);
    Sequence sequence;
    if (!reader.ready()) return -1;
    Walk<Sink> walk = {l, sink, false};
    const bool mapped = l.into, direct = !mapped && l.lowest == 1, kept = l.highest > 1 || mapped, known = mapped || !l.buckets;
    const auto take = [&](const Words& read) {
        if (kept && !sequence.reserve(read.n)) return false;
        if (known) for (u64 t = 0; t < AHEAD; t++) l.words.prefetch(read.hashes[t]);
        for (u64 t = 0; t < read.n; t++) {
            const u64 hash = read.hashes[t], key = read.keys[t];
            u32 number = NONE;
            if (known) {
                l.words.prefetch(read.hashes[t + AHEAD]);
                number = l.words.find(hash, key, [&](u32 other) {
                    return !must_compare(key) || l.same(other, read.low + read.starts[t], read.sizes[t]);
                })->number - 1;
            }
            if (direct) walk.give(l.node_of(number, hash));
            if (kept) sequence.push(hash, number);
        }
        return !walk.failed;
    };
    for (i64 row = first; row < last; row++) {
        if (missing && missing[row]) continue;
        const u8 *begin = data + offsets[row], *end = data + offsets[row + 1];
        if (lacks_tables(style, begin, end)) return row - first;
        sequence.n = 0;
        if (!sink.begin_row(end - begin) || !reader.read(begin, end, take)) return -1;
        if (mapped) {
            u64 n = 0;
            for (u64 t = 0; t < sequence.n; t++) {
                const u32 number = sequence.numbers[t];
                if (number != NONE && l.besides[number] >= 0) walk.give(l.node_of(l.besides[number], l.own[l.besides[number]]));
            }
            for (u64 t = 0; t < sequence.n; t++) {
                u32 number = sequence.numbers[t];
                u64 hash = sequence.hashes[t];
                if (number != NONE) {
                    if (l.into[number] < 0) continue;
                    number = (u32)l.into[number];
                    hash = l.own[number];
                }
                const u32 node = l.node_of(number, hash);
                if (l.lowest == 1) walk.give(node);
                sequence.hashes[n] = hash;
                sequence.numbers[n++] = node;
            }
            sequence.n = n;
        }
        if ((l.highest > 1 && !sequence.walk(l.highest, walk)) || walk.failed || !sink.end_row(row)) return -1;
    }
    return last - first;
}

// The different nodes of a document, in the order of their first occurrence, and how often each is there. A small hash
// table that is as wide as the document asks for, so that it stays in the first cache.
struct Distinct {
    u32 *nodes = nullptr, *times = nullptr;
    u64* slots = nullptr;  // (place + 1) << 32 | node; 0: empty
    u32* used = nullptr;   // the slots that are taken
    u64 n = 0, room[3] = {}, slots_room = 0;
    int shift = 64;

    ~Distinct() { free(nodes); free(times); free(slots); free(used); }
    u64 home(u64 node) const { return node * HASH_START >> shift; }
    bool widen(int bits) {
        const u64 size = 1ULL << bits;
        if (size > slots_room) {
            free(slots);
            slots = (u64*)calloc(size, 8);
            slots_room = slots ? size : 0;
            if (!slots) return false;
        } else {
            erase();
        }
        shift = 64 - bits;
        if (!make_room(nodes, room[0], size) || !make_room(times, room[1], size) || !make_room(used, room[2], size)) return false;
        for (u64 i = 0; i < n; i++) put(nodes[i], i);
        return true;
    }
    void put(u32 node, u64 place) {
        u64 s = home(node);
        const u64 mask = ~0ULL >> shift;
        while (slots[s]) s = (s + 1) & mask;
        slots[s] = (place + 1) << 32 | node;
        used[place] = (u32)s;
    }
    void erase() { for (u64 i = 0; i < n; i++) slots[used[i]] = 0; }
    bool begin_row(i64 bytes) {
        if (slots) erase();
        n = 0;
        int bits = 6;
        while (bits < 40 && 1LL << bits < bytes / 4) bits++;
        return widen(bits);
    }
    inline bool node(u32 node) {
        if (node == NONE) return true;
        const u64 mask = ~0ULL >> shift;
        for (u64 s = home(node);; s = (s + 1) & mask) {
            if (!slots[s]) {
                if (2 * n > mask && !widen(65 - shift)) return false;
                nodes[n] = node;
                times[n] = 1;
                put(node, n++);
                return true;
            }
            if ((u32)slots[s] == node) {
                times[(slots[s] >> 32) - 1]++;
                return true;
            }
        }
    }
};

// What each node adds to the log joint; kernels/lookup.py says how.
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

    bool begin_row(i64 bytes) { return found.begin_row(bytes); }
    inline bool node(u32 node) { return found.node(node); }
    bool end_row(i64 row) {
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
        return true;
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

    bool begin_row(i64 bytes) { return found.begin_row(bytes); }
    inline bool node(u32 node) { return found.node(node); }
    bool end_row(i64 row) {
        for (u64 i = 0; i < found.n; i++) {
            if (!is_used[found.nodes[i]]) continue;
            rows[n] = (i32)row;
            nodes[n] = (i32)found.nodes[i];
            counts[n++] = (i32)found.times[i];
        }
        return true;
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

    bool begin_row(i64) { return true; }
    inline bool node(u32 node) {
        nodes[n++] = node == NONE ? -1 : (i64)node;
        return true;
    }
    bool end_row(i64 row) {
        ends[row] = n;
        return true;
    }
};
API(i64, lookup_nodes)(const Lookup* l, const Style* style, const u8* data, const i64* offsets, const u8* missing, i64 first,
                       i64 last, i64* nodes, i64* ends, i64* n) {
    NodeWriter writer = {nodes, ends, n[0]};
    const i64 done = look_up_rows(*l, *style, data, offsets, missing, first, last, writer);
    n[0] = writer.n;
    return done;
}

// Lay out a table of weights from the cells of each node (their classes and values): first the numbers and the sizes of
// the other arrays, and with these arrays what is in them.
API(void, lay_out_weights)(const i64* starts, const i32* codes, const double* values, const u8* used, i64 n, i64 classes,
                           i64* info, i64* sizes) {
    i64 cells = 0, lines = 0;
    for (i64 f = 0; f < n; f++) {
        const i64 first = starts[f], count = starts[f + 1] - first;
        info[2 * f + 1] = 0;
        if (!used[f]) {
            info[2 * f] = -1;
        } else if (count == 1) {
            info[2 * f] = (i64)codes[first] << 21 | 1;
            info[2 * f + 1] = (i64)as_bits(values[first]);
        } else if (count > 1 && 2 * count >= classes) {
            info[2 * f] = (lines++ << 1 | 1) << 20 | count;
        } else {
            info[2 * f] = cells << 21 | count;
            cells += count;
        }
    }
    sizes[0] = cells;
    sizes[1] = lines;
}
API(void, fill_weights)(const i64* starts, const i32* codes, const double* values, i64 n, i64 classes, const i64* info,
                        double* cells, double* lines) {
    for (i64 f = 0; f < n; f++) {
        const i64 number = info[2 * f], place = number >> 21, first = starts[f];
        if (number < 0 || starts[f + 1] - first < 2) continue;
        for (i64 c = first; c < starts[f + 1]; c++) {
            if (number >> 20 & 1) {
                lines[place * classes + codes[c]] = values[c];
            } else {
                cells[2 * (place + c - first)] = codes[c];
                cells[2 * (place + c - first) + 1] = values[c];
            }
        }
    }
}
