"""What a server counts, written as Prometheus reads it.

Counters of several processes, and of versions that no longer answer, add up.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ingenuo.evaluation.watch import write_labels

KIND = b"text/plain; version=0.0.4; charset=utf-8"
EDGES = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_PREFIX = "ingenuo_"
_HELP = {
    "requests_total": ("counter", "Requests that were answered, by route and status."),
    "request_seconds": ("histogram", "How long requests took, from the first byte that was read to the answer."),
    "rows_total": ("counter", "Rows that were answered, learned or forgotten, by model."),
    "in_flight": ("gauge", "Requests that are being answered."),
    "model_info": ("gauge", "The version of each model, and its kind."),
    "model_rows": ("gauge", "Rows that each model has learned."),
    "calibration_behind_rows": ("gauge", "Rows that the calibration of each model has not seen."),
    "journal_seq": ("gauge", "The last change in the journal of each model."),
    "journal_bytes": ("gauge", "Bytes of the journal of each model."),
    "reload_failures_total": ("counter", "Files that changed and could not be loaded; the version before went on."),
}


class Metrics:
    """The counters of a process."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str]] = Counter()  # by route and status
        self.rows: Counter[tuple[str, str]] = Counter()  # by what was done and model
        self.seconds: dict[str, list[float]] = {}  # of each route: requests by bucket, and the sum

    def add_request(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests[route, str(status)] += 1
        own = self.seconds.get(route)
        if own is None:
            own = self.seconds[route] = [0.0] * (len(EDGES) + 2)
        own[bisect_left(EDGES, seconds)] += 1
        own[-1] += seconds

    def state(self) -> dict[str, Any]:
        """The counters as JSON has them."""
        return {
            "requests": [[*key, n] for key, n in list(self.requests.items())],  # which another thread may add to
            "rows": [[*key, n] for key, n in list(self.rows.items())],
            "seconds": self.seconds,
        }

    def add(self, state: Mapping[str, Any]) -> None:
        """Add the counters of another process."""
        for counter, name in ((self.requests, "requests"), (self.rows, "rows")):
            for one, other, n in state[name]:
                counter[one, other] += n
        for route, values in state["seconds"].items():
            own = self.seconds.get(route, [0.0] * len(values))
            self.seconds[route] = [a + b for a, b in zip(own, values)]

    def lines(self) -> Iterable[str]:
        """The counters as lines."""
        yield from family("requests_total", ((n, {"route": r, "code": c}) for (r, c), n in self.requests.items()))
        yield from family("rows_total", ((n, {"op": op, "model": model}) for (op, model), n in self.rows.items()))
        yield from _head("request_seconds")
        for route, values in self.seconds.items():
            total = 0.0
            for edge, n in zip((*EDGES, "+Inf"), values):
                total += n
                yield _line("request_seconds_bucket", total, {"route": route, "le": str(edge)})
            yield _line("request_seconds_sum", values[-1], {"route": route})
            yield _line("request_seconds_count", total, {"route": route})


def family(name: str, values: Iterable[tuple[float, Mapping[str, str]]]) -> Iterable[str]:
    """A metric with its values; nothing where there are none."""
    every = [(value, labels) for value, labels in values if value is not None]
    if every:
        yield from _head(name)
        yield from (_line(name, value, labels) for value, labels in every)


def _head(name: str) -> Iterable[str]:
    kind, text = _HELP[name]
    yield f"# HELP {_PREFIX}{name} {text}"
    yield f"# TYPE {_PREFIX}{name} {kind}"


def _line(name: str, value: float, labels: Mapping[str, str]) -> str:
    number = int(value) if float(value).is_integer() else value
    return f"{_PREFIX}{name}{write_labels(labels)} {number}"
