"""How things are timed: in turns, warm, best of several; and the cold first call apart.

The peer and we alternate, so that whatever else the machine does hits both. The first call of each pays for
imports, page faults and compilation; it is kept as `cold` and does not count among the warm ones.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Timing:
    """Seconds of one side: of the first call, of the best and of the middle one of those after it."""

    cold: float
    best: float
    median: float


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds a call takes, and what it returns; garbage is collected before, not during."""
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        result = call()
        return time.perf_counter() - start, result
    finally:
        gc.enable()


def alternate(
    peer: Callable[[], Any], ours: Callable[[], Any], repeat: int, budget: float = 40.0
) -> tuple[Timing, Timing, Any, Any]:
    """Time both in turns, `repeat` rounds after the first, fewer (but two) once `budget` seconds are spent.

    Returns the timings of the peer and of us, and what the first call of each returned.
    """
    started = time.perf_counter()
    cold_peer, theirs = seconds(peer)
    cold_ours, our_result = seconds(ours)
    warm: list[tuple[float, float]] = []
    while len(warm) < repeat and (len(warm) < 2 or time.perf_counter() - started < budget):
        warm.append((seconds(peer)[0], seconds(ours)[0]))
    peer_times, our_times = (sorted(times) for times in zip(*warm))
    return (
        Timing(cold_peer, peer_times[0], peer_times[len(warm) // 2]),
        Timing(cold_ours, our_times[0], our_times[len(warm) // 2]),
        theirs,
        our_result,
    )
