"""Every instruction set, and every number of threads, gives the same bits: of every loop that has vectors."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from ingenuo import NaiveBayes, kernels
from ingenuo.kernels import codes, counts, densities, moments, ngrams
from ingenuo.kernels.threads import limited
from ingenuo.models.classifier import tally_chunk
from ingenuo.models.left_out import leave_one_out
from ingenuo.rows.part import Numbers
from ingenuo.rows.rows import MemoryRows


def of_codes(rng):
    for n_classes in (1, 2, 3, 5, 8, 13):
        for n in (1, 2, 3, 1000):
            given = rng.integers(-1, 6, (n, 31))
            tables = [rng.normal(size=(1 + j % 6, n_classes)) for j in range(31)]
            out = np.zeros((n, n_classes))
            codes.add_log_likelihood(given, tables, out)
            yield out
            codes.add_log_likelihood(list(given.astype(np.int16).T), tables, out)
            yield out
            yield from codes.tally(given.astype(np.int32), rng.integers(-1, 3, n), 3, [6] * 31)


def of_tables(rng):
    given, weights = rng.integers(-1, 4, (7, 5000)).astype(np.int32), rng.random(5000)
    yield from codes.each_pair(given, [4] * 7, given[0], 4, weights, np.copy).values()
    above, n = codes.configurations(np.zeros(5000, np.int64), 1, given[1], 4)
    yield above
    for prior in (0.0, 0.3):
        for each in (None, weights):
            yield from codes.data_terms(above, n, given, 0, 4, [2, 3, 4, 5, 6], [4] * 5, [prior] * 5, each)
    yield codes.left_out_information(rng.integers(0, 9, 132).astype(float), np.array([[3, 4, 5], [2, 6, 6]]))
    counts, grid = rng.integers(0, 9, (6, 5)).astype(float), np.array([0.1, 1, 8, 64])
    m, *shares = codes.smooth_level(counts, rng.dirichlet(np.ones(5), 2), rng.dirichlet(np.ones(5), 2), grid)
    yield from (np.array(m), *shares)
    out, states = np.empty((2, 40, 2)), rng.integers(0, 5, 40).astype(np.int32)
    levels = [counts.reshape(2, 3, 5).sum(axis=1) + 1, counts.reshape(2, 3, 5) + 1]
    above, labels = rng.integers(0, 3, (1, 40)).astype(np.int32), rng.integers(0, 2, 40).astype(np.int32)
    codes.left_out_levels(states, above, labels, np.ones(40), levels, np.array([0.3, 8]), out)
    yield out


def of_rows(rng):
    for K in (2, 3, 5):
        joint, scores = rng.normal(size=(1001, K)), rng.normal(size=(4, 1001, K))
        yield counts.losses(joint, scores, [0, 3], rng.integers(0, K, 1001).astype(np.int32), rng.random(1001))
        d = 6
        tables = [np.log(rng.random((rows, K))) for rows in (3 * d, 9 * d * d, 3 * d + 1)]
        at, pair_at = 3 * np.arange(d), 9 * np.arange(d * d).reshape(d, d)
        usable, given = rng.random(3 * d) < 0.6, rng.integers(-1, 3, (700, d)).astype(np.int32)
        yield codes.average_parents(given, tables[0], at, tables[1], pair_at, np.full(d, 3), usable, tables[2], K)


def of_networks(rng):
    parents = [(), (0,), (0, 1), (2,), (1, 3), (4, 0)]
    flat = codes.Flat.of(parents, [rng.dirichlet(np.ones(3), [3] * len(above)) for above in parents])
    yield flat.tables
    given = np.where(rng.random((1500, 6)) < 0.4, -1, rng.integers(0, 3, (1500, 6)))
    yield codes.joint_by_class(flat, given, 2)[0]
    yield from codes.expected_counts(flat, given, rng.random(1500))


def of_ngrams(rng):
    words = rng.integers(0, 30, 3000).astype(np.int64)
    pairs, place = np.unique(words[:-1] * 30 + words[1:], return_inverse=True)
    threes, count = np.unique(place[:-1] * 30 + words[2:], return_counts=True)
    trie = ngrams.build_trie([pairs // 30, threes // 30], [pairs % 30, threes % 30], 30, 3)
    seen = ngrams.order_counts(trie, np.concatenate([np.bincount(words, minlength=30), np.bincount(place), count]))
    own, rest = np.zeros((len(trie.last), 2)), np.empty((int(trie.levels[3]), 2))
    for k in range(2):
        ngrams.share_kneser_ney(trie, seen, 0.4 + 0.3 * k, True, own, rest, k)
    chances, start = ngrams.Chances(own, rest, np.full(31, 1 / 31), False), ngrams.find_contexts(trie, [])
    yield from (own, rest)
    given, ends = rng.integers(-1, 30, 900).astype(np.int32), np.array([0, 1, 400, 900])
    yield ngrams.log_probabilities(trie, chances, start, -1, given, ends)
    sums, generator = ngrams.sum_shares(trie, chances, 1), np.random.default_rng(7)
    yield ngrams.draw(trie, sums, False, -1, start, start, -1, 5000, 0, generator)[0]


def of_counts(rng):
    X = rng.lognormal(size=(300, 13)) * 10.0 ** rng.integers(-5, 6, 13)
    X[::40, 3] = np.nan
    table, labels = Numbers(np.arange(13), 300, matrix=X), rng.integers(0, 3, 300).astype(np.int32)
    for pooled in (True, False):
        yield from (exact.limbs for exact in moments.products(table, labels, 3, pooled=pooled))
    out, roots = rng.normal(size=(300, 3)), np.triu(rng.normal(size=(3, 13, 13)))
    densities.add_lines(table, X[1], rng.normal(size=(3, 13)), np.arange(3.0), out)
    densities.add_distances(table, X[1], roots, np.ones((3, 13)), np.arange(3.0), out)
    yield out
    part, gaps = np.zeros((300, 3)), np.where(rng.random((300, 13)) < 0.3, np.nan, rng.normal(size=(300, 13)))
    covariance = roots[0] @ roots[0].T
    covariance[12], covariance[:, 12] = covariance[3], covariance[:, 3]  # one column twice
    covariance[12, 12] = covariance[3, 3]
    given = Numbers(np.arange(13), 300, matrix=gaps), np.arange(300), X[1], rng.normal(size=(3, 13))
    densities.add_incomplete(*given, covariance[np.newaxis], part)
    lines = densities.Polylines.of([(np.arange(9.0), rng.random(9), rng.random(9))])
    densities.interpolate(gaps, np.array([2]), lines, part, np.array([1]))
    yield part
    matrix = sparse.random_array((200, 70), density=0.3, format="csr", rng=rng)
    for classes in (1, 2, 5, 19):
        logs, sums = np.log(rng.random((70, classes))), np.zeros((200, classes))
        counts.add_log_likelihood(matrix, logs, sums)
        counts.add_log_likelihood(matrix.toarray(), logs, sums)
        yield sums
    tally = counts.tally(matrix.toarray(), labels[:200], 3, rng.random(200))
    yield from (tally, counts.log_counts(tally, 0.3, tally.sum(axis=1)))
    rows, columns = (each.astype(np.int32) for each in np.nonzero(matrix.toarray()))
    by_column = counts.Columns.of(200, 70, rows, columns, matrix.data)
    for width in (1, 3):
        G, S = rng.normal(size=(200, width)), rng.random((70, width))
        yield from (by_column.gather(G), by_column.times(S), by_column.gram(G, S), by_column.squared_times(S, width))
    for logits in (rng.normal(size=(200, 1)), rng.normal(size=(200, 5))):
        gradient, ways = np.empty_like(logits), rng.normal(size=(2, *logits.shape))
        binary = labels[:200] % 2 if logits.shape[1] == 1 else labels[:200]
        yield np.array([counts.residuals(logits, binary, np.zeros(0), gradient)])
        loss, slope, bend = counts.within(logits, ways, np.array([0.3, -0.2]), binary, np.ones(200))
        yield from (gradient, np.array([loss]), slope, bend)


def of_numbers(rng):
    for n, d, K in ((1, 1, 1), (700, 3, 2), (5000, 9, 5), (600, 70, 3)):
        X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-5, 5, d)
        X[:, ::4] = np.rint(X[:, ::4])
        X[rng.random(X.shape) < 0.05] = np.nan
        X[0] = 1.0
        y, w = rng.integers(0, K, n).astype(np.int32), rng.random(n)
        y[:K] = np.arange(K)
        table, joint = Numbers(np.arange(d), n, matrix=X), rng.normal(size=(n, K))
        densities.add_gaussian(table, rng.normal(size=(K, d)), rng.uniform(0.1, 3, (K, d)), joint)
        posteriors = joint.copy(), joint.copy()
        for log, each in enumerate(posteriors):
            densities.posterior(each, log=bool(log))
        yield from (joint, *densities.best(joint), *posteriors)
        missing, *sums = moments.moments(table, y, K)
        yield from (missing, *(each.limbs for each in (*sums, *moments.weighted_moments(table, y, w, K))))
        mixture = np.full(3, 1 / 3), np.array([1.0, 20.0, 60.0]), np.full(3, 50.0)
        yield np.array(densities.maximise(np.arange(80.0), rng.random(80), *mixture, 0.1, 30, 0.0))
        yield from mixture
        if n > 1:
            few = X[:, :3].copy()
            for numbers in ("gaussian", "histogram", "kernel"):
                model = NaiveBayes(dict.fromkeys(range(3), "number"), numbers=numbers).fit(few[: n // 2], y[: n // 2])
                yield model.predict_joint_log_proba(few)
            schema, chunk = model._encode_all(MemoryRows(few[:12], y[:12], w[:12]))
            yield leave_one_out(NaiveBayes(), schema, chunk, tally_chunk(chunk))
        bins, ranked = np.zeros(n, np.int8), posteriors[0].T.copy()
        given = X[:, :1], w, bins, 1, y, y[::-1].copy(), K, w, ranked, np.arange(K, dtype=np.int32)
        yield from densities.draw_replicates(11, 7, *given)


def digests() -> str:
    """A hash of all results of each kind."""
    found = []
    for results in (of_codes, of_tables, of_rows, of_networks, of_ngrams, of_counts, of_numbers):
        digest = hashlib.sha256()
        for array in results(np.random.default_rng(5)):
            digest.update(np.ascontiguousarray(array).tobytes())
        found.append(f"{results.__name__} {digest.hexdigest()[:16]}")
    return "\n".join(found)


@pytest.fixture(scope="module")
def here() -> str:
    with limited(1):
        return digests()


@pytest.mark.skipif("avx2" not in kernels.call.variants, reason="there is one variant only, or one is chosen")
def test_every_instruction_set_gives_the_same_bits(here):
    settings = os.environ | {"INGENUO_VARIANT": "base", "INGENUO_THREADS": "2"}
    done = subprocess.run([sys.executable, __file__], env=settings, capture_output=True, text=True)
    assert done.stdout.strip() == here, done.stderr


def test_every_number_of_threads_gives_the_same_bits(here):
    with limited(5):
        assert digests() == here


if __name__ == "__main__":
    print(digests())
