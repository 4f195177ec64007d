"""Codes, networks and n-grams: every instruction set, and every number of threads, gives the same bits."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from ingenuo.kernels import native
from ingenuo.kernels.codes import add_log_likelihood_columns, add_log_likelihood_matrix, tally_matrix
from ingenuo.kernels.networks import (
    Flat,
    average,
    configurations,
    data_terms,
    expected_counts,
    joint_by_class,
    pairs_by_class,
    told_by_others,
)
from ingenuo.kernels.ngrams import Chances, build, contexts, draw, kneser_ney, log_probabilities, ordered, running
from ingenuo.kernels.softmax import losses
from ingenuo.kernels.threads import limited


def of_codes(rng):
    for n_classes in (1, 2, 3, 5, 8, 13):
        for n in (1, 2, 3, 1000):
            codes = rng.integers(-1, 6, (n, 31))
            tables = [rng.normal(size=(1 + j % 6, n_classes)) for j in range(31)]
            out = np.zeros((n, n_classes))
            add_log_likelihood_matrix(codes, tables, out)
            yield out
            add_log_likelihood_columns(list(codes.astype(np.int16).T), tables, out)
            yield out
            yield from tally_matrix(codes.astype(np.int32), rng.integers(-1, 3, n), 3, [6] * 31)


def of_tables(rng):
    codes = rng.integers(-1, 4, (7, 5000)).astype(np.int32)
    weights = rng.random(5000)
    yield from pairs_by_class(codes, [4] * 7, codes[0], 4, weights).values()
    above, n = configurations(np.zeros(5000, np.int64), 1, codes[1], 4)
    yield above
    for prior in (0.0, 0.3):
        for given in (None, weights):
            yield from data_terms(above, n, codes, 0, 4, [2, 3, 4, 5, 6], [4] * 5, [prior] * 5, given)
    yield np.array(told_by_others(rng.integers(0, 9, (3, 4, 5)).astype(float)))


def of_rows(rng):
    for K in (2, 3, 5):
        joint, scores = rng.normal(size=(1001, K)), rng.normal(size=(4, 1001, K))
        labels = rng.integers(0, K, 1001).astype(np.int32)
        yield losses(joint, scores, [0, 1, 2, 3], -1.0, labels, np.ones(1001))
        yield losses(joint, scores, [0, 1, 2, 3], 1.0, labels, rng.random(1001))
        d = 6
        at = 3 * np.arange(d)
        pair_at = 9 * np.arange(d * d).reshape(d, d)
        codes = rng.integers(-1, 3, (700, d)).astype(np.int32)
        tables = [np.log(rng.random((rows, K))) for rows in (3 * d, 9 * d * d, 3 * d + 1)]
        usable = rng.random(3 * d) < 0.6
        yield average(codes, tables[0], at, tables[1], pair_at, np.full(d, 3), usable, tables[2], K)


def of_networks(rng):
    parents = [(), (0,), (0, 1), (2,), (1, 3), (4, 0)]
    tables = []
    for above in parents:
        table = rng.random((*[3] * len(above), 3))
        tables.append(table / table.sum(axis=-1, keepdims=True))
    flat = Flat.of(parents, tables)
    yield flat.tables
    codes = np.where(rng.random((1500, 6)) < 0.4, -1, rng.integers(0, 3, (1500, 6)))
    out = np.empty((1500, 3))
    joint_by_class(flat, codes, 2, out)
    yield out
    yield from expected_counts(flat, codes, rng.random(1500))


def of_ngrams(rng):
    words = rng.integers(0, 30, 3000).astype(np.int64)
    pairs, place = np.unique(words[:-1] * 30 + words[1:], return_inverse=True)
    threes, count = np.unique(place[:-1] * 30 + words[2:], return_counts=True)
    trie = build([pairs // 30, threes // 30], [pairs % 30, threes % 30], 30, 3)
    counts = ordered(trie, np.concatenate([np.bincount(words, minlength=30), np.bincount(place), count]))
    own, rest = np.zeros((len(trie.last), 2)), np.empty((int(trie.levels[3]), 2))
    for k in range(2):
        kneser_ney(trie, counts, 0.4 + 0.3 * k, True, own, rest, k)
    chances = Chances(own, rest, np.full(31, 1 / 31), False)
    yield from (own, rest)
    given, ends = rng.integers(-1, 30, 900).astype(np.int32), np.array([0, 1, 400, 900])
    yield log_probabilities(trie, chances, contexts(trie, []), -1, given, ends)
    start = contexts(trie, [])
    yield draw(trie, running(trie, chances, 1), False, -1, start, start, -1, 5000, 0, np.random.default_rng(7))[0]


def digests() -> str:
    """A hash of all results of each kind."""
    found = []
    for results in (of_codes, of_tables, of_rows, of_networks, of_ngrams):
        digest = hashlib.sha256()
        for array in results(np.random.default_rng(5)):
            digest.update(np.ascontiguousarray(array).tobytes())
        found.append(f"{results.__name__} {digest.hexdigest()[:16]}")
    return "\n".join(found)


@pytest.mark.parametrize("variant", native.VARIANTS)
def test_every_instruction_set_gives_the_same_bits(variant):
    done = subprocess.run(
        [sys.executable, __file__],
        env=os.environ | {"INGENUO_VARIANT": variant},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == digests(), done.stderr


def test_every_number_of_threads_gives_the_same_bits():
    found = set()
    for threads in (1, 2, 5):
        with limited(threads):
            found.add(digests())
    assert len(found) == 1


if __name__ == "__main__":
    print(digests())
