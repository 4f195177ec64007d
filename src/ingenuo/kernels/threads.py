"""Threads for the kernels, which release the GIL: a list of tasks in, their results out, in order.

No kernel starts threads of its own. The calling thread works too, so a run can never wait for a pool that is busy
elsewhere; a run inside a run stays in its own thread.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial
from itertools import pairwise
from typing import Any, TypeVar

from ingenuo.errors import InputError

T = TypeVar("T")

_limit: contextvars.ContextVar[int | None] = contextvars.ContextVar("ingenuo_threads", default=None)
_running = threading.local()
_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None


def width() -> int:
    """The number of threads to use: of the innermost `limited`, else INGENUO_THREADS, else as many as processors."""
    limit = _limit.get()
    if limit is not None:
        return limit
    wanted = os.environ.get("INGENUO_THREADS", "").strip()
    if wanted:
        # isdecimal admits other scripts' digits, which int() reads as well.
        if not wanted.isdecimal() or int(wanted) < 1:
            raise InputError(f"INGENUO_THREADS is {wanted!r}; set it to a whole number of at least 1, or unset it")
        return int(wanted)
    if hasattr(os, "process_cpu_count"):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def limited(threads: int) -> Iterator[None]:
    """Use this many threads within the block."""
    if threads < 1:
        raise InputError(f"the number of threads is {threads}; it must be at least 1")
    token = _limit.set(threads)
    try:
        yield
    finally:
        _limit.reset(token)


def single_blas() -> AbstractContextManager[Any]:
    """Let BLAS work in the thread that calls it within the block: ours are enough, and its own wait for one another."""
    return _libraries().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@cache
def _libraries() -> Any:
    """The libraries of this process that have threads of their own, which takes long to find out."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


def split(n: int, parts: int, minimum: int = 1) -> list[tuple[int, int]]:
    """Cut 0..n into at most `parts` even ranges of at least `minimum` each (one range when n is less)."""
    parts = max(1, min(parts, n // max(minimum, 1)))
    return list(pairwise(n * part // parts for part in range(parts + 1))) if n > 0 else []


def over(n: int, work: Callable[[int, int], T], minimum: int = 1, parts: int | None = None) -> list[T]:
    """What work(lo, hi) gives for ranges of 0..n, one for each thread, none shorter than the minimum."""
    if 0 < n < 2 * minimum:  # one row, say, for which to ask for the threads would cost as much as the work
        return [work(0, n)]
    return run([partial(work, lo, hi) for lo, hi in split(n, width() if parts is None else parts, minimum)])


def run(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """The results of the tasks, in their order, on `width()` threads.

    When tasks fail, the exception of the first of them is raised, and tasks that have not begun are dropped.
    """
    helpers = min(width(), len(tasks)) - 1
    if helpers < 1 or getattr(_running, "inside", False):
        return [task() for task in tasks]
    waiting = deque(enumerate(tasks))
    results: dict[int, T] = {}
    failures: dict[int, BaseException] = {}

    def work() -> None:
        _running.inside = True
        try:
            while not failures:
                try:
                    position, task = waiting.popleft()
                except IndexError:
                    return
                try:
                    results[position] = task()
                except BaseException as failure:
                    failures[position] = failure
        finally:
            _running.inside = False

    # Each helper works in a copy of the caller's context, so that np.errstate and limited hold in it.
    started = [_shared_pool().submit(contextvars.copy_context().run, work) for _ in range(helpers)]
    work()
    for helper in started:  # those that have not begun have nothing left to do
        if not helper.cancel():
            helper.result()
    if failures:
        raise failures[min(failures)]
    return [results[position] for position in range(len(tasks))]


def _shared_pool() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            # Threads are made on demand, so this is a bound and not a number of threads.
            _pool = ThreadPoolExecutor(max(64, width()), thread_name_prefix="ingenuo")
        return _pool


def _forget_pool() -> None:
    """A forked child has the parent's pool object and none of its threads, and perhaps a held lock."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
