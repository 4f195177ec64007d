// The hashes of words and n-grams, of 64 bits in two halves, as cpp/text.hpp has them: they say which bucket is whose.
const START = [0x9e3779b9, 0x7f4a7c15], ONE = [0xff51afd7, 0xed558ccd], TWO = [0xc4ceb9fe, 0x1a85ec53], PREFIX = [0x9fb21c65, 0x1e98df25];
const encoder = new TextEncoder();

// The upper half of the product of two numbers of 32 bits.
function upper_product(a, b) {
  const low = a & 0xffff, high = a >>> 16, other_low = b & 0xffff, other_high = b >>> 16;
  const middle = low * other_high + high * other_low + ((low * other_low) / 65536 >>> 0);
  return (high * other_high + Math.floor(middle / 65536)) >>> 0;
}

function product([a, b], [c, d]) {
  return [(upper_product(b, d) + Math.imul(a, d) + Math.imul(b, c)) >>> 0, Math.imul(b, d) >>> 0];
}

function mix(hash) {
  const shifted = ([a, b]) => [a, (b ^ (a >>> 1)) >>> 0]; // h ^ h >> 33
  return shifted(product(shifted(product(shifted(hash), ONE)), TWO));
}

function fold([a, b], [c, d]) {
  const [upper, lower] = product([a ^ c, b ^ d], ONE);
  return [upper, (lower ^ upper) >>> 0]; // h ^ h >> 32
}

// Bytes as one number, the first in the highest place.
function packed(bytes, from, to) {
  let upper = 0, lower = 0;
  for (let i = from; i < to; i++) {
    upper = (upper << 8) | (lower >>> 24);
    lower = (lower << 8) | bytes[i];
  }
  return [upper >>> 0, lower >>> 0];
}

export function hash_word(word) {
  const bytes = encoder.encode(word), n = bytes.length;
  if (n <= 8) return mix(packed(bytes, 0, n));
  let hash = START, at = 0;
  for (; at + 8 < n; at += 8) hash = fold(hash, packed(bytes, at, at + 8));
  const [upper, lower] = packed(bytes, at, n);
  return mix([hash[0] ^ upper ^ n, hash[1] ^ lower]);
}

// The hash of an n-gram, from those of what precedes its last word and of that word.
export function follow(prefix, word) {
  const [upper, lower] = product(prefix, PREFIX), low = lower + ((word[1] ^ START[1]) >>> 0);
  return mix([(upper + (word[0] ^ START[0]) + (low > 0xffffffff ? 1 : 0)) >>> 0, low >>> 0]);
}

// The bucket of a hash among 2^bits.
export function bucket_of([upper], bits) {
  return upper >>> (32 - bits);
}
