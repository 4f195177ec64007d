"""How things are timed: in turns, warm, best of several; and the cold first call apart.

The peer and we alternate, so that whatever else the machine does hits both. The first call of each pays for
imports, page faults and compilation; it is kept as `cold` and does not count among the warm ones.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Timing:
    """Seconds of one side: the first call; the best and median of the rest; the least of all threads together."""

    cold: float
    best: float
    median: float
    cpu: float


def seconds(call: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds by the clock, seconds of all threads, and what the call returns; no garbage is collected in it."""
    gc.collect()
    gc.disable()
    try:
        start, spent = time.perf_counter(), time.process_time()
        result = call()
        return time.perf_counter() - start, time.process_time() - spent, result
    finally:
        gc.enable()


def alternate(
    peer: Callable[[], Any], ours: Callable[[], Any], repeat: int, budget: float = 25.0
) -> tuple[Timing, Timing, Any, Any]:
    """Time both in turns, `repeat` rounds after the first, fewer (but two) once `budget` seconds are spent.

    Returns the timings of the peer and of us, and what the first call of each returned.
    """
    started = time.perf_counter()
    cold_peer, _, theirs = seconds(peer)
    cold_ours, _, our_result = seconds(ours)
    peers: list[tuple[float, float]] = []
    own: list[tuple[float, float]] = []
    while len(own) < repeat and (len(own) < 2 or time.perf_counter() - started < budget):
        peers.append(seconds(peer)[:2])
        own.append(seconds(ours)[:2])
    return _timing(cold_peer, peers), _timing(cold_ours, own), theirs, our_result


def _timing(cold: float, warm: list[tuple[float, float]]) -> Timing:
    clock, cpu = zip(*warm)
    return Timing(cold, min(clock), median(clock), min(cpu))
