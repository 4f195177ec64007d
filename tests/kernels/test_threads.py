"""Threads: results in order, failures as in a plain loop, and no way to hang."""

import os
import threading

import pytest

from ingenuo.errors import InputError
from ingenuo.kernels.threads import limited, run, split, width


def test_results_come_in_the_order_of_the_tasks():
    with limited(3):
        assert run([lambda i=i: i * i for i in range(50)]) == [i * i for i in range(50)]


def test_tasks_run_at_once():
    # Each task waits for the other: one after the other, they would never meet.
    meeting = threading.Barrier(2)
    with limited(2):
        assert sorted(run([lambda: meeting.wait(10)] * 2)) == [0, 1]


def test_no_more_threads_than_allowed_take_part():
    with limited(2):
        assert len(set(run([threading.get_ident] * 40))) <= 2
    with limited(1):
        assert set(run([threading.get_ident] * 40)) == {threading.get_ident()}


def test_the_first_failure_is_raised():
    def fail(i):
        raise KeyError(i)

    with limited(3), pytest.raises(KeyError, match="1"):
        run([lambda: 0, *(lambda i=i: fail(i) for i in range(1, 20))])


def test_a_run_within_a_run_stays_in_its_thread():
    def inner():
        return set(run([threading.get_ident] * 5)) == {threading.get_ident()}

    with limited(3):
        assert all(run([inner] * 30))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_makes_its_own_pool():
    with limited(2):
        run([int] * 4)
        child = os.fork()
        if child == 0:
            meeting = threading.Barrier(2)
            try:
                run([lambda: meeting.wait(10)] * 2)
            except BaseException:
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0


def test_the_environment_sets_the_width(monkeypatch):
    monkeypatch.setenv("INGENUO_THREADS", "5")
    assert width() == 5
    for wrong in ("0", "two", "-1", "1.5"):
        monkeypatch.setenv("INGENUO_THREADS", wrong)
        with pytest.raises(InputError, match="INGENUO_THREADS"):
            width()
    monkeypatch.delenv("INGENUO_THREADS")
    assert width() >= 1


def test_a_limit_ends_with_its_block():
    before = width()
    with limited(7):
        with limited(2):
            assert width() == 2
        assert width() == 7
    assert width() == before
    with pytest.raises(InputError, match="at least 1"), limited(0):
        pass


@pytest.mark.parametrize(("n", "parts", "minimum"), [(10, 3, 1), (7, 20, 1), (100, 4, 30), (5, 2, 9), (1, 1, 1)])
def test_ranges_cover_all_and_are_even(n, parts, minimum):
    ranges = split(n, parts, minimum)
    assert [i for lo, hi in ranges for i in range(lo, hi)] == list(range(n))
    lengths = [hi - lo for lo, hi in ranges]
    assert len(ranges) <= parts
    assert max(lengths) - min(lengths) <= 1
    assert min(lengths) >= min(minimum, n)
